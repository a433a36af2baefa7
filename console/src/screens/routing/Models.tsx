import { count, share } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Money } from '../../parts/Money.tsx'
import type { DecisionRow } from './api.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

interface ModelSum {
  readonly model: string
  readonly requests: number
  readonly cost: Total
  readonly savings: Total
}

interface Total {
  /** USD; null: unknown of every request. */
  readonly usd: number | null
  /** Requests of which it is unknown. */
  readonly unknown: number
}

/** Which model served how many of the requests, and what that saved. */
export function Models({ rows }: { readonly rows: readonly DecisionRow[] }) {
  const served = rows.filter((row) => row.served !== null)
  return (
    <Card title={words.models} note={words.latest(count(rows.length))}>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={words.models}>
        <table className={classes.table}>
          <caption className="visually-hidden">{words.models}</caption>
          <thead>
            <tr>
              <th scope="col">{words.model}</th>
              <th scope="col" data-number>
                {words.requests}
              </th>
              <th scope="col" colSpan={2}>
                {words.share}
              </th>
              <th scope="col" data-number>
                {words.cost}
              </th>
              <th scope="col" data-number>
                {words.savings}
              </th>
            </tr>
          </thead>
          <tbody>
            {sumsOf(served).map(({ model, requests, cost, savings }) => (
              <tr key={model}>
                <th scope="row">{model}</th>
                <td data-number>{count(requests)}</td>
                <td className={classes.share}>
                  <span className={classes.meter} aria-hidden="true">
                    <i style={{ width: `${(requests / served.length) * 100}%` }} />
                  </span>
                </td>
                <td data-number>{share(requests / served.length)}</td>
                <td data-number>
                  <Sum {...cost} />
                </td>
                <td data-number>
                  <Sum {...savings} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

function Sum({ usd, unknown }: Total) {
  return (
    <>
      <Money usd={usd} />
      {unknown > 0 && <span className={classes.faint}> {words.unpriced(count(unknown))}</span>}
    </>
  )
}

function sumsOf(rows: readonly DecisionRow[]): readonly ModelSum[] {
  const sums = Map.groupBy(rows, ({ served }) => served ?? '')
  return [...sums]
    .map(([model, own]) => ({
      model,
      requests: own.length,
      cost: totalOf(own.map(({ cost }) => cost)),
      savings: totalOf(own.map(({ savings }) => savings)),
    }))
    .toSorted((one, other) => other.requests - one.requests)
}

function totalOf(amounts: readonly (number | null)[]): Total {
  const known = amounts.filter((usd) => usd !== null)
  const usd = known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0)
  return { usd, unknown: amounts.length - known.length }
}
