import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { Bounds, Range } from '../../parts/useRange.ts'
import type { Row } from './row.ts'

interface Page {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}

/** A point of `GET /api/logs/series`. */
export interface Point {
  readonly at: string
  readonly completed: number
  readonly client_closed: number
  readonly refused: number
  readonly failed: number
}

export const requestList = (filters: Query, range: Range) =>
  infiniteQueryOptions({
    queryKey: ['logs', 'list', range.key, filters],
    queryFn: ({ signal, pageParam }) =>
      ask<Page>('GET', '/api/logs', {
        query: { ...filters, ...pageParam.bounds, limit: 100, ...(pageParam.cursor && { cursor: pageParam.cursor }) },
        signal,
      }),
    initialPageParam: { cursor: null as string | null, bounds: range.bounds() },
    // The tail brings what is new.
    refetchOnWindowFocus: false,
    staleTime: 60_000,
    // A cursor belongs to the bounds of its first page.
    getNextPageParam: ({ next_cursor: cursor }, _pages, { bounds }) =>
      cursor === null ? undefined : { cursor, bounds },
  })

export const outcomes = (filters: Query, range: Range) =>
  queryOptions({
    queryKey: ['logs', 'series', range.key, filters],
    queryFn: ({ signal }) =>
      ask<{ interval: string; data: readonly Point[] } & Required<Bounds>>('GET', '/api/logs/series', {
        query: { ...filters, ...range.bounds() },
        signal,
      }),
    placeholderData: (previous) => previous,
  })

/** The types of requests that the log has, some of which plugins added. */
export const usedTypes = queryOptions({
  queryKey: ['logs', 'usage', 'types'],
  queryFn: async ({ signal }) => {
    const query = { group_by: 'type', interval: 'none' }
    const { data } = await ask<{ data: readonly { group: { type: string } }[] }>('GET', '/api/logs/usage', {
      query,
      signal,
    })
    return data.map(({ group }) => group.type)
  },
  staleTime: 60_000,
})

type Named = { readonly data: readonly { readonly name?: string; readonly username?: string; readonly id?: string }[] }

/** What a filter may be, of a list of records: their ids where they have some, else their names. */
export const suggestions = (path: string, enabled: boolean) =>
  queryOptions({
    queryKey: ['suggestions', path],
    queryFn: async ({ signal }) => {
      const { data } = await ask<Named>('GET', path, { signal })
      return data.map(({ id, name, username }) => ({ value: id ?? name ?? '', label: name ?? username ?? '' }))
    },
    enabled,
    staleTime: 60_000,
  })
