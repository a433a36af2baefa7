import { shared } from '../words.ts'
import { Tag } from './Tag.tsx'
import classes from './Allowlist.module.css'

interface AllowlistProps {
  /** Null: everything is allowed; empty: nothing is. */
  readonly names: readonly string[] | null
  /** How many are shown; default: all. */
  readonly most?: number
  /** What null allows; default: everything. */
  readonly all?: string
}

/** What somebody may use, as chips. */
export function Allowlist({ names, most = Infinity, all = shared.allowsAll }: AllowlistProps) {
  if (names === null) return <span className={classes.all}>{all}</span>
  if (names.length === 0) return <Tag look="warning">{shared.allowsNothing}</Tag>
  const further = names.length - most
  return (
    <span className={classes.names} data-short={most < Infinity || undefined}>
      {names.slice(0, most).map((name) => (
        <Tag key={name} title={name}>
          {name}
        </Tag>
      ))}
      {further > 0 && <span className={classes.all}>{shared.further(String(further))}</span>}
    </span>
  )
}

/** The same as a text. */
export const allowlistText = (names: readonly string[] | null, all: string = shared.allowsAll): string =>
  names === null ? all : names.length === 0 ? shared.allowsNothing : names.join(', ')
