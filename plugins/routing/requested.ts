import { GatewayError, defineStage } from '../../engine/index.ts'
import { candidatesMaker, pinningOptions } from './candidates-of-model.ts'

/**
 * Makes the requested model and then its fallbacks the candidates of the request, each at all its places. A request
 * without a model gets the name of its target, so that it can be validated afterwards.
 */
export default defineStage({
  name: 'requested',
  summary: 'Make the requested model and its fallbacks the candidates.',
  config: { type: 'object', additionalProperties: false, properties: pinningOptions } as const,
  needs: ['request', 'target'],
  provides: ['request', 'candidates'],
  build: (options, host) => {
    const candidatesOf = candidatesMaker(options, host)
    return ({ request, target: { name, model } }) => {
      if (!model) throw new GatewayError('model_not_found', { model: name }, { param: 'model' })
      return candidatesOf(model, name, request)
    }
  },
})
