import type { Budget, ConfigOf, RateLimit } from '../../engine/index.ts'
import { budgetSchema, durationSchema, rateLimitSchema } from '../../engine/kit.ts'

// The type leaves `anyOf` out, which says nothing about types.
const rateLimit = (title: string, description: string) =>
  ({ ...rateLimitSchema, title, description, default: null }) as Omit<typeof rateLimitSchema, 'anyOf'> & {
    readonly default: null
  }

const budget = (title: string, description: string) => ({ ...budgetSchema, title, description, default: null }) as const

export const settings = {
  type: 'object',
  title: 'Rate limits and budgets',
  additionalProperties: false,
  description: 'Limits on requests, tokens and money, beside those of API keys and members.',
  properties: {
    server: rateLimit('Whole gateway', 'Limit of the whole gateway; null: none.'),
    key_default: rateLimit('API keys', 'Limit of each API key that has none of its own; null: none.'),
    member_default: rateLimit('Members', 'Limit of each member who has none of his own; null: none.'),
    refused_per_address: {
      type: ['object', 'null'],
      title: 'Refused keys per address',
      additionalProperties: false,
      required: ['requests'],
      default: null,
      description:
        'Requests with an unknown API key that one address may send. Beyond it they are answered with 429, and the key is not looked up. Null: no limit.',
      properties: {
        requests: {
          type: 'integer',
          title: 'Requests',
          minimum: 1,
          maximum: 1_000_000_000,
          'x-unit': 'requests',
          description: 'Refused requests per period.',
        },
        period: {
          ...durationSchema,
          title: 'Period',
          default: '60s',
          'x-minimum': '1s',
          'x-maximum': '30d',
          description: 'Time in which this many may be refused again.',
        },
      },
    },
    count_cache_reads: {
      type: 'boolean',
      title: 'Count cache reads',
      default: false,
      description: 'Whether tokens that a provider reads from its cache count towards limits of tokens.',
    },
    assumed_output_tokens: {
      type: 'integer',
      title: 'Assumed output',
      minimum: 1,
      maximum: 1_000_000_000,
      default: 4_096,
      'x-unit': 'tokens',
      description:
        'Output that is reserved for a request that names no maximum, unless its model can generate less. The rest is given back.',
    },
    headers: {
      type: 'boolean',
      title: 'Headers',
      default: true,
      description: 'Whether answers show the limits of the API key or member, and what is left of them.',
    },
    on_store_failure: {
      enum: ['local', 'closed', 'open'],
      title: 'Without the key-value store',
      default: 'local',
      description:
        'What happens while the configured key-value store does not answer. local: each process counts for itself, with an equal share of each limit; closed: requests are answered with 503; open: nothing is limited.',
    },
    budget: {
      type: 'object',
      title: 'Budgets',
      additionalProperties: false,
      default: {},
      description: 'Money that may be spent.',
      properties: {
        server: budget('Whole gateway', 'Budget of the whole gateway; null: none.'),
        key_default: budget('API keys', 'Budget of each API key that has none of its own; null: none.'),
        member_default: budget('Members', 'Budget of each member who has none of his own; null: none.'),
        unknown_price: {
          enum: ['refuse', 'allow'],
          title: 'Models without a price',
          default: 'refuse',
          description:
            'Whether models without a price may be used where a budget applies. refuse: no; allow: yes, and they cost nothing.',
        },
      },
    },
  },
} as const

export type LimitSettings = ConfigOf<typeof settings>

/** The path to a limit, and what is wrong with it. */
type Found = readonly [path: readonly string[], message: string]

/** Settings that are never reached, because that of the whole gateway is reached before, and budgets of nothing. */
export function withoutEffect({ server, budget, ...usual }: LimitSettings): readonly Found[] {
  const found: Found[] = []
  for (const field of ['key_default', 'member_default'] as const) {
    for (const [path, message] of rateBeyond(usual[field], server)) found.push([[field, ...path.slice(1)], message])
    for (const [path, message] of budgetBeyond(budget[field], budget.server))
      found.push([['budget', field, ...path.slice(1)], message])
  }
  for (const field of ['server', 'key_default', 'member_default'] as const)
    if (budget[field]?.usd === 0)
      found.push([['budget', field, 'usd'], 'blocks all of them; without a budget, nothing limits their costs'])
  return found
}

/** What of a rate limit is above that of the whole gateway. */
export function* rateBeyond(own: RateLimit | null | undefined, server: RateLimit | null): Iterable<Found> {
  if (!own || !server) return
  for (const field of ['requests', 'tokens', 'concurrency'] as const) {
    const [limit, whole] = [own[field], server[field]]
    const isOfOnePeriod = field === 'concurrency' || own.period === server.period
    if (limit && whole && isOfOnePeriod && limit > whole)
      yield [['rate_limit', field], `is above that of the whole gateway, ${whole}`]
  }
}

/** What of a budget is above that of the whole gateway. */
export function* budgetBeyond(own: Budget | null | undefined, server: Budget | null): Iterable<Found> {
  if (own && server && own.period === server.period && own.usd > server.usd)
    yield [['budget', 'usd'], `is above that of the whole gateway, ${server.usd}`]
}
