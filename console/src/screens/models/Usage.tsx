import { useQuery } from '@tanstack/react-query'
import { count, money } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { useRange } from '../../parts/useRange.ts'
import { modelUsage } from './api.ts'
import type { UsageRow } from './api.ts'
import { words } from './words.ts'

const names = words.usageOf

const columns: readonly Column<UsageRow>[] = [
  {
    name: 'provider',
    label: names.day,
    cell: (row) => row.group.provider ?? '—',
    text: (row) => row.group.provider ?? null,
  },
  {
    name: 'requests',
    label: names.requests,
    number: true,
    cell: (row) => count(row.requests),
    text: (row) => row.requests,
  },
  { name: 'failed', label: names.failed, number: true, cell: (row) => count(row.failed), text: (row) => row.failed },
  {
    name: 'tokens',
    label: names.tokens,
    number: true,
    cell: (row) => count(row.usage.total),
    text: (row) => row.usage.total,
  },
  { name: 'cost', label: names.cost, number: true, cell: (row) => money(row.cost), text: (row) => row.cost },
]

/** What a model was asked in the time of the page, by the provider that answered. */
export function Usage({ model }: { readonly model: string }) {
  const query = useQuery(modelUsage(model, useRange()))
  return (
    <Card>
      <Loaded query={query} height={120}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty text={words.noUsage} />
          ) : (
            <Table caption={words.usage} columns={columns} rows={rows} idOf={({ group }) => String(group.provider)} />
          )
        }
      </Loaded>
    </Card>
  )
}
