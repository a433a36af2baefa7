import { Link } from '@tanstack/react-router'
import type { Search } from '../../parts/search.ts'
import { Sparkline } from '../../parts/Sparkline.tsx'
import classes from './Figure.module.css'

export interface FigureProps {
  readonly label: string
  /** As it is written, with its unit. */
  readonly value: string
  readonly exact?: string | undefined
  readonly note: string | undefined
  /** Against the span before. */
  readonly change: string | undefined
  /** The change is one for the worse. */
  readonly worse?: boolean
  /** How it went; null: a gap. */
  readonly values: readonly (number | null)[]
  /** A color of CSS. */
  readonly color: string
  /** The filter of the log that makes it. */
  readonly search: Search
}

/** A figure, what became of it since the span before, and how it went. It leads to the requests that make it. */
export function Figure({ label, value, exact, note, change, worse, values, color, search }: FigureProps) {
  return (
    <Link className={classes.figure} to="/logs" search={search}>
      <div className={classes.label}>
        {label}{' '}
        <span className={classes.change} data-worse={worse || undefined}>
          {change}
        </span>
      </div>
      <div className={classes.value} title={exact}>
        <Value text={value} />
      </div>
      <div className={classes.note} title={note}>
        {note}
      </div>
      <Sparkline values={values} color={color} />
    </Link>
  )
}

/** A value whose unit is smaller than its figure. */
function Value({ text }: { readonly text: string }) {
  const [, figure, unit] = /^([\d.,]+)( \S+)$/.exec(text) ?? []
  if (figure === undefined) return text
  return (
    <>
      {figure}
      <small>{unit}</small>
    </>
  )
}
