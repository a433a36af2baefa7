import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from './answers.ts'
import { ask } from './ask.ts'

/** A row of `GET /api/config/circuit-breaker`. */
export type Breaker = Row<'list-breakers'>

/** The name of a circuit: each model of a provider may have its own. */
export const circuitOf = ({ provider, model }: Pick<Breaker, 'provider' | 'model'>): string =>
  model === null ? provider : `${provider} / ${model}`

export const breakers = queryOptions({
  queryKey: ['breakers'],
  queryFn: async () => (await ask<Answers['list-breakers']>('GET', '/api/config/circuit-breaker')).data,
  refetchInterval: 10_000,
})

/** What is wrong now, and how those do who are told. */
type Notifications = Pick<Answers['list-notifications'], 'open' | 'targets'>

/** Something that is wrong now: a row of `GET /api/notifications`. */
export type Cause = Notifications['open'][number]

export type Target = Notifications['targets'][number]

export const notifications = queryOptions({
  queryKey: ['notifications'],
  queryFn: () => ask<Notifications>('GET', '/api/notifications'),
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
export type AuditVerdict = Pick<Answers['verify-audit'], 'first_bad'>

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
export type SystemInfo = Answers['get-system']

export const systemInfo = queryOptions({
  queryKey: ['system', 'info'],
  queryFn: () => ask<SystemInfo>('GET', '/api/system/info'),
  refetchInterval: 30_000,
})

/** Lets requests go to a provider again whose circuit is open. */
export const resetBreaker = ({ provider, model }: Pick<Breaker, 'provider' | 'model'>) =>
  ask('POST', `/api/config/circuit-breaker/${encodeURIComponent(provider)}/reset`, {
    body: model === null ? {} : { model },
  })

/**
 * Whether the gateway serves another build of the console by now. The names of its scripts have a hash of their content,
 * so one that this page has not loaded is of another build.
 */
export const newerBuild = queryOptions({
  queryKey: ['console', 'build'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/', {
      headers: { accept: 'text/html' },
      cache: 'no-store',
      credentials: 'omit',
      signal,
    })
    if (!response.ok) return false
    const loaded = new Set([...document.scripts].map(({ src }) => src && new URL(src).pathname))
    const served = [...(await response.text()).matchAll(/<script [^>]*src="([^"]+)"/g)]
    return served.some(([, src = '']) => !loaded.has(src))
  },
  refetchInterval: 60_000,
})
