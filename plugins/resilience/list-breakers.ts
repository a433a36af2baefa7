import { defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'
import type { BreakerRow, PooledKey } from './breaker-rows.ts'

/** Answers the breakers of all processes, one row per provider and model, and the keys that cool down. */
export default defineStage({
  name: 'list-breakers',
  summary: 'List the breakers of all processes, and the keys of providers that cool down.',
  config: noConfig,
  uses: ['resilience'],
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, __, { resilience }) =>
    async ({ ingress }) => {
      readQuery(ingress.query)
      const { breakers, keys } = await resilience.all()
      return { reply: jsonReply({ data: breakers.map(rowOf), keys: keys.map(keyOf) }) }
    },
})

function rowOf(row: BreakerRow): JsonObject {
  const { provider, model, state, failures, requests, openedAt, retryAt, openedTimes, lastError, processes } = row
  return {
    provider,
    model,
    state,
    failures,
    requests,
    ratio: requests === 0 ? 0 : failures / requests,
    opened_at: openedAt === null ? null : timeText(openedAt),
    retry_at: retryAt === null ? null : timeText(retryAt),
    opened_times: openedTimes,
    last_error: lastError && { code: lastError.code, status: lastError.status, at: timeText(lastError.at) },
    processes: { ...processes },
  }
}

function keyOf({ provider, hint, until, because }: PooledKey): JsonObject {
  return { provider, hint, cooling_until: timeText(until), because }
}
