import { defineStage, noConfig } from '../../engine/index.ts'

/** Notes which provider has begun to answer. It stands after what calls the provider, in an attempt with a `breaker`. */
export default defineStage({
  name: 'answered',
  summary: 'Note that the provider answers, and how fast.',
  config: noConfig,
  needs: ['visit', 'model'],
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
