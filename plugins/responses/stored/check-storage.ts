import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { pendingAccount } from './pending.ts'
import { ownerOf, storageAccount } from './record.ts'
import { storing } from './store.ts'

/**
 * Rejects a request with `storage_exceeded`, before any provider is called, if its API key has no room for the response:
 * `server_config.request_policy.stored_responses`. The limit holds across processes; simultaneous requests may
 * pass together.
 */
export default defineStage({
  name: 'check-storage',
  summary: 'Reject a request if its API key has no room for the response.',
  config: noConfig,
  needs: ['request'],
  reads: ['principal'],
  provides: ['request'],
  uses: ['stored_responses'],
  build:
    (_, { keyValue, log }, { stored_responses: { stored_responses: most } }) =>
    async ({ principal, request }, scope) => {
      if (!principal || !storing(request)) return { request }
      const owner = ownerOf(principal)
      try {
        const stored = await keyValue.used(storageAccount(owner))
        if (stored.count >= most.count) throw full(`it has stored ${stored.count} (at most ${most.count}).`)
        if (stored.bytes >= most.bytes)
          throw full(`those it has stored take ${stored.bytes} bytes (at most ${most.bytes}).`)
        if (!request.background) return { request }
        const { count } = await keyValue.used(pendingAccount(owner))
        if (count >= most.background) throw busy(count, most.background)
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== 'store_unavailable') throw error
        log.debug({ reason: error.message }, 'what an API key has stored could not be counted')
        // A failing store costs no client its answer. A background response is rejected when it is to be stored.
        if (!request.background) {
          scope.note('not_stored', 'the store failed')
          return { request: request.rewrite(unstored, [lost]) }
        }
      }
      return { request }
    },
})

const lost = { field: 'store', because: 'the gateway cannot reach its data store' }

function unstored(body: JsonObject): JsonObject {
  return { ...body, store: false }
}

const remedy =
  'Delete some with DELETE /v1/responses/{response_id}, wait (each is kept for 24 hours), or send "store": false.'

function full(reason: string): GatewayError {
  return new GatewayError('storage_exceeded', { reason: `${reason} ${remedy}` }, { shouldRetry: false })
}

function busy(count: number, most: number): GatewayError {
  const reason = `${count} in the background have not ended (at most ${most}). Wait for them, or cancel some with POST /v1/responses/{response_id}/cancel.`
  return new GatewayError('storage_exceeded', { reason }, { shouldRetry: false })
}
