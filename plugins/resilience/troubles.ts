import type { JsonObject, Records, Services } from '../../engine/index.ts'
import { defined, isObject, timeText } from '../../engine/kit.ts'
import type { BreakerRow, PooledKey } from './breaker-rows.ts'

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

/** Breakers that are open, and providers whose keys all rest. */
export function troubles(
  { breakers, keys }: { readonly breakers: readonly BreakerRow[]; readonly keys: readonly PooledKey[] },
  countOf: (provider: string) => number,
): readonly Cause[] {
  const open = breakers.filter(({ state }) => state !== 'closed')
  const resting = Map.groupBy(keys, ({ provider }) => provider)
  const spent = [...resting].filter(([provider, own]) => own.length >= countOf(provider))
  return [...open.map(openCircuit), ...spent.map(([provider, own]) => restingKeys(provider, own))]
}

function openCircuit({ provider, model, state, failures, openedAt, retryAt, lastError }: BreakerRow): Cause {
  const facts = {
    provider,
    ...defined({ model: model ?? undefined }),
    state,
    failures,
    ...(lastError && { error: lastError.code, status: lastError.status }),
    ...(retryAt !== null && { retry_at: timeText(retryAt) }),
  }
  return {
    cause: 'circuit',
    key: `circuit ${JSON.stringify([provider, model])}`,
    subject: model === null ? provider : `${provider} / ${model}`,
    facts,
    ...(openedAt !== null && { since: openedAt }),
    path: `/providers/${encodeURIComponent(provider)}`,
  }
}

function restingKeys(provider: string, keys: readonly PooledKey[]): Cause {
  const until = Math.min(...keys.map((key) => key.until))
  const facts = {
    provider,
    keys: keys.length,
    because: [...new Set(keys.map(({ because }) => because))],
    until: timeText(until),
  }
  const path = `/providers/${encodeURIComponent(provider)}`
  return { cause: 'provider_keys', key: `provider_keys ${provider}`, subject: provider, facts, path }
}

/** How many keys a provider has. */
export function keysOf(record: Records['provider'] | undefined): number {
  const { config } = (record ?? {}) as { readonly config?: unknown }
  const all: JsonObject = isObject(config) ? config : ((record ?? {}) as unknown as JsonObject)
  const { api_keys: keys } = all
  return Array.isArray(keys) ? Math.max(1, keys.length) : 1
}
