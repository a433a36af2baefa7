import { useQuery } from '@tanstack/react-query'
import { count, duration } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { days, figures, verdicts } from './api.ts'
import type { Figures } from './api.ts'
import { VerdictDays } from './VerdictDays.tsx'
import { words } from './words.ts'
import classes from './guards.module.css'

/** What a guard did: per day as a picture, and in figures, live beside shadow. */
export function Verdicts({ name }: { readonly name: string }) {
  const known = useQuery(figures)
  return (
    <div className={classes.stack}>
      <Loaded query={useQuery(verdicts(name))} height={220}>
        {(rows) => {
          const modes = [
            { mode: 'live', rows: rows.filter(({ shadow }) => !shadow) },
            { mode: 'shadow', rows: rows.filter(({ shadow }) => shadow) },
          ] as const
          if (rows.length === 0) return <Empty text={words.noVerdicts} />
          return modes.map((one) => one.rows.length > 0 && <VerdictDays key={one.mode} {...one} />)
        }}
      </Loaded>
      <Card title={words.figures} note={words.daysNote(days)}>
        <Loaded query={known} height={120}>
          {(all) => (
            <Table
              caption={words.figures}
              columns={columns}
              rows={all.filter(({ guard }) => guard === name)}
              idOf={({ side, shadow }) => `${side} ${shadow}`}
            />
          )}
        </Loaded>
      </Card>
    </div>
  )
}

const number = (name: 'verdicts' | 'hits' | 'errors'): Column<Figures> => ({
  name,
  label: words.figuresOf[name],
  number: true,
  cell: (row) => count(row[name]),
  text: (row) => row[name],
})
const time = (name: 'p50' | 'p95' | 'longest'): Column<Figures> => ({
  name,
  label: words.figuresOf[name],
  number: true,
  cell: (row) => duration(row[name]),
  text: (row) => row[name],
})
const modeOf = ({ shadow }: Figures) => (shadow ? words.modes.shadow : words.modes.live)

const columns: readonly Column<Figures>[] = [
  {
    name: 'side',
    label: words.figuresOf.side,
    cell: ({ side }) => words.sides[side],
    text: ({ side }) => words.sides[side],
  },
  { name: 'mode', label: words.figuresOf.mode, cell: modeOf, text: modeOf },
  number('verdicts'),
  number('hits'),
  number('errors'),
  time('p50'),
  time('p95'),
  time('longest'),
]
