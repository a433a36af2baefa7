import { defineStage, noConfig } from '../../../engine/index.ts'
import { forgetOnSocket, lastOnSocket } from './session.ts'

/**
 * Makes a socket forget the response that a failed turn continued, so that a retry does not continue from an uncertain
 * state. If the response was stored, a retry finds it in the store.
 */
export default defineStage({
  name: 'forget',
  summary: 'Forget the response that a failed turn on a socket continued.',
  config: noConfig,
  needs: ['outcome'],
  reads: ['ingress', 'request'],
  provides: [],
  build:
    () =>
    ({ outcome, ingress, request }) => {
      const id = request?.sent['previous_response_id']
      if (outcome.result === 'failed' && typeof id === 'string' && lastOnSocket(ingress)?.response['id'] === id)
        forgetOnSocket(ingress)
      return {}
    },
})
