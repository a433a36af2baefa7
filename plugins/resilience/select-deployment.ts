import { defineStage } from '../../engine/index.ts'
import type { Candidate } from '../../engine/index.ts'

/** Puts the places of each model in the order in which they are asked. */
export default defineStage({
  name: 'select-deployment',
  summary: 'Choose which place of a model is asked first.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      models: {
        enum: ['all', 'first'],
        default: 'all',
        description:
          'Whose places stay in line. all: those of all models; first: those of the first model alone, without its fallbacks.',
      },
    },
  } as const,
  uses: ['provider_selection', 'conversations'],
  needs: ['request', 'candidates'],
  reads: ['principal'],
  provides: ['candidates'],
  gives: ['sticky'],
  build:
    ({ models }, _, { provider_selection: selection, conversations }) =>
    ({ request, candidates, principal }) =>
      selection.order(models === 'all' ? candidates : ofFirst(candidates), () => {
        if (principal === undefined) return undefined
        return selection.sticky === 'key' ? conversations.ofKey(principal) : conversations.of(request, principal)
      }),
})

function ofFirst(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ model }) => model.name === candidates[0]?.model.name)
}
