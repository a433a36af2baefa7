import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Query } from '../../api/ask.ts'
import { pagesOf } from '../../parts/pages.ts'
import type { Answers } from '../../api/answers.ts'

const path = '/api/team/members'

/** A record of `/api/team/members`. */
export type Member = Answers['get-member']

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
      ask<Answers['get-usage']>('GET', '/api/logs/usage', {
        query: { member: id, group_by: 'model', interval: 'none' },
        signal,
      }),
  })
