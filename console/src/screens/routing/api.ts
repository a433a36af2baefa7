import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Sourced } from '../../form/Origin.tsx'
import type { Schema } from '../../form/schema.ts'
import type { RoutingBlock, RoutingPreview, Tier } from '../../parts/decision.ts'
import type { Signal } from '../../parts/Rating.tsx'
import type { Range } from '../../parts/useRange.ts'

export const modes = ['fast', 'auto', 'best'] as const
export type Mode = (typeof modes)[number]

/** How many of the latest requests are shown, and decided again by other settings. */
export const latest = 200

/** An item of `GET /api/routing/decisions`. Money in USD. */
export interface DecisionRow {
  readonly request_id: string
  readonly at: string
  readonly mode: Mode
  readonly tier: Tier
  readonly complexity: number
  /** What a better model gains; null: the row is of before this was told. */
  readonly benefit: number | null
  readonly confidence: number
  readonly chosen: string | null
  readonly served: string | null
  readonly explored: boolean
  readonly cost_estimate: number | null
  readonly cost: number | null
  readonly savings: number | null
  readonly judge: {
    readonly verdict: Tier | null
    readonly held: boolean
    readonly latency_ms: number | null
    readonly error: string | null
  } | null
  readonly error: string | null
}

export const decisions = (range: Range) =>
  queryOptions({
    queryKey: ['routing', 'decisions', range.key],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), limit: latest }
      return (await ask<{ data: readonly DecisionRow[] }>('GET', '/api/routing/decisions', { query, signal })).data
    },
    placeholderData: (previous) => previous,
  })

/** What the page reads of a request of the log. */
interface LoggedRequest {
  readonly routing: RoutingBlock | null
  readonly metadata: { readonly routing_reasoning?: string }
  readonly feedback: { readonly signal: Signal } | null
  readonly tries: readonly { readonly model: string; readonly status: number | null; readonly error: string | null }[]
}

export const request = (id: string) =>
  queryOptions({
    queryKey: ['logs', id],
    queryFn: ({ signal }) => ask<LoggedRequest>('GET', `/api/logs/${encodeURIComponent(id)}`, { signal }),
  })

export interface PreviewQuestion {
  readonly model: Mode
  readonly prompt: string
  readonly key?: string
  readonly settings?: object
}

export const preview = (question: PreviewQuestion) =>
  ask<RoutingPreview>('POST', '/api/routing/preview', { body: question })

export const keyNames = queryOptions({
  queryKey: ['api-keys', 'names'],
  queryFn: async ({ signal }) => {
    const { data } = await ask<{ data: readonly { readonly name: string }[] }>('GET', '/api/api-keys', {
      query: { limit: 200 },
      signal,
    })
    return data.map(({ name }) => name)
  },
})

/** A request of the past, and what other settings would have made of it. */
export interface Replayed {
  readonly request_id: string
  readonly at: string
  readonly was: { readonly model: string; readonly tier: Tier; readonly cost_estimate: number | null }
  readonly would: {
    readonly model: string | null
    readonly tier: Tier | null
    readonly cost_estimate: number | null
    readonly because: string
  }
}

export interface Replay {
  readonly rows: number
  readonly changed: number
  readonly cost_change: number
  readonly data: readonly Replayed[]
}

export const replay = (settings: object, since: string) =>
  ask<Replay>('POST', '/api/routing/replay', { body: { settings, since, limit: latest } })

/** What was learned of a model in a mode and tier: its answer is good enough with a probability from a Beta distribution. */
export interface Learned {
  readonly model: string
  readonly mode: Mode
  readonly tier: Tier
  readonly pulls: number
  readonly mean: number
  /** The sum of the two parameters. */
  readonly strength: number
  readonly reliability: number
  readonly latency_ms: { readonly p50: number | null; readonly p95: number | null }
  readonly feedback: Readonly<Record<Signal, number>>
}

export const experience = queryOptions({
  queryKey: ['routing', 'experience'],
  queryFn: async ({ signal }) =>
    (await ask<{ data: readonly Learned[] }>('GET', '/api/routing/experience', { signal })).data,
})

/** @param model undefined: all */
export const forget = (model: string | undefined) =>
  ask<{ reset: number }>('POST', '/api/routing/experience/reset', { body: model === undefined ? {} : { model } })

export interface Agreed {
  readonly ensemble: Tier
  readonly judge: Tier
  readonly count: number
  readonly shadow: boolean
}

export const agreement = (range: Range) =>
  queryOptions({
    queryKey: ['routing', 'agreement', range.key],
    queryFn: async ({ signal }) => {
      const query = { since: range.bounds().since }
      return (await ask<{ data: readonly Agreed[] }>('GET', '/api/routing/judge/agreement', { query, signal })).data
    },
  })

/** What the judge has cost in a range, in USD; null: unknown. */
export const judgeCost = (range: Range) =>
  queryOptions({
    queryKey: ['logs', 'stats', range.key, 'judge'],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), type: 'judge' }
      return (await ask<{ cost: number | null }>('GET', '/api/logs/stats', { query, signal })).cost
    },
  })

/** The answer of `GET /api/config/server/smart_routing`. */
export interface Section extends Sourced {
  readonly schema: Schema
  /** Of a section that the configuration file declares; null: an admin may change it. */
  readonly declared_at?: { readonly file: string; readonly line: number }
  readonly version: number | null
}

const place = '/api/config/server/smart_routing'

export const section = queryOptions({
  queryKey: ['settings', 'smart_routing'],
  queryFn: ({ signal }) => ask<Section>('GET', place, { signal }),
})

/** @param version null: nothing of it is stored, which is version 0 */
export const saveSection = (body: object, version: number | null) =>
  ask<Omit<Section, 'schema'>>('PATCH', place, { body, ifMatch: version ?? 0 })
