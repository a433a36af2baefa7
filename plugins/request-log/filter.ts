import { GatewayError } from '../../engine/index.ts'
import type { Principal } from '../../engine/index.ts'
import type { Query, QueryField } from '../../engine/kit.ts'

/** Columns that a filter compares with texts. */
export const words = {
  type: 'type',
  key: 'key_id',
  member: 'member_id',
  requested: 'requested',
  model: 'model',
  provider: 'provider',
  protocol: 'protocol',
  result: 'result',
  error: 'error',
  tier: 'tier',
  parent: 'parent',
} as const

export type Word = keyof typeof words

/** A filter for rows. An absent field matches every value. */
export interface RequestFilter {
  /** Earliest start of the exchanges, in milliseconds since 1970; `until` is excluded. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Earliest end of the exchanges. */
  readonly endedSince?: number | undefined
  /** Any of some values. */
  readonly words?: { readonly [W in Word]?: readonly string[] | undefined }
  /** The requested model or the one that served. */
  readonly anyModel?: string | undefined
  /** The lowest and the highest status; any of some ranges. */
  readonly statuses?: readonly (readonly [number, number])[] | undefined
  /** Only exchanges that did not complete. */
  readonly failed?: boolean | undefined
  readonly stream?: boolean | undefined
  /** Any of some tags. */
  readonly tags?: readonly (readonly [name: string, value: string])[] | undefined
  /** In micro-USD. */
  readonly minCost?: number | undefined
  /** In milliseconds. */
  readonly minDuration?: number | undefined
  /** The id of a row, or the reference of its client. */
  readonly search?: string | undefined
  /** Only requests that were routed to one of several models. */
  readonly routed?: boolean | undefined
  /** Only rows of these API keys. */
  readonly ownKeys?: readonly string[] | undefined
}

/** The query parameters of a filter, without its times. */
export const filterFields = {
  type: 'text',
  key: 'text',
  member: 'text',
  tag: 'text',
  requested: 'text',
  model: 'text',
  provider: 'text',
  protocol: 'text',
  status: 'text',
  result: ['completed', 'client_closed', 'refused', 'failed'],
  error: 'text',
  stream: 'boolean',
  tier: 'text',
  min_cost: 'number',
  min_duration_ms: 'number',
  parent: 'text',
  search: 'text',
} as const satisfies Readonly<Record<string, QueryField>>

/** The query parameters of the times of a filter. */
export const timeFields = { since: 'time', until: 'time' } as const

/** The filter in a checked query. Throws `invalid_field`. */
export function filterOf(query: Query): RequestFilter {
  const cost = query.number('min_cost')
  const duration = query.number('min_duration_ms')
  const flags = query.values('stream')
  return {
    since: query.time('since'),
    until: query.time('until'),
    words: Object.fromEntries(Object.keys(words).map((word) => [word, query.values(word)])),
    statuses: query.values('status')?.map(statusOf),
    stream: new Set(flags).size === 1 ? query.flag('stream') : undefined,
    tags: query.values('tag')?.map(tagOf),
    minCost: cost === undefined ? undefined : least(cost * 1_000_000),
    minDuration: duration === undefined ? undefined : least(duration),
    search: query.text('search'),
  }
}

/** The least whole number that is not below another one, which may have lost its last digits. PostgreSQL takes no others. */
function least(number: number): number {
  return Math.min(Math.ceil(Number(number.toFixed(3))), Number.MAX_SAFE_INTEGER)
}

/** `429`, or `4xx` for a class. */
function statusOf(text: string): readonly [number, number] {
  const range = statusRange(text)
  if (range) return range
  throw new GatewayError('invalid_field', { param: 'status', reason: 'must be a status such as 429 or a class as 4xx' })
}

/** The lowest and the highest status of `429` or `4xx`; undefined for any other text. */
export function statusRange(text: string): readonly [number, number] | undefined {
  const [, first, rest] = /^([1-5])(\d\d|xx)$/.exec(text) ?? []
  if (first === undefined) return undefined
  const low = rest === 'xx' ? Number(first) * 100 : Number(text)
  return [low, rest === 'xx' ? low + 99 : low]
}

function tagOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':')
  if (colon > 0) return [text.slice(0, colon), text.slice(colon + 1)]
  throw new GatewayError('invalid_field', { param: 'tag', reason: 'must be a name and a value, such as team:search' })
}

/** The keys whose requests a member may see; undefined: all. */
export function ownKeysOf(
  { id, role }: Principal,
  keys: { ownedBy(member: string): readonly string[] },
): readonly string[] | undefined {
  return role === 'admin' ? undefined : keys.ownedBy(id)
}
