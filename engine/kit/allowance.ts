import { durationSchema } from '../spec/duration.ts'

/** Money that a holder, such as an API key or a member, may spend per period. */
export interface Budget {
  /** US dollars, in whole millionths. */
  readonly usd: number
  /** A calendar period in UTC; a week starts on Monday. */
  readonly period: 'day' | 'week' | 'month' | 'total'
}

const DAY = 86_400_000

/** 1970-01-01 was a Thursday, so the first Monday was four days later. */
const firstMonday = 4 * DAY

/** The start of the period of a budget that contains a moment, both in milliseconds since 1970. */
export function periodStart(period: Budget['period'], moment: number): number {
  const date = new Date(moment)
  switch (period) {
    case 'day':
      return moment - modulo(moment, DAY)
    case 'week':
      return moment - modulo(moment - firstMonday, 7 * DAY)
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    case 'total':
      return 0
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

/** How much a holder may ask for. At least one of the first three is set. */
export interface RateLimit {
  /** Requests per period. */
  readonly requests?: number | null
  /** Tokens per period. */
  readonly tokens?: number | null
  /** Requests at the same time. */
  readonly concurrency?: number | null
  /** Duration such as `60s`. */
  readonly period: string
}

/** JSON Schema of a `Budget`, or null for none. */
export const budgetSchema = {
  type: ['object', 'null'],
  title: 'Budget',
  additionalProperties: false,
  required: ['usd'],
  description: 'Money that may be spent per period; null: no limit.',
  properties: {
    usd: {
      type: 'number',
      title: 'US dollars',
      minimum: 0,
      maximum: 1_000_000_000,
      'x-decimals': 6,
      'x-unit': 'usd',
      description: 'Amount per period, with at most six decimals; 0 blocks at once.',
    },
    period: {
      enum: ['day', 'week', 'month', 'total'],
      title: 'Period',
      default: 'month',
      description: 'Calendar period in UTC after which the amount is available again; a week starts on Monday.',
    },
  },
} as const

const usd = (description: string) => ({ type: 'number', description: `${description}, in USD.` }) as const

/** JSON Schema of a budget and its state, or null for none, as answers have it. */
export const budgetStateSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['usd', 'period', 'spent', 'held', 'remaining', 'resets_at', 'since'],
  description: 'Money that may be spent per period, and what is left of it; null: no limit.',
  properties: {
    usd: usd('What may be spent'),
    period: { enum: ['day', 'week', 'month', 'total'], description: 'The calendar period, in UTC.' },
    spent: usd('What was spent'),
    held: usd('What requests that run may cost'),
    remaining: usd('What is left'),
    resets_at: { type: ['string', 'null'], description: 'When the next period begins; null: never.' },
    since: { type: ['string', 'null'], description: 'When the period began.' },
  },
} as const

/** JSON Schema of a `RateLimit` with all its fields, or null for none, as answers have it. */
export const rateLimitStateSchema = {
  type: ['object', 'null'],
  additionalProperties: false,
  required: ['requests', 'tokens', 'concurrency', 'period'],
  description: 'Requests and tokens per period, and requests at the same time; null: no limit.',
  properties: {
    requests: { type: ['integer', 'null'], description: 'Requests per period.' },
    tokens: { type: ['integer', 'null'], description: 'Tokens per period.' },
    concurrency: { type: ['integer', 'null'], description: 'Requests at the same time.' },
    period: { type: 'string', description: 'The period, such as 60s.' },
  },
} as const

const most = 1_000_000_000_000

/** JSON Schema of a `RateLimit`, or null for none. */
export const rateLimitSchema = {
  type: ['object', 'null'],
  title: 'Rate limit',
  additionalProperties: false,
  description: 'Requests and tokens per period, and requests at the same time; null: no limit.',
  anyOfErrorMessage: 'must have at least one of "requests", "tokens" and "concurrency"',
  anyOf: ['requests', 'tokens', 'concurrency'].map((name) => ({
    required: [name],
    properties: { [name]: { not: { type: 'null' } } },
  })),
  properties: {
    requests: {
      type: ['integer', 'null'],
      title: 'Requests',
      minimum: 1,
      maximum: most,
      'x-unit': 'requests',
      description: 'Requests per period.',
    },
    tokens: {
      type: ['integer', 'null'],
      title: 'Tokens',
      minimum: 1,
      maximum: most,
      'x-unit': 'tokens',
      description: 'Tokens per period.',
    },
    concurrency: {
      type: ['integer', 'null'],
      title: 'Concurrency',
      minimum: 1,
      maximum: 1_000_000,
      'x-unit': 'requests',
      description: 'Requests at the same time.',
    },
    period: {
      ...durationSchema,
      title: 'Period',
      default: '60s',
      'x-minimum': '1s',
      'x-maximum': '30d',
      description: 'Time in which this many requests and tokens are available again, from 1s to 30d.',
    },
  },
} as const
