import { queryOptions } from '@tanstack/react-query'
import { ask } from './ask.ts'
import type { Answers } from './answers.ts'

/** `GET /api/config/status`. */
export type ConfigurationStatus = Answers['get-configuration']

export type ConfigurationFinding = NonNullable<ConfigurationStatus['error']>['findings'][number]

export const configurationStatus = queryOptions({
  queryKey: ['config', 'status'],
  queryFn: () => ask<ConfigurationStatus>('GET', '/api/config/status'),
  refetchInterval: 10_000,
})
