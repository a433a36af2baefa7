import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Query } from '../../api/ask.ts'
import { useAddress } from '../../app/search.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { auditList } from './api.ts'
import type { AuditRow } from './api.ts'
import { words } from './words.ts'

/** The rows that fit the filters, as far as they are loaded, the latest first. */
export function useChanges(filters: Query) {
  const {
    data,
    error,
    refetch,
    fetchNextPage,
    hasNextPage,
    isFetchingNextPage: busy,
  } = useInfiniteQuery(auditList(filters))
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  return { rows, error, refetch, more: hasNextPage ? { load: () => void fetchNextPage(), busy } : undefined }
}

interface ChangesProps {
  readonly list: ReturnType<typeof useChanges>
  readonly isFiltered: boolean
  readonly columns: readonly Column<AuditRow>[]
}

export function Changes({ list: { rows, error, refetch, more }, isFiltered, columns }: ChangesProps) {
  const [search] = useAddress()
  if (error && !rows) return <Failure error={error} onRetry={() => void refetch()} />
  if (!rows) return <Skeleton height={420} />
  return (
    <Card>
      {rows.length === 0 ? (
        <Empty text={isFiltered ? words.emptyFiltered : words.empty} />
      ) : (
        <Table
          caption={words.table}
          columns={columns}
          rows={rows}
          idOf={({ sequence }) => String(sequence)}
          to={({ sequence }) => ({ to: '/audit', search: { ...search, row: String(sequence) } })}
          more={more}
        />
      )}
    </Card>
  )
}
