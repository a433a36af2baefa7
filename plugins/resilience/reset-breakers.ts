import { GatewayError, defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

const declared = {
  access: { role: 'admin' },
  answer: shape.object({ reset: shape.integer('How many breakers were closed.') }),
  writes: 'own audit row',
  uses: ['resilience'],
} as const

/** Closes all breakers in every process. */
export const resetAllBreakers = defineAction({
  ...declared,
  name: 'reset-all-breakers',
  summary: 'Close all breakers.',
  route: 'POST /api/config/circuit-breaker/reset',
  body: { type: 'object', additionalProperties: false, properties: {} },
  run: async ({ by }, { resilience }) => ({ reset: await resilience.reset({ provider: null, model: null }, by) }),
})

/** Closes the breakers of a provider in every process. */
export const resetBreakers = defineAction({
  ...declared,
  name: 'reset-breakers',
  summary: 'Close the breakers of a provider, or the one of a model there.',
  route: 'POST /api/config/circuit-breaker/:provider/reset',
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ model: 'my-model' }],
    properties: {
      model: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'Name of the model whose breaker is closed; absent: all models of the provider.',
      },
    },
  },
  async run({ params: { provider }, body: { model = null }, by }, { resilience }, _scope, { catalog }) {
    if (catalog.provider(provider) === undefined)
      throw new GatewayError('not_found', {}, { message: `There is no provider "${provider}".` })
    return { reset: await resilience.reset({ provider, model }, by) }
  },
})
