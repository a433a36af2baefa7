import { shared } from '../words.ts'
import classes from './Difference.module.css'

interface DifferenceProps {
  /** What each field was, and what it is; `null`, or nothing: it is not set. */
  readonly changes: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>
}

/** Fields before and after, one below the other. Values are text, whatever is in them. */
export function Difference({ changes }: DifferenceProps) {
  return (
    <dl className={classes.changes}>
      {Object.entries(changes).map(([field, { from, to }]) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>
            <del>{printed(from)}</del>
            <span className={classes.arrow} aria-hidden="true">
              {shared.becomes}
            </span>
            <ins>{printed(to)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function printed(value: unknown): string {
  if (value === null || value === undefined) return shared.notSet
  if (value === '') return shared.emptyText
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
