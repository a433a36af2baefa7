import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import type { Budget } from '../../parts/budgets.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { RateLimit } from '../../parts/rate-limit.ts'
import type { UsageRow } from '../../parts/UsageTable.tsx'

const path = '/api/team/members'

/** A record of `/api/team/members`. */
export interface Member {
  readonly id: string
  readonly username: string
  readonly role: 'admin' | 'viewer'
  readonly disabled: boolean
  readonly must_change_password: boolean
  readonly models: readonly string[] | null
  readonly budget: Budget | null
  readonly rate_limit: RateLimit | null
  /** How many keys he owns. */
  readonly keys: number
  readonly created_at: string
  readonly last_login_at: string | null
  readonly version: number
}

/** A member with the password that was made for him, which is answered once. */
export type MemberWithPassword = Member & { readonly temporary_password?: string }

export const memberList = (query: Query) => pagesOf<Member>('members', path, query)

export const oneMember = (id: string) =>
  queryOptions({
    queryKey: ['members', 'one', id],
    queryFn: ({ signal }) => ask<Member>('GET', `${path}/${id}`, { signal }),
  })

export const addMember = (body: object) => ask<MemberWithPassword>('POST', path, { body })

export const changeMember = ({ id, version }: Member, body: object) =>
  ask<Member>('PATCH', `${path}/${id}`, { body, ifMatch: version })

export const deleteMember = ({ id, version }: Member) => ask('DELETE', `${path}/${id}`, { ifMatch: version })

/** Without a password, one is made. Whoever resets an admin repeats their own. */
export const resetPassword = (
  { id, version }: Member,
  body: { readonly password?: string; readonly current_password?: string },
) => ask<MemberWithPassword>('POST', `${path}/${id}/reset-password`, { body, ifMatch: version })

export const resetBudget = ({ id }: Member) => ask<Member>('POST', `${path}/${id}/reset-budget`)

/** What the keys of a member were used for by each model, in the last 30 days. */
export const memberUsage = (id: string) =>
  queryOptions({
    queryKey: ['members', 'usage', id],
    queryFn: ({ signal }) =>
      ask<{ readonly data: readonly UsageRow[] }>('GET', '/api/logs/usage', {
        query: { member: id, group_by: 'model', interval: 'none' },
        signal,
      }),
  })
