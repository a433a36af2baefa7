import '@mantine/core/styles/Popover.layer.css'
import { Popover } from '@mantine/core'
import { useState } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import type { ColumnChoice, Columns } from './useColumns.ts'
import classes from './ColumnsMenu.module.css'

/** Which columns a table shows, and in which order. */
export function ColumnsMenu<Row>({ choices, choose }: Columns<Row>) {
  const [isOpen, open] = useState(false)
  const toggle = (choice: ColumnChoice<Row>) =>
    choose(choices.map((one) => (one === choice ? { ...one, isShown: !one.isShown } : one)))
  const move = (from: number, to: number) => {
    const choice = choices[from]
    if (choice && to >= 0 && to < choices.length) choose(choices.toSpliced(from, 1).toSpliced(to, 0, choice))
  }
  return (
    <Popover
      opened={isOpen}
      onChange={open}
      position="bottom-end"
      trapFocus
      returnFocus
      offset={6}
      classNames={{ dropdown: classes.dropdown ?? '' }}
    >
      <Popover.Target>
        <Button icon="columns" onClick={() => open(!isOpen)}>
          {shared.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={shared.columns}>
        <ul>
          {choices.map((choice, index) => {
            const { name, label } = choice.column
            return (
              <li key={name} className={classes.choice}>
                <label>
                  <input type="checkbox" checked={choice.isShown} onChange={() => toggle(choice)} />
                  {label}
                </label>
                <Step
                  icon="arrow-up"
                  label={shared.moveUp(label)}
                  off={index === 0}
                  onMove={() => move(index, index - 1)}
                />
                <Step
                  icon="arrow-down"
                  label={shared.moveDown(label)}
                  off={index === choices.length - 1}
                  onMove={() => move(index, index + 1)}
                />
              </li>
            )
          })}
        </ul>
        <Button look="quiet" small onClick={() => choose(null)}>
          {shared.resetColumns}
        </Button>
      </Popover.Dropdown>
    </Popover>
  )
}

interface StepProps {
  readonly icon: 'arrow-up' | 'arrow-down'
  readonly label: string
  /** There is nowhere to go; it keeps the focus, so that a key pressed again does no harm. */
  readonly off: boolean
  readonly onMove: () => void
}

function Step({ icon, label, off, onMove }: StepProps) {
  return <Button look="quiet" small icon={icon} aria-label={label} title={label} aria-disabled={off} onClick={onMove} />
}
