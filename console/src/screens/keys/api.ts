import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { Answers } from '../../api/answers.ts'

/** A record of `/api/api-keys`. */
export type Key = Answers['get-api-key']

/** A key with its text, which is answered once. */
export type KeyWithText = Key & { readonly key: string }

/** Keys page by page; a viewer gets those he owns. */
export const keyList = (query: Query) => pagesOf<Key>('keys', '/api/api-keys', query)

export const oneKey = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => ask<Key>('GET', `/api/api-keys/${encodeURIComponent(id)}`, { signal }),
  })

/** Whether the user may make keys: an admin always, a viewer where the settings say so. */
export const mayMakeKeys = queryOptions({
  queryKey: ['me', 'may'],
  queryFn: async () => (await ask<Answers['show-account']>('GET', '/api/me')).may.make_keys,
})

/** What a key was used for by each model, in the last 30 days. */
export const keyUsage = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'usage', id],
    queryFn: ({ signal }) =>
      ask<Answers['get-key-usage']>('GET', `/api/api-keys/${encodeURIComponent(id)}/usage`, {
        query: { group_by: 'model', interval: 'none' },
        signal,
      }),
  })
