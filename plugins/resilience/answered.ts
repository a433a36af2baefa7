import { defineStage } from '../../engine/index.ts'

/** Notes which provider has begun to answer. It stands after what calls the provider, in an attempt with a `breaker`. */
export default defineStage({
  name: 'answered',
  summary: 'Note that the provider answers, and how fast.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      counts: {
        enum: ['end', 'beginning'],
        default: 'end',
        description:
          'What the breaker counts. end: an answer that breaks off is a failure; beginning: an answer that has begun is a success.',
      },
    },
  } as const,
  needs: ['visit', 'model'],
  reads: ['sticky'],
  provides: [],
  pays: ['answered'],
  build:
    ({ counts }) =>
    ({ visit, model, sticky }) => {
      visit.answered(counts === 'beginning')
      sticky?.remember(model)
      return {}
    },
})
