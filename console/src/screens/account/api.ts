import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Budget } from '../../parts/budgets.ts'

/** `GET /api/me`. */
export interface Account {
  readonly username: string
  readonly role: 'admin' | 'viewer'
  readonly models: readonly string[] | null
  readonly tracing: boolean
  readonly last_login_at: string | null
  readonly session: { readonly expires_at: string; readonly ends_at: string }
}

/** What the page reads of `GET /api/me/budget`. */
export interface OwnBudget {
  readonly budget: Budget | null
  readonly keys: readonly { readonly id: string; readonly name: string; readonly budget: Budget | null }[]
}

export const account = queryOptions({ queryKey: ['me'], queryFn: () => ask<Account>('GET', '/api/me') })

export const ownBudget = queryOptions({
  queryKey: ['me', 'budget'],
  queryFn: () => ask<OwnBudget>('GET', '/api/me/budget'),
})

export const setTracing = (enabled: boolean) => ask('PATCH', '/api/me/tracing', { body: { enabled } })
