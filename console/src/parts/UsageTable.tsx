import { count, duration, money, share } from '../format.ts'
import { shared } from '../words.ts'
import { Empty } from './Empty.tsx'
import { Table } from './Table.tsx'
import type { Column } from './Table.tsx'
import { TokenBar } from './TokenBar.tsx'
import type { Row } from '../api/answers.ts'

/** What is shown of a row of a usage route, grouped by model. */
export type UsageRow = Pick<Row<'get-usage'>, 'group' | 'requests' | 'failed' | 'cost' | 'usage' | 'duration_ms'>

const names = shared.usageColumns

const columns: readonly Column<UsageRow>[] = [
  {
    name: 'model',
    label: names.model,
    cell: ({ group }) => group.model ?? shared.noModel,
    text: ({ group }) => group.model ?? null,
  },
  {
    name: 'requests',
    label: names.requests,
    number: true,
    cell: ({ requests }) => count(requests),
    text: ({ requests }) => requests,
  },
  {
    name: 'failed',
    label: names.failed,
    number: true,
    cell: ({ failed, requests }) => share(failed / requests),
    text: ({ failed }) => failed,
  },
  {
    name: 'duration',
    label: names.duration,
    number: true,
    cell: ({ duration_ms: { p95 } }) => duration(p95),
    text: ({ duration_ms: { p95 } }) => p95,
  },
  {
    name: 'tokens',
    label: names.tokens,
    number: true,
    cell: ({ usage }) => count(usage.total),
    text: ({ usage }) => usage.total,
  },
  { name: 'buckets', label: names.buckets, cell: ({ usage }) => <TokenBar tokens={usage} />, text: () => '' },
  {
    name: 'cost',
    label: names.cost,
    number: true,
    cell: ({ cost }) => money(cost),
    text: ({ cost }) => cost,
  },
]

interface UsageTableProps {
  readonly caption: string
  readonly rows: readonly UsageRow[]
  /** What is said where there is nothing. */
  readonly none: string
}

/** What was used of each model, the dearest first. */
export function UsageTable({ caption, rows, none }: UsageTableProps) {
  if (rows.length === 0) return <Empty text={none} />
  const dearest = rows.toSorted((one, other) => (other.cost ?? 0) - (one.cost ?? 0))
  return <Table caption={caption} columns={columns} rows={dearest} idOf={({ group }) => group.model ?? ''} />
}
