import { infiniteQueryOptions } from '@tanstack/react-query'
import { addressOf, ask } from '../api/ask.ts'
import type { Query } from '../api/ask.ts'

/** A page of a list of the admin API. */
export interface ListPage<T> {
  readonly data: readonly T[]
  /** Absent or null: there is no further page. */
  readonly next_cursor?: string | null
}

/** A list page by page, and the address of its rows; `name` begins the keys of its queries. */
export const pagesOf = <T>(name: string, path: string, query: Query) => ({
  address: addressOf(path, { ...query, limit: perPage }),
  ...infiniteQueryOptions({
    queryKey: [name, 'list', query],
    queryFn: ({ pageParam, signal }) =>
      ask<ListPage<T>>('GET', path, {
        query: { ...query, limit: 100, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next,
    // The same rows stay while others load.
    placeholderData: (previous) => previous,
  }),
})

/** Most pages of a list that are read as a whole. */
const mostPages = 10
const perPage = 200
/** Most entries of a list that is read as a whole. */
export const mostEntries = mostPages * perPage

/** A list as a whole; of a very long one, its first {@link mostEntries}. */
export async function readAll<T>(path: string, signal: AbortSignal): Promise<readonly T[]> {
  const found: T[] = []
  let cursor: string | null | undefined
  for (let page = 0; page < mostPages && cursor !== null; page++) {
    const query: Query = { limit: perPage, ...(cursor === undefined ? {} : { cursor }) }
    const answer: ListPage<T> = await ask('GET', path, { query, signal })
    found.push(...answer.data)
    cursor = answer.next_cursor ?? null
  }
  return found
}
