import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { shared } from '../../words.ts'
import { days } from './api.ts'
import type { Verdicts } from './api.ts'
import { words } from './words.ts'
import classes from './guards.module.css'

/** What can follow, as it stands from the ground up; rows of the log can be found by some. */
const outcomes = [
  { name: 'passed', color: '--series-1', filter: false },
  { name: 'flagged', color: '--series-2', filter: true },
  { name: 'masked', color: '--series-3', filter: true },
  { name: 'retried', color: '--series-5', filter: false },
  { name: 'fallback', color: '--series-6', filter: false },
  { name: 'denied', color: '--series-4', filter: true },
  { name: 'error', color: '--bad', filter: false },
] as const

type Outcome = (typeof outcomes)[number]['name']

interface Day {
  /** `2026-11-27`. */
  readonly day: string
  readonly sums: Readonly<Record<Outcome, number>>
  readonly all: number
}

interface VerdictDaysProps {
  readonly mode: 'live' | 'shadow'
  readonly rows: readonly Verdicts[]
}

const height = 120
const step = 12

/** How often what followed, for each of the last days, as a picture or as a table. */
export function VerdictDays({ mode, rows }: VerdictDaysProps) {
  const [asTable, setAsTable] = useState(false)
  const title = words.perDay[mode]
  const all = daysOf(rows)
  const used = outcomes.filter(({ name }) => all.some(({ sums }) => sums[name] > 0))
  return (
    <Card
      title={title}
      note={words.daysNote(days)}
      actions={
        <Button small aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {shared.table}
        </Button>
      }
    >
      <ul className={classes.legend}>
        {used.map(({ name, color, filter }) => (
          <li key={name}>
            <span className={classes.key} style={{ background: `var(${color})` }} />
            {/* What only shadow found changed nothing, so no row has it. */}
            {filter && mode === 'live' ? (
              <Link
                to="/logs"
                search={{ guarded: name, range: '30d' }}
                aria-label={words.requests(words.outcomes[name])}
              >
                {words.outcomes[name]}
              </Link>
            ) : (
              words.outcomes[name]
            )}
          </li>
        ))}
      </ul>
      {asTable ? (
        <Table
          caption={title}
          columns={[dayColumn, ...used.map(({ name }) => columnOf(name))]}
          rows={all.filter(({ all: sum }) => sum > 0).toReversed()}
          idOf={({ day }) => day}
        />
      ) : (
        <Picture title={title} all={all} />
      )}
    </Card>
  )
}

function Picture({ title, all }: { readonly title: string; readonly all: readonly Day[] }) {
  const most = all.reduce((one, other) => (other.all > one.all ? other : one))
  const sum = all.reduce((before, { all: verdicts }) => before + verdicts, 0)
  const top = Math.max(1, most.all)
  return (
    <div className={classes.days}>
      <svg
        role="img"
        aria-label={words.picture(title, count(sum), count(most.all), most.day)}
        viewBox={`0 0 ${days * step} ${height}`}
        preserveAspectRatio="none"
      >
        {all.map((day, at) => (
          <g key={day.day}>
            <title>{words.bar(day.day, partsOf(day))}</title>
            <rect className={classes.ground} x={at * step} width={step} height={height} />
            {bars(day, top).map(({ name, color, y, size }) => (
              <rect
                key={name}
                x={at * step + 1}
                width={step - 2}
                y={y}
                height={size}
                style={{ fill: `var(${color})` }}
              />
            ))}
          </g>
        ))}
      </svg>
      <div className={classes.axis} aria-hidden="true">
        <span>{all[0]?.day}</span>
        <span>{all.at(-1)?.day}</span>
      </div>
    </div>
  )
}

/** The parts of a day's bar, from the ground up. */
function bars({ sums }: Day, top: number) {
  let y = height
  return outcomes.flatMap(({ name, color }) => {
    const size = (sums[name] / top) * height
    y -= size
    return size > 0 ? [{ name, color, y, size }] : []
  })
}

const partsOf = ({ sums }: Day): readonly string[] =>
  outcomes.flatMap(({ name }) => (sums[name] > 0 ? [words.part(words.outcomes[name], count(sums[name]))] : []))

const dayColumn: Column<Day> = { name: 'day', label: words.day, cell: ({ day }) => day, text: ({ day }) => day }
const columnOf = (name: Outcome): Column<Day> => ({
  name,
  label: words.outcomes[name],
  number: true,
  cell: ({ sums }) => count(sums[name]),
  text: ({ sums }) => sums[name],
})

/** The last days in UTC, today last, also those without verdicts. */
function daysOf(rows: readonly Verdicts[]): readonly Day[] {
  const found = Map.groupBy(rows, ({ day }) => day)
  const today = Date.now()
  return Array.from({ length: days }, (_, at) => {
    const day = new Date(today - (days - 1 - at) * 86_400_000).toISOString().slice(0, 10)
    const own = found.get(day) ?? []
    const sumOf = (name: Outcome) =>
      own.reduce((sum, { outcome, verdicts }) => sum + (outcome === name ? verdicts : 0), 0)
    const sums = Object.fromEntries(outcomes.map(({ name }) => [name, sumOf(name)])) as Record<Outcome, number>
    return { day, sums, all: own.reduce((sum, { verdicts }) => sum + verdicts, 0) }
  })
}
