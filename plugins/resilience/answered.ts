import { defineStage, noConfig } from '../../engine/index.ts'

/** Notes which provider has begun to answer. It stands after `call`, in an attempt with a `breaker`. */
export default defineStage({
  name: 'answered',
  summary: 'Note that the provider answers, and how fast.',
  config: noConfig,
  needs: ['answer', 'visit', 'model'],
  reads: ['sticky'],
  provides: [],
  build:
    () =>
    ({ visit, model, sticky }) => {
      visit.answered()
      sticky?.remember(model)
      return {}
    },
})
