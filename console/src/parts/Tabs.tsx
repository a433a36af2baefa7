import { useId, useRef } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import classes from './Tabs.module.css'
import { useOneOf } from './useOneOf.ts'

interface TabsProps<T extends string> {
  /** Names the list of tabs. */
  readonly label: string
  readonly tabs: readonly { readonly value: T; readonly label: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** What the chosen tab shows. */
  readonly children: ReactNode
}

/** Views of one thing, of which one is shown. Arrow keys, Home and End choose (WAI-ARIA tabs). */
export function Tabs<T extends string>({ label, tabs, value, onChange, children }: TabsProps<T>) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value)
    const last = tabs.length - 1
    const next = {
      ArrowLeft: at === 0 ? last : at - 1,
      ArrowRight: at === last ? 0 : at + 1,
      Home: 0,
      End: last,
    }[event.key]
    const tab = next === undefined ? undefined : tabs[next]
    if (next === undefined || !tab) return
    event.preventDefault()
    onChange(tab.value)
    list.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <>
      <div className={classes.list} role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.value}
            id={`${id}-${tab.value}`}
            type="button"
            role="tab"
            aria-selected={tab.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onChange(tab.value)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </>
  )
}

/** The tab that the address has under `tab`, otherwise the first of `names`, and how to choose one. */
export const useTab = <T extends string>(names: readonly [T, ...T[]]) => useOneOf('tab', names, names[0])
