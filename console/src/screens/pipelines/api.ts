import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import type { Bounds } from '../../parts/useRange.ts'
import type { Plan } from '../../picture/plan.ts'

/** A pipeline of `GET /api/config/pipelines`. */
export type ListedPipeline = Row<'list-pipelines'>

/** `GET /api/config/pipelines/:name`, with steps as the engine describes them. */
export type WholePipeline = Omit<Answers['get-pipeline'], keyof Plan> & Plan

export type LoggedRequest = Answers['get-request']

export const pipelineList = queryOptions({
  queryKey: ['config', 'pipelines'],
  queryFn: async () => (await ask<Answers['list-pipelines']>('GET', '/api/config/pipelines')).data,
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

/** Requests per protocol in a range. */
export const protocolCounts = (key: string, bounds: () => Bounds) =>
  queryOptions({
    queryKey: ['logs', 'usage', 'protocol', key],
    queryFn: async () => {
      const query = { ...bounds(), group_by: 'protocol', interval: 'none' }
      const { data } = await ask<Answers['get-usage']>('GET', '/api/logs/usage', { query })
      return new Map(data.map(({ group, requests }) => [group.protocol ?? undefined, requests]))
    },
  })
