import { duration } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Status } from '../../parts/Status.tsx'
import type { Detail, Try } from './row.ts'
import { words } from './request-words.ts'
import { words as shared } from './words.ts'
import classes from './request.module.css'

/** Which providers were asked, in order, and what each answered. */
export function Tries({ tries }: { readonly tries: readonly Try[] }) {
  return (
    <Card title={words.triesTitle}>
      {tries.length === 0 ? (
        <p className={classes.faint}>{words.noTries}</p>
      ) : (
        <table className={classes.table}>
          <caption className="visually-hidden">{words.triesTitle}</caption>
          <thead>
            <tr>
              <th scope="col">{words.candidate}</th>
              <th scope="col">{words.outcome}</th>
              <th scope="col" data-number>
                {words.time}
              </th>
            </tr>
          </thead>
          <tbody>
            {tries.map(({ model, provider, status, error, duration_ms: took }, at) => (
              <tr key={at}>
                <td>
                  {model} <span className={classes.faint}>{provider}</span>
                </td>
                <td>
                  <Status state={error === null ? 'good' : 'bad'}>
                    {status === null ? error : words.statusOf(status, error ?? shared.results.completed)}
                  </Status>
                </td>
                <td data-number>{duration(took)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

/** What the client asked for and the provider was not told, since its protocol has no word for it. */
export function Lost({ request: { losses, protocol, upstream_protocol: upstream } }: { readonly request: Detail }) {
  if (losses.length === 0) return null
  return (
    <Card
      title={words.lost}
      note={protocol !== null && upstream !== null ? words.lostWay(protocol, upstream) : undefined}
    >
      <table className={classes.table}>
        <caption className="visually-hidden">{words.lost}</caption>
        <thead>
          <tr>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.because}</th>
          </tr>
        </thead>
        <tbody>
          {losses.map(({ field, because }, at) => (
            <tr key={at}>
              <td>
                <code>{field}</code>
              </td>
              <td className={classes.wrapped}>{because}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
