import { defineAction } from '../../engine/index.ts'
import { shape } from '../../engine/kit.ts'

/** Forgets what was learned of one model, or of all, in every process. */
export default defineAction({
  name: 'reset-experience',
  summary: 'Forget what was learned of a model, or of all.',
  route: 'POST /api/routing/experience/reset',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ model: 'my-model' }],
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
  },
  answer: shape.object({ reset: shape.integer('How many places of models were forgotten.') }),
  writes: 'own audit row',
  uses: ['experience'],
  run: async ({ body: { model }, by }, { experience }) => ({ reset: await experience.reset(model, by) }),
})
