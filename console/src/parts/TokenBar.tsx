import { buckets, count } from '../format.ts'
import type { Tokens } from '../format.ts'
import classes from './TokenBar.module.css'

export type { Tokens }

/** The buckets of tokens as parts of a bar. The figures stand beside it in words. */
export function TokenBar({ tokens }: { readonly tokens: Tokens }) {
  const total = buckets.reduce((sum, { name }) => sum + tokens[name], 0)
  return (
    <div className={classes.bar} aria-hidden="true">
      {buckets
        .filter(({ name }) => tokens[name] > 0)
        .map(({ name, label, series }) => (
          <div
            key={name}
            title={`${label} ${count(tokens[name])}`}
            style={{ width: `${(tokens[name] / total) * 100}%`, background: `var(--series-${series})` }}
          />
        ))}
    </div>
  )
}
