import { Link } from '@tanstack/react-router'
import type { Json } from '../../api/json.ts'
import { duration } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Status } from '../../parts/Status.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import classes from './request.module.css'

/** What a row tells of one guard on one side. Whoever keeps rows may have other versions of it. */
interface Told {
  readonly name?: Json
  readonly side?: Json
  readonly action?: Json
  readonly outcome?: Json
  readonly shadow?: Json
  readonly milliseconds?: Json
  readonly hits?: Json
  readonly category?: Json
  readonly error?: Json
}

const looks: Readonly<Record<string, 'good' | 'bad' | 'warning'>> = { passed: 'good', denied: 'bad', error: 'bad' }
const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** Which guards judged a request and its answer, and what followed. */
export function Guards({ metadata: { guards } }: Pick<Detail, 'metadata'>) {
  const isAdmin = useIsAdmin()
  const told = Array.isArray(guards) ? (guards as readonly Told[]) : []
  if (told.length === 0) return null
  return (
    <Card title={words.guards}>
      <table className={classes.table}>
        <caption className="visually-hidden">{words.guards}</caption>
        <thead>
          <tr>
            <th scope="col">{words.guard}</th>
            <th scope="col">{words.judged}</th>
            <th scope="col">{words.guardAction}</th>
            <th scope="col">{words.outcome}</th>
            <th scope="col" data-number>
              {words.hits}
            </th>
            <th scope="col" data-number>
              {words.time}
            </th>
          </tr>
        </thead>
        <tbody>
          {told.map(({ name: given, side, action, outcome, shadow, ...one }, at) => {
            const name = textOf(given)
            return (
              <tr key={at}>
                <td>
                  {isAdmin ? <Link to={`/guards/${encodeURIComponent(name)}`}>{name}</Link> : name}{' '}
                  {shadow === true && <Tag>{words.inShadow}</Tag>}
                </td>
                <td>{words.judgedOf[textOf(side)] ?? textOf(side)}</td>
                <td>{textOf(action)}</td>
                <td className={classes.wrapped}>
                  <Status state={looks[textOf(outcome)] ?? 'warning'}>{textOf(outcome)}</Status>{' '}
                  <span className={classes.faint}>{textOf(one.error ?? one.category)}</span>
                </td>
                <td data-number>{textOf(one.hits)}</td>
                <td data-number>{typeof one.milliseconds === 'number' ? duration(one.milliseconds) : ''}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Card>
  )
}
