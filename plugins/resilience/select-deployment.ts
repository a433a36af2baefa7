import { defineStage, noConfig } from '../../engine/index.ts'
import { conversationOf } from './conversation-key.ts'

/** Puts the places of each model in the order in which they are asked. */
export default defineStage({
  name: 'select-deployment',
  summary: 'Choose which place of a model is asked first.',
  config: noConfig,
  uses: ['provider_selection'],
  needs: ['request', 'candidates'],
  reads: ['principal'],
  provides: ['candidates'],
  gives: ['sticky'],
  build:
    (_, __, { provider_selection: selection }) =>
    ({ request, candidates, principal }) =>
      selection.order(candidates, () => {
        if (principal === undefined) return undefined
        if (selection.sticky === 'key') return principal.id
        const conversation = conversationOf(request)
        return conversation === undefined ? undefined : `${principal.id} ${conversation}`
      }),
})
