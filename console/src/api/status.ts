import { queryOptions } from '@tanstack/react-query'
import { ask } from './ask.ts'
import type { Answers } from './answers.ts'

/** `GET /api/config/status`. */
export type ConfigurationStatus = Answers['get-configuration']

export type ConfigurationFinding = NonNullable<ConfigurationStatus['error']>['findings'][number]

/** Begins the keys of the queries whose answers another configuration may change, such as what plugins bring. */
export const configured = 'configured'

const key = ['config', 'status']

export const configurationStatus = queryOptions({
  queryKey: key,
  queryFn: async ({ client }) => {
    const status = await ask<ConfigurationStatus>('GET', '/api/config/status')
    const before = client.getQueryData<ConfigurationStatus>(key)
    if (before && before.version !== status.version) void client.invalidateQueries({ queryKey: [configured] })
    return status
  },
  refetchInterval: 10_000,
})
