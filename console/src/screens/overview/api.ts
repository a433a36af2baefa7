import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { intervalFor, intervalsOf } from '../../parts/intervals.ts'
import type { Bounds, Range } from '../../parts/useRange.ts'

type Buckets = Readonly<Record<'input' | 'cache_read' | 'cache_write' | 'output' | 'reasoning' | 'total', number>>
type Percentiles = Readonly<Record<'p50' | 'p95', number | null>>

/** Sums of requests, as every route of figures answers them. */
export interface Sum {
  readonly requests: number
  readonly failed: number
  /** USD; null: nothing of it is known. */
  readonly cost: number | null
  readonly unknown_cost_requests: number
  readonly usage: Buckets
}

/** What is known of the cost of requests; null where nothing is, since nothing known is not nothing. */
export const knownCost = ({ cost, requests, unknown_cost_requests: unknown }: Sum): number | null =>
  unknown > 0 && unknown >= requests && !cost ? null : cost

/** `GET /api/logs/stats`. */
export interface Stats extends Sum {
  readonly savings: number | null
  readonly duration_ms: Percentiles
  readonly first_byte_ms: Percentiles
}

export const stats = (range: Range, when: 'now' | 'before') =>
  queryOptions({
    queryKey: ['logs', 'stats', range.key, when],
    queryFn: ({ signal }) =>
      ask<Stats>('GET', '/api/logs/stats', { query: { ...range[when === 'now' ? 'bounds' : 'before']() }, signal }),
    // The same figures stay while the next ones load.
    placeholderData: (previous) => previous,
  })

/** The figures of an interval of `GET /api/logs/series`. */
export interface Point {
  readonly at: string
  readonly completed: number
  readonly client_closed: number
  readonly refused: number
  readonly failed: number
  readonly duration_ms: Percentiles
  readonly first_byte_ms: Percentiles & { readonly p99: number | null }
  readonly tokens: Buckets
  /** USD. */
  readonly cost: number
}

/** `GET /api/logs/series`. */
export interface Series extends Required<Bounds> {
  readonly interval: string
  readonly data: readonly Point[]
}

/** When each interval begins, and its figures, if it has any. */
export interface Timeline {
  readonly interval: string
  readonly times: readonly string[]
  readonly points: readonly (Point | undefined)[]
}

export function timelineOf(series: Series): Timeline {
  const times = intervalsOf(series)
  const known = new Map(series.data.map((point) => [Date.parse(point.at), point]))
  return { interval: series.interval, times, points: times.map((at) => known.get(Date.parse(at))) }
}

/** The range in intervals. */
export const timeline = (range: Range) =>
  queryOptions({
    queryKey: ['logs', 'series', range.key, 'bars'],
    queryFn: ({ signal }) =>
      ask<Series>('GET', '/api/logs/series', {
        query: { ...range.bounds(), interval: intervalFor(range.length) },
        signal,
      }),
    select: timelineOf,
    placeholderData: (previous) => previous,
  })

export const groupings = ['model', 'provider', 'key', 'member'] as const
export type Grouping = (typeof groupings)[number]

/** A row of `GET /api/logs/usage`. */
export interface UsageRow extends Sum {
  readonly group: {
    readonly model?: string | null
    readonly provider?: string | null
    readonly key?: { readonly id: string; readonly name: string } | null
    readonly member?: { readonly id: string; readonly username: string } | null
  }
  readonly first_byte_ms: Percentiles
}

export interface Usage {
  /** The gateway adds up whole hours, so it is earlier than what was asked for. */
  readonly since: string
  readonly data: readonly UsageRow[]
  readonly total: Sum
}

/** What models are told apart by, beside their name: the provider that served them. */
const toldApart: Readonly<Record<Grouping, string>> = {
  model: 'model,provider',
  provider: 'provider',
  key: 'key',
  member: 'member',
}

export const usage = (range: Range, grouping: Grouping) =>
  queryOptions({
    queryKey: ['logs', 'usage', range.key, grouping],
    queryFn: ({ signal }) => {
      const query = { ...range.bounds(), group_by: toldApart[grouping], interval: 'none' }
      return ask<Usage>('GET', '/api/logs/usage', { query, signal })
    },
    placeholderData: (previous, query) => (query?.queryKey.at(-1) === grouping ? previous : undefined),
  })
