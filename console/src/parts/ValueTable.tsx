import { minute } from '../format.ts'
import { shared } from '../words.ts'
import type { Mark, Series } from './series.ts'
import { useZone } from './zone.ts'
import classes from './Chart.module.css'

interface ValueTableProps {
  readonly title: string
  readonly times: readonly string[]
  readonly series: readonly Series[]
  readonly marks: readonly Mark[]
  readonly print: (value: number | null) => string
}

/** The values of a chart, latest first, and what happened in each interval. */
export function ValueTable({ title, times, series, marks, print }: ValueTableProps) {
  const zone = useZone()
  const happenedAt = (index: number) => {
    const [from, until] = [times[index], times[index + 1]].map((time) => Date.parse(time ?? ''))
    return marks
      .filter(({ at }) => Date.parse(at) >= (from ?? 0) && !(Date.parse(at) >= (until ?? 0)))
      .map(({ words }) => words)
      .join(', ')
  }
  return (
    <div className={classes.values} tabIndex={0} role="group" aria-label={title}>
      <table>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{shared.time}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {marks.length > 0 && <th scope="col">{shared.happened}</th>}
          </tr>
        </thead>
        <tbody>
          {times
            .map((time, index) => (
              <tr key={time}>
                <th scope="row">{minute(time, zone)}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{print(values[index] ?? null)}</td>
                ))}
                {marks.length > 0 && <td>{happenedAt(index)}</td>}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </div>
  )
}
