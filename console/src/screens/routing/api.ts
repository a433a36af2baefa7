import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Sourced } from '../../form/Origin.tsx'
import type { Schema } from '../../form/schema.ts'
import type { RoutingBlock, RoutingPreview } from '../../parts/decision.ts'
import type { Signal } from '../../parts/Rating.tsx'
import type { Range } from '../../parts/useRange.ts'

export const modes = ['fast', 'auto', 'best'] as const
export type Mode = (typeof modes)[number]

/** How many of the latest requests are shown, and decided again by other settings. */
export const latest = 200

/** An item of `GET /api/routing/decisions`. Money in USD. */
export type DecisionRow = Row<'list-decisions'>

export const decisions = (range: Range) =>
  queryOptions({
    queryKey: ['routing', 'decisions', range.key],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), limit: latest }
      return (await ask<Answers['list-decisions']>('GET', '/api/routing/decisions', { query, signal })).data
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
    const { data } = await ask<Answers['list-api-key']>('GET', '/api/api-keys', {
      query: { limit: 200 },
      signal,
    })
    return data.map(({ name }) => name)
  },
})

/** A request of the past, and what other settings would have made of it. */
export type Replayed = Row<'replay-routing'>

export type Replay = Answers['replay-routing']

export const replay = (settings: object, since: string) =>
  ask<Replay>('POST', '/api/routing/replay', { body: { settings, since, limit: latest } })

/** What was learned of a model in a mode and tier: its answer is good enough with a probability from a Beta distribution. */
export type Learned = Row<'list-experience'>

export const experience = queryOptions({
  queryKey: ['routing', 'experience'],
  queryFn: async ({ signal }) =>
    (await ask<Answers['list-experience']>('GET', '/api/routing/experience', { signal })).data,
})

/** @param model undefined: all */
export const forget = (model: string | undefined) =>
  ask<Answers['reset-experience']>('POST', '/api/routing/experience/reset', {
    body: model === undefined ? {} : { model },
  })

export type Agreed = Row<'get-judge-agreement'>

export const agreement = (range: Range) =>
  queryOptions({
    queryKey: ['routing', 'agreement', range.key],
    queryFn: async ({ signal }) => {
      const query = { since: range.bounds().since }
      return (await ask<Answers['get-judge-agreement']>('GET', '/api/routing/judge/agreement', { query, signal })).data
    },
  })

/** What the judge has cost in a range, in USD; null: unknown. */
export const judgeCost = (range: Range) =>
  queryOptions({
    queryKey: ['logs', 'stats', range.key, 'judge'],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), type: 'judge' }
      return (await ask<Answers['get-stats']>('GET', '/api/logs/stats', { query, signal })).cost
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
