import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Answers } from '../../api/answers.ts'
import type { Query } from '../../api/ask.ts'
import { namedAs } from '../../parts/useNames.ts'
import type { Listed } from '../../parts/useNames.ts'
import type { Range } from '../../parts/useRange.ts'

export type Point = Answers['get-series']['data'][number]

export const requestList = (filters: Query, range: Range) =>
  infiniteQueryOptions({
    queryKey: ['logs', 'list', range.key, filters],
    queryFn: ({ signal, pageParam }) =>
      ask<Answers['list-requests']>('GET', '/api/logs', {
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
      ask<Answers['get-series']>('GET', '/api/logs/series', {
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
    const { data } = await ask<Answers['get-usage']>('GET', '/api/logs/usage', {
      query,
      signal,
    })
    return data.flatMap(({ group }) => group.type ?? [])
  },
  staleTime: 60_000,
})

/** What a filter may be, of a list of records: their ids where they have some, else their names. */
export const suggestions = (path: string, enabled: boolean) =>
  queryOptions({
    queryKey: ['suggestions', path],
    queryFn: async ({ signal }) => {
      const { data } = await ask<Listed>('GET', path, { signal })
      return data.map(namedAs)
    },
    enabled,
    staleTime: 60_000,
  })
