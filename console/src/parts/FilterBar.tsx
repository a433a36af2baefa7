import '@mantine/core/styles/Popover.layer.css'
import { Popover } from '@mantine/core'
import { useId, useRef, useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { allOf, useAddress } from './search.ts'
import type { SearchChanges } from './search.ts'
import classes from './FilterBar.module.css'

export interface FilterValue {
  readonly value: string
  readonly label: string
}

export interface FilterField {
  /** The query parameter of the route, and of the address. */
  readonly name: string
  readonly label: string
  /** What it may be. */
  readonly values?: readonly FilterValue[]
  /** Whether other values may be typed. */
  readonly typed?: boolean
  /** For a typed value, an example. */
  readonly example?: string
  /** Whether the route takes one value alone: another one takes its place. */
  readonly single?: boolean
  /** Whether the route can leave its values out, too. */
  readonly leavable?: boolean
  /** Whether it leaves its values out. */
  readonly leaves?: boolean
}

/** The query parameter that leaves the values of another one out. */
export const leaving = (name: string): string => `not_${name}`

/** The fields of a list, and those that leave out what others ask for. */
export const withLeaving = (fields: readonly FilterField[]): readonly FilterField[] =>
  fields.flatMap((field) => (field.leavable ? [field, { ...field, name: leaving(field.name), leaves: true }] : field))

/** The values of a filter, by their labels. */
export const valuesOf = (labels: Readonly<Record<string, string>>): readonly FilterValue[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

interface FilterBarProps {
  readonly fields: readonly FilterField[]
  /** At the right. */
  readonly children?: ReactNode
}

/** The filters of a list, which stand in the address: a chip for each value, and a way to add one. */
export function FilterBar({ fields, children }: FilterBarProps) {
  const [search, change] = useAddress()
  const bar = useRef<HTMLDivElement>(null)
  const all = withLeaving(fields)
  const chips = all.flatMap((field) => allOf(search, field.name).map((value) => ({ field, value })))
  const takeOff = (changes: SearchChanges) => {
    change(changes, { push: true })
    // What was pressed goes.
    bar.current?.querySelector('button')?.focus()
  }
  const remove = (name: string, value: string) =>
    takeOff({ [name]: allOf(search, name).filter((one) => one !== value) })
  const isFiltered = chips.length > 0 || 'search' in search
  const clear = () =>
    takeOff(Object.fromEntries(['search', ...all.map(({ name }) => name)].map((name) => [name, undefined])))
  return (
    <div className={classes.bar} ref={bar}>
      {fields.length > 0 && (
        <AddFilter
          fields={fields}
          onAdd={(name, value) => {
            const isSingle = all.find((field) => field.name === name)?.single ?? false
            change({ [name]: isSingle ? [value] : added(allOf(search, name), value) }, { push: true })
          }}
        />
      )}
      {chips.map(({ field, value }) => {
        const label = field.values?.find((one) => one.value === value)?.label ?? value
        const words = (field.leaves ? shared.filterIsNot : shared.filterIs)(field.label, label)
        return (
          <button
            key={`${field.name} ${value}`}
            type="button"
            className={classes.chip}
            aria-label={shared.removeFilter(words)}
            onClick={() => remove(field.name, value)}
          >
            <span className={classes.words}>{words}</span>
            <span aria-hidden="true">{shared.times}</span>
          </button>
        )
      })}
      {isFiltered && (
        <Button look="quiet" onClick={clear}>
          {shared.clearAll}
        </Button>
      )}
      <div className={classes.tools}>{children}</div>
    </div>
  )
}

/** The values of a filter with a further one. */
export const added = (values: readonly string[], value: string) => [...new Set([...values, value])]

interface AddFilterProps {
  readonly fields: readonly FilterField[]
  readonly onAdd: (name: string, value: string) => void
}

function AddFilter({ fields, onAdd }: AddFilterProps) {
  const [isOpen, open] = useState(false)
  const [name, setName] = useState(fields[0]?.name ?? '')
  const [leaves, setLeaves] = useState(false)
  const [value, setValue] = useState('')
  const list = useId()
  const field = fields.find((one) => one.name === name)
  const isChoice = field?.values !== undefined && !field.typed
  const chosen = isChoice ? value || (field.values[0]?.value ?? '') : value.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen === '') return
    onAdd(leaves && field?.leavable ? leaving(name) : name, chosen)
    setValue('')
    setLeaves(false)
    open(false)
  }
  return (
    <Popover
      opened={isOpen}
      onChange={open}
      position="bottom-start"
      trapFocus
      returnFocus
      offset={6}
      classNames={{ dropdown: classes.dropdown ?? '' }}
    >
      <Popover.Target>
        <Button icon="filter" data-key-f="" onClick={() => open(!isOpen)}>
          {shared.addFilter}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={shared.addFilter}>
        <form className={classes.form} onSubmit={submit}>
          <label>
            {shared.filterField}
            <select
              value={name}
              onChange={(event) => {
                setName(event.target.value)
                setValue('')
              }}
            >
              {fields.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.label}
                </option>
              ))}
            </select>
          </label>
          {field?.leavable && (
            <label>
              {shared.filterCondition}
              <select value={String(leaves)} onChange={(event) => setLeaves(event.target.value === 'true')}>
                <option value="false">{shared.is}</option>
                <option value="true">{shared.isNot}</option>
              </select>
            </label>
          )}
          <label>
            {shared.filterValue}
            {isChoice ? (
              <select value={chosen} onChange={(event) => setValue(event.target.value)}>
                {field.values.map((one) => (
                  <option key={one.value} value={one.value}>
                    {one.label}
                  </option>
                ))}
              </select>
            ) : (
              <input
                list={list}
                value={value}
                placeholder={field?.example}
                onChange={(event) => setValue(event.target.value)}
              />
            )}
          </label>
          {!isChoice && (
            <datalist id={list}>
              {field?.values?.map((one) => (
                <option key={one.value} value={one.value}>
                  {one.label}
                </option>
              ))}
            </datalist>
          )}
          <Button look="primary" type="submit">
            {shared.apply}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
