import { GatewayError, defineStage, noConfig } from '../../../../engine/index.ts'
import { askedFor } from './asked.ts'
import { deleteResponse, idOf } from './record.ts'

/** Deletes a stored response, by the path's `:response_id`. */
export default defineStage({
  name: 'delete-response',
  summary: 'Delete a stored response.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, { keyValue }) =>
    async ({ ingress, principal }) => {
      const found = await askedFor(ingress, principal, keyValue)
      const id = idOf(found.record)
      if (!(await deleteResponse(keyValue, found)))
        throw new GatewayError('response_not_found', { id: id.slice(0, 128) })
      const value = { id, object: 'response', deleted: true }
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})
