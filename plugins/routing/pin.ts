import { GatewayError, defineStage } from '../../engine/index.ts'
import { candidatesMaker, pinningOptions } from './candidates-of-model.ts'

/** Makes a model that the operator names, and then its fallbacks, the candidates of every request, whatever model it names. */
export default defineStage({
  name: 'pin',
  summary: 'Make a model of your choice and its fallbacks the candidates, in place of the requested one.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['model'],
    requiredErrorMessage: '"pin" names a "model"; for the requested model and its fallbacks write "requested"',
    properties: {
      model: { type: 'string', 'x-names': 'model', description: 'Model that replaces the requested one.' },
      ...pinningOptions,
    },
  } as const,
  needs: ['request'],
  provides: ['request', 'candidates'],
  build: ({ model: name, ...options }, host) => {
    const candidatesOf = candidatesMaker(options, host)
    return ({ request }) => {
      const model = host.catalog.find(name)
      if (!model) throw new GatewayError('model_not_found', { model: name }, { param: 'model' })
      return candidatesOf(model, name, request)
    }
  },
})
