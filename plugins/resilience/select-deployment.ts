import { defineStage, noConfig } from '../../engine/index.ts'

/** Puts the places of each model in the order in which they are asked. */
export default defineStage({
  name: 'select-deployment',
  summary: 'Choose which place of a model is asked first.',
  config: noConfig,
  uses: ['provider_selection', 'conversations'],
  needs: ['request', 'candidates'],
  reads: ['principal'],
  provides: ['candidates'],
  gives: ['sticky'],
  build:
    (_, __, { provider_selection: selection, conversations }) =>
    ({ request, candidates, principal }) =>
      selection.order(candidates, () => {
        if (principal === undefined) return undefined
        return selection.sticky === 'key' ? conversations.ofKey(principal) : conversations.of(request, principal)
      }),
})
