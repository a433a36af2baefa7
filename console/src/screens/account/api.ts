import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Answers } from '../../api/answers.ts'

/** `GET /api/me`. */
export type Account = Answers['show-account']

/** What the page reads of `GET /api/me/budget`. */
export type OwnBudget = Answers['show-own-budget']

export const account = queryOptions({ queryKey: ['me'], queryFn: () => ask<Account>('GET', '/api/me') })

export const ownBudget = queryOptions({
  queryKey: ['me', 'budget'],
  queryFn: () => ask<OwnBudget>('GET', '/api/me/budget'),
})

export const setTracing = (enabled: boolean) => ask('PATCH', '/api/me/tracing', { body: { enabled } })
