import { GatewayError, defineStage } from '../../engine/index.ts'
import { jsonReply, readQuery, requesterOf } from '../../engine/kit.ts'

/** Closes breakers in every process: those of the provider that the path names, otherwise all. */
export default defineStage({
  name: 'reset-breakers',
  summary: 'Close the breakers of one provider, or all.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['of'],
    properties: {
      of: {
        enum: ['provider', 'all'],
        description: 'Which breakers: those of the provider in the path, or all.',
      },
    },
  } as const,
  uses: ['resilience'],
  body: ({ of }) => (of === 'all' ? noFields : modelField),
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    ({ of }, { catalog }, { resilience }) =>
    async ({ ingress, principal, input }, scope) => {
      readQuery(ingress.query)
      const provider = of === 'all' ? null : (ingress.params['provider'] ?? '')
      if (provider !== null && catalog.provider(provider) === undefined)
        throw new GatewayError('not_found', {}, { message: `There is no provider "${provider}".` })
      const model = typeof input['model'] === 'string' ? input['model'] : null
      const reset = await resilience.reset({ provider, model }, requesterOf(scope, { ingress, principal }))
      return { reply: jsonReply({ reset }) }
    },
})

const noFields = { type: 'object', additionalProperties: false, properties: {} } as const
const modelField = {
  type: 'object',
  additionalProperties: false,
  properties: {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Name of the model whose breaker is closed; absent: all models of the provider.',
    },
  },
} as const
