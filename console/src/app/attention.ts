import { queryOptions } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'

/** A row of `GET /api/config/circuit-breaker`. */
export interface Breaker {
  readonly provider: string
  readonly model: string | null
  readonly state: 'closed' | 'open' | 'half_open'
  readonly failures: number
  readonly requests: number
  readonly opened_at: string | null
  readonly retry_at: string | null
  readonly last_error: { readonly code: string; readonly status: number | null; readonly at: string } | null
}

/** The name of a circuit: each model of a provider may have its own. */
export const circuitOf = ({ provider, model }: Pick<Breaker, 'provider' | 'model'>): string =>
  model === null ? provider : `${provider} / ${model}`

export const breakers = queryOptions({
  queryKey: ['breakers'],
  queryFn: async () => (await ask<{ data: readonly Breaker[] }>('GET', '/api/config/circuit-breaker')).data,
  refetchInterval: 10_000,
})

/** What is read of `GET /api/health`, which everybody may ask. */
interface Health {
  readonly draining: boolean
  /** Names of parts that do not work as they should. */
  readonly degraded: readonly string[]
}

export const health = queryOptions({
  queryKey: ['health'],
  queryFn: () => ask<Health>('GET', '/api/health'),
  refetchInterval: 10_000,
})

/** What is read of `GET /api/logs/audit/verify`. */
export interface AuditVerdict {
  readonly first_bad: { readonly sequence: number; readonly reason: string } | null
}

const hour = 3_600_000
/** Where the browser keeps when the trail was last found to be whole. */
const verifiedAt = 'sluice-audit-verified'

/** Every row of the audit trail is read for it, so a browser asks once an hour. */
export const auditVerdict = queryOptions({
  queryKey: ['audit', 'verdict'],
  queryFn: async ({ signal }) => {
    const verdict = await ask<AuditVerdict>('GET', '/api/logs/audit/verify', { signal })
    if (verdict.first_bad === null) localStorage.setItem(verifiedAt, String(Date.now()))
    return verdict
  },
  initialData: { first_bad: null },
  initialDataUpdatedAt: () => Number(localStorage.getItem(verifiedAt)),
  staleTime: hour,
  refetchInterval: hour,
})

/** What is read of `GET /api/system/info`. */
export interface SystemInfo {
  readonly version: string
  readonly node: string
  readonly platform: string
  readonly started_at: string
  readonly instance: string
  readonly database: { readonly dialect: string; readonly bytes: number | null }
  readonly key_value: { readonly configured: boolean; readonly state: 'up' | 'down' | 'absent' }
  readonly log: { readonly queued: number; readonly dropped_rows: number }
  readonly master_secret: 'environment' | 'file'
}

export const systemInfo = queryOptions({
  queryKey: ['system', 'info'],
  queryFn: () => ask<SystemInfo>('GET', '/api/system/info'),
  refetchInterval: 30_000,
})

/** Lets requests go to a provider again whose circuit is open. */
export const resetBreaker = ({ provider, model }: Breaker) =>
  ask('POST', `/api/config/circuit-breaker/${encodeURIComponent(provider)}/reset`, {
    body: model === null ? {} : { model },
  })
