import { useQuery } from '@tanstack/react-query'
import type { Answers } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import { count, money } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Table } from '../../parts/Table.tsx'
import { useRange } from '../../parts/useRange.ts'
import type { Range } from '../../parts/useRange.ts'
import { words } from './words.ts'

const usageOf = (provider: string, range: Range) => ({
  queryKey: ['logs', 'usage', 'provider', provider, range.key],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const query = { ...range.bounds(), provider, group_by: 'model', interval: 'none' }
    return (await ask<Answers['get-usage']>('GET', '/api/logs/usage', { query, signal })).data
  },
})

/** What a provider was asked in the last day, by model. */
export function Usage({ provider }: { readonly provider: string }) {
  const range = useRange()
  const { data, error, refetch } = useQuery(usageOf(provider, range))
  const { requests, failed, tokens, cost } = words.usageOf
  return (
    <Card title={words.usage}>
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton height={120} />
      ) : data.length === 0 ? (
        <Empty text={words.noUsage} />
      ) : (
        <Table
          caption={words.usage}
          rows={data}
          idOf={({ group }) => String(group.model)}
          columns={[
            {
              name: 'model',
              label: words.models,
              cell: (row) => row.group.model ?? '—',
              text: (row) => row.group.model ?? null,
            },
            {
              name: 'requests',
              label: requests,
              number: true,
              cell: (row) => count(row.requests),
              text: (row) => row.requests,
            },
            {
              name: 'failed',
              label: failed,
              number: true,
              cell: (row) => count(row.failed),
              text: (row) => row.failed,
            },
            {
              name: 'tokens',
              label: tokens,
              number: true,
              cell: (row) => count(row.usage.total),
              text: (row) => row.usage.total,
            },
            { name: 'cost', label: cost, number: true, cell: (row) => money(row.cost), text: (row) => row.cost },
          ]}
        />
      )}
    </Card>
  )
}
