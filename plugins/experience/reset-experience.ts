import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, requesterOf } from '../../engine/kit.ts'

/** Forgets what was learned of one model, or of all, in every process. */
export default defineStage({
  name: 'reset-experience',
  summary: 'Forget what was learned of a model, or of all.',
  config: noConfig,
  uses: ['experience'],
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      model: {
        type: 'string',
        title: 'Model',
        minLength: 1,
        maxLength: 256,
        // No database text holds a null character or half of a surrogate pair.
        pattern: '^[^\\0\\p{Cs}]*$',
        patternErrorMessage: 'must be text',
        description: 'Name of the model, which the configuration may have no more; absent: all models.',
      },
    },
  } as const,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, __, { experience }) =>
    async ({ ingress, principal, input }, scope) => {
      readQuery(ingress.query)
      const reset = await experience.reset(input.model, requesterOf(scope, { ingress, principal }))
      return { reply: jsonReply({ reset }) }
    },
})
