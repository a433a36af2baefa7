import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { Budget } from '../../parts/budgets.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { RateLimit } from '../../parts/rate-limit.ts'
import type { UsageRow } from '../../parts/UsageTable.tsx'

/** A record of `/api/api-keys`. */
export interface Key {
  readonly id: string
  readonly name: string
  /** The last characters of its text. */
  readonly hint: string | null
  readonly owner: { readonly id: string; readonly username: string } | null
  readonly models: readonly string[] | null
  readonly budget: Budget | null
  readonly rate_limit: RateLimit | null
  readonly mcp_servers: readonly string[] | null
  readonly tags: Readonly<Record<string, string>>
  readonly expires_at: string | null
  readonly disabled: boolean
  readonly state: 'active' | 'disabled' | 'expired' | 'off'
  readonly source: 'file' | 'database'
  readonly declared_at?: { readonly file: string; readonly line: number }
  readonly created_at: string | null
  readonly created_by: string | null
  readonly updated_at: string | null
  readonly last_used_at: string | null
  readonly rotated_at: string | null
  /** Null: the file declares it. */
  readonly version: number | null
}

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
  queryFn: async () => (await ask<{ may: { make_keys: boolean } }>('GET', '/api/me')).may.make_keys,
})

/** What a key was used for by each model, in the last 30 days. */
export const keyUsage = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'usage', id],
    queryFn: ({ signal }) =>
      ask<{ readonly data: readonly UsageRow[] }>('GET', `/api/api-keys/${encodeURIComponent(id)}/usage`, {
        query: { group_by: 'model', interval: 'none' },
        signal,
      }),
  })
