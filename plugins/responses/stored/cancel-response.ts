import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import type { Host, Ingress, JsonObject, Principal } from '../../../engine/index.ts'
import { text } from '../values.ts'
import { askedFor } from './asked.ts'
import { stopJob } from './pending.ts'
import { idOf, writeResponse } from './record.ts'
import type { StoredResponse } from './record.ts'

/**
 * Cancels the background response named by `:response_id`, in whichever process it runs. A cancelled response is
 * returned unchanged. Any other response that is not in progress is rejected with `response_not_cancellable`.
 */
export default defineStage({
  name: 'cancel-response',
  summary: 'Cancel a background response.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, host) =>
    async ({ ingress, principal }) => {
      const value = await cancelled(ingress, principal, host)
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})

async function cancelled(ingress: Ingress, principal: Principal, host: Host): Promise<JsonObject> {
  const { record, version } = await askedFor(ingress, principal, host)
  if (record.background && record.response['status'] === 'cancelled') return record.response
  const reason = uncancellable(record)
  if (reason !== undefined) throw new GatewayError('response_not_cancellable', { reason }, { shouldRetry: false })
  const response = { ...record.response, status: 'cancelled' }
  const unkept = await writeResponse(host.keyValue, { ...record, response }, { version })
  // It has changed meanwhile, perhaps because it has ended.
  if (unkept !== undefined) return cancelled(ingress, principal, host)
  await stopJob(idOf(record), host)
  return response
}

function uncancellable({ background, response }: StoredResponse): string | undefined {
  const { status } = response
  if (!background)
    return 'Cannot cancel a synchronous response: only one made with "background": true can be cancelled.'
  return status === 'in_progress'
    ? undefined
    : `Cannot cancel a response that has ended: its status is ${text(status) ?? 'unknown'}.`
}
