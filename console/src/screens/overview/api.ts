import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import { intervalFor } from '../../parts/intervals.ts'
import type { Range } from '../../parts/useRange.ts'
import { timelineOf } from './timeline.ts'

/** Sums of requests, as every route of figures answers them. */
export type Sum = Answers['get-usage']['total']

/** What is known of the cost of requests; null where nothing is, since nothing known is not nothing. */
export const knownCost = ({ cost, requests, unknown_cost_requests: unknown }: Sum): number | null =>
  unknown > 0 && unknown >= requests && !cost ? null : cost

/** `GET /api/logs/stats`. */
export type Stats = Answers['get-stats']

export const stats = (range: Range, when: 'now' | 'before') =>
  queryOptions({
    queryKey: ['logs', 'stats', range.key, when],
    queryFn: ({ signal }) =>
      ask<Stats>('GET', '/api/logs/stats', { query: { ...range[when === 'now' ? 'bounds' : 'before']() }, signal }),
    // The same figures stay while the next ones load.
    placeholderData: (previous) => previous,
  })

/** The range in intervals. */
export const timeline = (range: Range) =>
  queryOptions({
    queryKey: ['logs', 'series', range.key, 'bars'],
    queryFn: ({ signal }) =>
      ask<Answers['get-series']>('GET', '/api/logs/series', {
        query: { ...range.bounds(), interval: intervalFor(range.length) },
        signal,
      }),
    select: timelineOf,
    placeholderData: (previous) => previous,
  })

export const groupings = ['model', 'provider', 'key', 'member'] as const
export type Grouping = (typeof groupings)[number]

/** A row of `GET /api/logs/usage`. */
export type UsageRow = Row<'get-usage'>

export type Usage = Answers['get-usage']

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
