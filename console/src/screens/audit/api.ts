import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { ListPage } from '../../parts/pages.ts'
import type { Checkpoint } from './checkpoints.ts'

/** Before and after; `null`: it was not set. */
export type FieldChange = NonNullable<AuditRow['changes']>[string]

/** A row of `GET /api/logs/audit`. Of a damaged row, the gateway gives only what it can read. */
export type AuditRow = Row<'list-audit'>

/** `GET /api/logs/audit/verify`. */
export type Verdict = Answers['verify-audit']

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
    const list = await ask<Answers['list-member']>('GET', '/api/team/members?limit=200', {
      signal,
    })
    return list.data.map(({ id, username }) => ({ value: id, label: username }))
  },
  staleTime: 60_000,
})
