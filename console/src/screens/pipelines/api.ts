import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { ConfigurationFinding } from '../../app/status.ts'
import type { Bounds } from '../../parts/useRange.ts'
import type { Plan } from '../../picture/plan.ts'
import type { Span, StepTimes, Try } from '../../picture/runs.ts'

/** A pipeline of `GET /api/config/pipelines`. */
export interface ListedPipeline {
  readonly name: string
  readonly file: string
  readonly summary: string
  readonly protocol: string | null
  readonly routes: readonly { readonly method: string; readonly path: string; readonly access: string }[]
  readonly inputs: readonly string[]
  /** The pipelines that it includes. */
  readonly uses: readonly string[]
}

/** `GET /api/config/pipelines/:name`. */
export interface WholePipeline extends ListedPipeline, Plan {
  /** What it runs, if it runs actions. */
  readonly actions?: readonly {
    readonly name: string
    readonly summary: string
    readonly route: string
    readonly access: string
  }[]
  /** Duties that it need not pay. */
  readonly without?: readonly string[]
  readonly yaml: string
  readonly times: { readonly since: string; readonly data: readonly StepTimes[] }
  readonly error: { readonly at: string; readonly findings: readonly ConfigurationFinding[] } | null
}

export interface LoggedRequest {
  readonly id: string
  readonly at: string
  readonly spans: readonly Span[]
  readonly tries: readonly Try[]
  readonly metadata: { readonly pipeline?: string }
}

export const pipelineList = queryOptions({
  queryKey: ['config', 'pipelines'],
  queryFn: async () => (await ask<{ readonly data: readonly ListedPipeline[] }>('GET', '/api/config/pipelines')).data,
})

export const onePipeline = (name: string) =>
  queryOptions({
    queryKey: ['config', 'pipelines', name],
    queryFn: () => ask<WholePipeline>('GET', `/api/config/pipelines/${encodeURIComponent(name)}`),
  })

export const oneRequest = (id: string) =>
  queryOptions({
    queryKey: ['logs', id],
    queryFn: () => ask<LoggedRequest>('GET', `/api/logs/${encodeURIComponent(id)}`),
  })

interface Usage {
  readonly data: readonly { readonly group: { readonly protocol?: string }; readonly requests: number }[]
}

/** Requests per protocol in a range. */
export const protocolCounts = (key: string, bounds: () => Bounds) =>
  queryOptions({
    queryKey: ['logs', 'usage', 'protocol', key],
    queryFn: async () => {
      const query = { ...bounds(), group_by: 'protocol', interval: 'none' }
      const { data } = await ask<Usage>('GET', '/api/logs/usage', { query })
      return new Map(data.map(({ group, requests }) => [group.protocol, requests]))
    },
  })
