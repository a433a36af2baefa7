import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { pagesOf } from './pages.ts'
import type { TableProps } from './Table.tsx'

/** A list of the admin API, as far as it is loaded. */
export interface Records<T> {
  /** Absent: nothing has come yet. */
  readonly rows: readonly T[] | undefined
  readonly error: Error | null
  readonly refetch: () => Promise<unknown>
  readonly more: TableProps<T>['more']
}

/** The records of a list that is loaded page by page. */
export function useRecords<T>(pages: ReturnType<typeof pagesOf<T>>): Records<T> {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage: busy } = useInfiniteQuery(pages)
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data), [data])
  return { rows, error, refetch, more: hasNextPage ? { load: () => void fetchNextPage(), busy } : undefined }
}
