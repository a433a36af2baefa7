import { useRef } from 'react'
import type { KeyboardEvent } from 'react'
import classes from './Segments.module.css'

interface SegmentsProps<T extends string> {
  /** Names the group. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly label: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A choice of a few, of which one is taken. Arrow keys choose (WAI-ARIA radio group). */
export function Segments<T extends string>({ label, options, value, onChange }: SegmentsProps<T>) {
  const group = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = options.findIndex((option) => option.value === value)
    const next = (at + step + options.length) % options.length
    const option = options[next]
    if (!option) return
    onChange(option.value)
    group.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <div className={classes.segments} role="radiogroup" aria-label={label} ref={group} onKeyDown={move}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
