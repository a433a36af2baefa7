import { queryOptions } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'

/** `GET /api/config/status`. */
export interface ConfigurationStatus {
  readonly version: string
  readonly loaded_at: string
  readonly files: readonly string[]
  readonly error: { readonly at: string; readonly findings: readonly ConfigurationFinding[] } | null
  readonly processes: readonly { readonly id: string; readonly version: string; readonly current: boolean }[]
  /** One sentence for each thing that is switched off. */
  readonly off: readonly string[]
  /** What strangers may use; absent: nothing is known. */
  readonly risks?: readonly ConfigurationFinding[]
}

export interface ConfigurationFinding {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
}

export const configurationStatus = queryOptions({
  queryKey: ['config', 'status'],
  queryFn: () => ask<ConfigurationStatus>('GET', '/api/config/status'),
  refetchInterval: 10_000,
})
