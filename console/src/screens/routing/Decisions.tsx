import { useQuery } from '@tanstack/react-query'
import { count, money } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Money } from '../../parts/Money.tsx'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import { decisions } from './api.ts'
import type { DecisionRow } from './api.ts'
import { Distribution } from './Distribution.tsx'
import { Models } from './Models.tsx'
import { OneDecision } from './OneDecision.tsx'
import { Preview } from './Preview.tsx'
import { words } from './words.ts'
import classes from './routing.module.css'

/** The latest routed requests: how hard they were, where they went, and the decision of one of them. */
export function Decisions() {
  const [search] = useAddress()
  const range = useRange()
  const { interval } = useLive()
  const query = useQuery({ ...decisions(range), refetchInterval: interval })
  const shown = oneOf(search, 'decision')
  return (
    <div className={classes.split}>
      <div className={classes.column}>
        <Loaded query={query} height={420}>
          {(rows) =>
            rows.length === 0 ? (
              <Card>
                <Empty text={words.noDecisions}>
                  {range.length < 604_800_000 && <Button onClick={() => range.choose('7d')}>{words.widen}</Button>}
                </Empty>
              </Card>
            ) : (
              <>
                <Distribution rows={rows} />
                <Models rows={rows} />
                <Rows rows={rows} />
              </>
            )
          }
        </Loaded>
      </div>
      <div className={classes.column} data-chosen={shown}>
        {shown === undefined ? <Preview /> : <OneDecision id={shown} />}
      </div>
    </div>
  )
}

function Rows({ rows }: { readonly rows: readonly DecisionRow[] }) {
  const [search] = useAddress()
  const columns = useColumns('sluice-columns-decisions', all)
  return (
    <Card
      title={words.tab.decisions}
      note={words.latest(count(rows.length))}
      actions={<TableTools columns={columns} rows={rows} file="decisions.csv" />}
    >
      <Table
        caption={words.tab.decisions}
        columns={columns.shown}
        rows={rows}
        idOf={({ request_id: id }) => id}
        to={({ request_id: id }) => ({ to: '/routing', search: { ...search, decision: id } })}
      />
    </Card>
  )
}

function Chosen({ row: { chosen, served, error } }: { readonly row: DecisionRow }) {
  if (chosen === null) return <Tag look="bad">{words.refused(error ?? '')}</Tag>
  if (served === null || served === chosen) return chosen
  return <Tag look="warning">{words.servedInstead(served, chosen)}</Tag>
}

const all: readonly Column<DecisionRow>[] = [
  { name: 'at', label: words.when, cell: ({ at }) => <Moment at={at} exact />, text: ({ at }) => at },
  { name: 'mode', label: words.mode, cell: ({ mode }) => mode, text: ({ mode }) => mode },
  { name: 'tier', label: words.tier, cell: ({ tier }) => <Tag>{tier}</Tag>, text: ({ tier }) => tier },
  {
    name: 'complexity',
    label: words.complexity,
    cell: ({ complexity }) => complexity?.toFixed(2),
    text: ({ complexity }) => complexity,
    number: true,
  },
  {
    name: 'benefit',
    label: words.benefit,
    cell: ({ benefit }) => benefit?.toFixed(2),
    text: ({ benefit }) => benefit,
    number: true,
  },
  {
    name: 'confidence',
    label: words.confidence,
    cell: ({ confidence }) => confidence?.toFixed(2),
    text: ({ confidence }) => confidence,
    number: true,
  },
  {
    name: 'chosen',
    label: words.chosen,
    cell: (row) => <Chosen row={row} />,
    text: ({ served, chosen, error }) => served ?? chosen ?? error,
  },
  {
    name: 'expected',
    label: words.expected,
    cell: ({ cost_estimate: cost }) => <Money usd={cost} />,
    text: ({ cost_estimate: cost }) => cost,
    number: true,
    spare: true,
  },
  {
    name: 'cost',
    label: words.cost,
    cell: ({ cost }) => <Money usd={cost} />,
    text: ({ cost }) => cost,
    number: true,
    spare: true,
  },
  {
    name: 'savings',
    label: words.savings,
    cell: ({ savings }) => <span title={money(savings)}>{savings === null ? '—' : <Money usd={savings} />}</span>,
    text: ({ savings }) => savings,
    number: true,
  },
]
