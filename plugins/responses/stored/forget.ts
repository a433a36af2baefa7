import { defineStage, noConfig } from '../../../engine/index.ts'
import { forgetOnSocket, lastOnSocket } from './session.ts'

/**
 * Lets a socket forget the response that a failed turn wanted to go on with, so that trying again does not go on with
 * a state nobody is sure of. Where it was stored, it is found there again.
 */
export default defineStage({
  name: 'forget',
  summary: 'Forget the response that a failed turn on a socket wanted to continue.',
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
