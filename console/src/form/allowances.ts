import type { Schema } from './schema.ts'

/** What keys, members and models may be given alike, for forms. The gateway has the rules. */
export const budgetSchema: Schema = {
  type: ['object', 'null'],
  title: 'Budget',
  description: 'What may be spent in each period of the calendar, in UTC. 0 blocks at once.',
  required: ['usd'],
  properties: {
    usd: { type: 'number', title: 'Amount', minimum: 0, 'x-unit': 'USD' },
    period: { enum: ['day', 'week', 'month', 'total'], title: 'Per', default: 'month' },
  },
}

export const rateLimitSchema: Schema = {
  type: ['object', 'null'],
  title: 'Rate limit',
  description: 'At least one of the first three. A period is written 60s, 1h or 1d.',
  properties: {
    requests: { type: ['integer', 'null'], title: 'Requests per period', minimum: 1 },
    tokens: { type: ['integer', 'null'], title: 'Tokens per period', minimum: 1 },
    concurrency: { type: ['integer', 'null'], title: 'Requests at the same time', minimum: 1 },
    period: { type: 'string', title: 'Period', default: '60s' },
  },
}

/** Names that may be used; not set, all of them, or what `unset` says. */
export const allowlistSchema = (
  title: string,
  kind: 'model' | 'mcp_server',
  description: string,
  unset = 'All',
): Schema => ({
  type: ['array', 'null'],
  title,
  description,
  'x-null': unset,
  items: { type: 'string', 'x-names': kind },
})

/** Names of guards. */
export const guardsSchema = (description: string): Schema => ({
  type: 'array',
  title: 'Guards',
  description,
  items: { type: 'string', 'x-names': 'guard' },
})

/** A budget or a rate limit of a record without what is not set, as bodies hold it. */
export const withoutNulls = <T extends object>(
  limit: T | null,
): { readonly [K in keyof T]: NonNullable<T[K]> } | null =>
  limit && (Object.fromEntries(Object.entries(limit).filter(([, value]) => value !== null)) as never)
