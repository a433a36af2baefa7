import { GatewayError } from '../../engine/index.ts'
import type { Principal, QuerySchema } from '../../engine/index.ts'
import { negated } from '../../engine/kit.ts'
import type { Query } from '../../engine/kit.ts'

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
  pipeline: 'pipeline',
  trace_id: 'trace_id',
  guarded: 'guarded',
} as const

export type Word = keyof typeof words

/** Values of columns. */
export type WordValues = { readonly [W in Word]?: readonly string[] | undefined }

/** The lowest and the highest status of a range. */
export type Statuses = readonly [number, number]

type Tag = readonly [name: string, value: string]

/** A filter for rows. An absent field matches every value. */
export interface RequestFilter {
  /** Earliest start of the exchanges, in milliseconds since 1970; `until` is excluded. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Earliest end of the exchanges. */
  readonly endedSince?: number | undefined
  /** Any of some values. */
  readonly words?: WordValues
  /** None of some values. Rows without a value stay. */
  readonly withoutWords?: WordValues
  /** The requested model or the one that served. */
  readonly anyModel?: string | undefined
  /** Any of some ranges, or none of them. */
  readonly statuses?: readonly Statuses[] | undefined
  readonly withoutStatuses?: readonly Statuses[] | undefined
  /** Only exchanges that did not complete. */
  readonly failed?: boolean | undefined
  readonly stream?: boolean | undefined
  /** Any of some tags, or none of them. */
  readonly tags?: readonly Tag[] | undefined
  readonly withoutTags?: readonly Tag[] | undefined
  /** Requests that any of some providers failed, or none of them, also where another one answered. */
  readonly failedProviders?: readonly string[] | undefined
  readonly withoutFailedProviders?: readonly string[] | undefined
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

const text = (description: string) => ({ type: 'string', description }) as const
const number = (description: string) => ({ type: 'number', description }) as const
const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

/** The query parameters whose values can be left out, too. */
const leavable: QuerySchema = {
  type: text('Type of the request, such as chat.'),
  key: text('Id of the API key.'),
  member: text('Id of the member.'),
  tag: text('A tag and its value, such as team:search.'),
  requested: text('The model that was asked for.'),
  model: text('The model that served.'),
  provider: text('The provider that served.'),
  failed_provider: text('A provider that failed, also where another one answered.'),
  protocol: text('The protocol of the client.'),
  status: text('A status such as 429, or a class such as 4xx.'),
  result: { enum: ['completed', 'client_closed', 'refused', 'failed'], description: 'How it ended.' },
  error: text('The code of the error.'),
  tier: text('The tier that smart routing chose.'),
  parent: text('Id of the request that it belongs to.'),
  pipeline: text('The pipeline that served it.'),
  trace_id: text('The trace that it is a part of, as 32 hexadecimal digits.'),
  guarded: { enum: ['denied', 'masked', 'flagged'], description: 'The strongest of what guards did.' },
}

/** The query parameters of a filter, without its times. */
export const filterFields: QuerySchema = {
  ...leavable,
  ...negated(leavable),
  stream: { type: 'boolean', description: 'Whether the answer was streamed.' },
  min_cost: number('Lowest cost, in USD.'),
  min_duration_ms: number('Shortest duration, in milliseconds.'),
  search: text('Id of the request, or the x-request-id of its client.'),
}

/** The query parameters of the times of a filter. */
export const timeFields = { since: time('Earliest start.'), until: time('Latest start, excluded.') } as const

/** The filter in a checked query. Throws `invalid_field`. */
export function filterOf(query: Query): RequestFilter {
  const cost = query.number('min_cost')
  const duration = query.number('min_duration_ms')
  const flags = query.values('stream')
  return {
    since: query.time('since'),
    until: query.time('until'),
    words: wordsIn((name) => query.values(name)),
    withoutWords: wordsIn((name) => query.leftOut(name)),
    statuses: query.values('status')?.map((text) => statusOf(text, 'status')),
    withoutStatuses: query.leftOut('status')?.map((text) => statusOf(text, 'not_status')),
    stream: new Set(flags).size === 1 ? query.flag('stream') : undefined,
    ...tagsIn(query),
    failedProviders: query.values('failed_provider'),
    withoutFailedProviders: query.leftOut('failed_provider'),
    minCost: cost === undefined ? undefined : least(cost * 1_000_000),
    minDuration: duration === undefined ? undefined : least(duration),
    search: query.text('search'),
  }
}

/** What a query says of tags. Throws `invalid_field`. */
export function tagsIn(query: Query): Pick<RequestFilter, 'tags' | 'withoutTags'> {
  return {
    tags: query.values('tag')?.map((text) => tagOf(text, 'tag')),
    withoutTags: query.leftOut('tag')?.map((text) => tagOf(text, 'not_tag')),
  }
}

/** What a query says of some columns. */
export function wordsIn(valuesOf: Query['values'], asked: readonly Word[] = Object.keys(words) as Word[]): WordValues {
  return Object.fromEntries(asked.map((word) => [word, valuesOf(word)]))
}

/** The least whole number that is not below another one, which may have lost its last digits. PostgreSQL takes no others. */
function least(number: number): number {
  return Math.min(Math.ceil(Number(number.toFixed(3))), Number.MAX_SAFE_INTEGER)
}

/** `429`, or `4xx` for a class. */
function statusOf(text: string, param: string): Statuses {
  const range = statusRange(text)
  if (range) return range
  throw new GatewayError('invalid_field', { param, reason: 'must be a status such as 429 or a class as 4xx' })
}

/** The lowest and the highest status of `429` or `4xx`; undefined for any other text. */
export function statusRange(text: string): Statuses | undefined {
  const [, first, rest] = /^([1-5])(\d\d|xx)$/.exec(text) ?? []
  if (first === undefined) return undefined
  const low = rest === 'xx' ? Number(first) * 100 : Number(text)
  return [low, rest === 'xx' ? low + 99 : low]
}

function tagOf(text: string, param: string): Tag {
  const colon = text.indexOf(':')
  if (colon > 0) return [text.slice(0, colon), text.slice(colon + 1)]
  throw new GatewayError('invalid_field', { param, reason: 'must be a name and a value, such as team:search' })
}

/** The keys whose requests a member may see; undefined: all. */
export function ownKeysOf(
  { id, role }: Principal,
  keys: { ownedBy(member: string): readonly string[] },
): readonly string[] | undefined {
  return role === 'admin' ? undefined : keys.ownedBy(id)
}
