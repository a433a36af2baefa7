import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { Json } from '../../form/schema.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { ListPage } from '../../parts/pages.ts'
import type { Checkpoint } from './checkpoints.ts'

/** Before and after; `null`: it was not set. */
export interface FieldChange {
  readonly from: Json
  readonly to: Json
}

/** A row of `GET /api/logs/audit`. Of a damaged row, the gateway gives only what it can read. */
export interface AuditRow {
  readonly sequence: number
  readonly at?: string
  readonly actor?: { readonly type: string; readonly id: string | null; readonly name: string | null }
  readonly address?: string | null
  readonly request_id?: string | null
  readonly action: string
  readonly target?: { readonly type: string; readonly id: string | null; readonly name: string | null } | null
  readonly outcome: 'ok' | 'refused'
  readonly changes?: Readonly<Record<string, FieldChange>>
  readonly details?: Readonly<Record<string, Json>>
  readonly previous: string
  readonly hash: string
}

/** `GET /api/logs/audit/verify`. */
export interface Verdict {
  readonly ok: boolean
  readonly rows: number
  readonly head: { readonly sequence: number; readonly hash: string } | null
  readonly first_bad: { readonly sequence: number; readonly reason: string } | null
  readonly checkpoints: { readonly read: number; readonly bad: number }
}

const path = '/api/logs/audit'

export const auditList = (filters: Query) => pagesOf<AuditRow>('audit', path, filters)

/** The row of a number; null: there is none. */
export const auditRow = (sequence: string) =>
  queryOptions({
    queryKey: ['audit', 'row', sequence],
    queryFn: async ({ signal }) =>
      (await ask<ListPage<AuditRow>>('GET', path, { query: { sequence }, signal })).data[0] ?? null,
  })

/** Verifies the trail; also against checkpoints, if some are given. */
export const verify = (checkpoints?: readonly Checkpoint[]) =>
  checkpoints
    ? ask<Verdict>('POST', `${path}/verify`, { body: { checkpoints } })
    : ask<Verdict>('GET', `${path}/verify`)

/** Members as values of a filter. */
export const members = queryOptions({
  queryKey: ['suggestions', '/api/team/members?limit=200'],
  queryFn: async ({ signal }) => {
    const list = await ask<{ data: readonly { id: string; username: string }[] }>(
      'GET',
      '/api/team/members?limit=200',
      {
        signal,
      },
    )
    return list.data.map(({ id, username }) => ({ value: id, label: username }))
  },
  staleTime: 60_000,
})
