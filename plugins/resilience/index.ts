import { definePlugin, defineSlot } from '../../engine/index.ts'
import errors from './error-codes.ts'
import answered from './answered.ts'
import breaker from './breaker.ts'
import listBreakers from './list-breakers.ts'
import { resetAllBreakers, resetBreakers } from './reset-breakers.ts'
import providerSelection from './provider-selection.ts'
import resilience from './resilience.ts'
import selectDeployment from './select-deployment.ts'

export default definePlugin({
  name: 'resilience',
  summary: 'Breakers, and the choice among the places of a model.',
  stability: 'stable',
  errors,
  slots: [
    defineSlot({ name: 'visit', summary: 'The call of a provider, as its breaker counts it.' }),
    defineSlot({ name: 'sticky', summary: 'Remembers which place of a model serves a conversation, or an API key.' }),
  ],
  services: [resilience, providerSelection],
  stages: [selectDeployment, breaker, answered],
  actions: [listBreakers, resetAllBreakers, resetBreakers],
})
