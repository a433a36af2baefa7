import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
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

export const request = (id: string) =>
  queryOptions({
    queryKey: ['logs', id],
    queryFn: ({ signal }) => ask<Answers['get-request']>('GET', `/api/logs/${encodeURIComponent(id)}`, { signal }),
  })

/** How a request would be routed; `key` is the name of the key that would send it. */
export const preview = (body: { model: Mode; prompt: string; key?: string; settings?: object }) =>
  ask<Answers['preview-routing']>('POST', '/api/routing/preview', { body })

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

/** `GET /api/config/server/smart_routing`. */
export type Section = Answers['get-section']

const place = '/api/config/server/smart_routing'

export const section = queryOptions({
  queryKey: ['settings', 'smart_routing'],
  queryFn: ({ signal }) => ask<Section>('GET', place, { signal }),
})

/** @param version null: nothing of it is stored, which is version 0 */
export const saveSection = (body: object, version: number | null) =>
  ask<Answers['change-section']>('PATCH', place, { body, ifMatch: version ?? 0 })
