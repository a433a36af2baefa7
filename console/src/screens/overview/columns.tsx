import { count, duration, money, share } from '../../format.ts'
import type { Column } from '../../parts/Table.tsx'
import { TokenBar } from '../../parts/TokenBar.tsx'
import { knownCost } from './api.ts'
import type { Grouping, UsageRow } from './api.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

/** What a row is called, and the value by which the log is filtered for it. */
export function namedBy(
  { model, provider, key, member }: UsageRow['group'],
  by: Grouping,
): { readonly name: string; readonly value: string } | undefined {
  if (by === 'key') return key ? { name: key.name, value: key.id } : undefined
  if (by === 'member') return member ? { name: member.username ?? member.id, value: member.id } : undefined
  const name = by === 'model' ? model : provider
  return name ? { name, value: name } : undefined
}

/** From this share of failed requests on, a row stands out. */
const manyFailed = 0.01

const failedOf = ({ failed, requests }: UsageRow) => (requests === 0 ? null : failed / requests)

const names = words.columns

const providerColumn: Column<UsageRow> = {
  name: 'provider',
  label: names.provider,
  cell: ({ group }) => <span className={classes.faint}>{group.provider ?? words.nobody}</span>,
  text: ({ group }) => group.provider ?? null,
}

const usageColumns: readonly Column<UsageRow>[] = [
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
    cell: (row) => (
      <span className={classes.failed} data-many={(failedOf(row) ?? 0) >= manyFailed || undefined}>
        {share(failedOf(row))}
      </span>
    ),
    text: ({ failed, requests }) => words.failedOf(count(failed), count(requests)),
  },
  {
    name: 'first-byte',
    label: names.firstByte,
    number: true,
    cell: ({ first_byte_ms: { p95 } }) => duration(p95),
    text: ({ first_byte_ms: { p95 } }) => p95,
  },
  {
    name: 'tokens',
    label: names.tokens,
    number: true,
    cell: ({ usage }) => count(usage.total),
    text: ({ usage }) => usage.total,
  },
  {
    name: 'buckets',
    label: names.buckets,
    cell: ({ usage }) => (
      <div className={classes.buckets}>
        <TokenBar tokens={usage} />
      </div>
    ),
    text: () => '',
  },
  {
    name: 'cost',
    label: names.cost,
    number: true,
    cell: (row) => money(knownCost(row)),
    text: ({ cost }) => cost,
  },
]

/** The columns of a grouping; `all` is the cost of all rows, in USD. */
export function columnsOf(grouping: Grouping, all: number): readonly Column<UsageRow>[] {
  const partOf = ({ cost }: UsageRow) => (all > 0 ? (cost ?? 0) / all : 0)
  return [
    {
      name: grouping,
      label: words.groups[grouping],
      cell: ({ group }) => <span className={classes.name}>{namedBy(group, grouping)?.name ?? words.nobody}</span>,
      text: ({ group }) => namedBy(group, grouping)?.name ?? null,
    },
    ...(grouping === 'model' ? [providerColumn] : []),
    ...usageColumns,
    {
      name: 'share',
      label: names.share,
      cell: (row) => (
        <div className={classes.share}>
          <div style={{ width: `${partOf(row) * 100}%` }} />
          <span className="visually-hidden">{share(partOf(row))}</span>
        </div>
      ),
      text: (row) => share(partOf(row)),
    },
  ]
}
