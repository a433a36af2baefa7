import { defineStage, noConfig } from '../../../engine/index.ts'
import type { Host, Ingress, Principal } from '../../../engine/index.ts'
import { askedFor } from './asked.ts'
import { deleteResponse } from './chain.ts'
import { stopJob } from './pending.ts'
import { idOf } from './record.ts'

/** Deletes the stored response named by `:response_id`, and aborts it if it is still in progress. */
export default defineStage({
  name: 'delete-response',
  summary: 'Delete a stored response.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, host) =>
    async ({ ingress, principal }) => {
      const id = await deleted(ingress, principal, host)
      const value = { id, object: 'response', deleted: true }
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})

async function deleted(ingress: Ingress, principal: Principal, host: Host): Promise<string> {
  const found = await askedFor(ingress, principal, host)
  // It has changed meanwhile, perhaps because it has ended.
  if (!(await deleteResponse(host.keyValue, found))) return deleted(ingress, principal, host)
  const { background, response } = found.record
  const id = idOf(found.record)
  if (background && response['status'] === 'in_progress') await stopJob(id, host)
  return id
}
