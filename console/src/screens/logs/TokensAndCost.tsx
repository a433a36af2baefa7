import { buckets, count, exactMoney, share } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { TokenBar } from '../../parts/TokenBar.tsx'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import classes from './request.module.css'

/** Tokens by what they are billed as, what they cost together, and whose budgets paid. */
export function TokensAndCost({ request: { usage, cost, charged } }: { readonly request: Detail }) {
  return (
    <Card title={words.tokensAndCost} note={exactMoney(cost)}>
      {usage ? (
        <>
          <TokenBar tokens={usage} />
          <table className={classes.table}>
            <caption className="visually-hidden">{words.tokensAndCost}</caption>
            <thead>
              <tr>
                <th scope="col">{words.bucket}</th>
                <th scope="col" data-number>
                  {words.tokens}
                </th>
                <th scope="col" data-number>
                  {words.share}
                </th>
              </tr>
            </thead>
            <tbody>
              {buckets.map(({ name, label, series }) => (
                <tr key={name}>
                  <td>
                    <span className={classes.bucket} style={{ background: `var(--series-${series})` }} />
                    {label}
                  </td>
                  <td data-number>{usage[name].toLocaleString('en')}</td>
                  <td data-number className={classes.faint}>
                    {usage.total > 0 ? share(usage[name] / usage.total) : words.none}
                  </td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">{words.total}</th>
                <td data-number>{count(usage.total)}</td>
                <td />
              </tr>
            </tfoot>
          </table>
        </>
      ) : (
        <p className={classes.faint}>{words.noUsage}</p>
      )}
      {charged.length > 0 && (
        <dl className={classes.pairs}>
          {charged.map(({ bucket, usd }) => (
            <div key={bucket}>
              <dt>{words.charged[bucket]}</dt>
              <dd>{exactMoney(usd)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}
