import { defineStage, noConfig } from '../../engine/index.ts'

/** Notes that a provider has begun to answer. It stands after `call`, in an attempt with a `breaker`. */
export default defineStage({
  name: 'answered',
  summary: 'Tell the breaker that the provider answers, and how fast.',
  config: noConfig,
  needs: ['answer', 'visit'],
  provides: [],
  build:
    () =>
    ({ visit }) => {
      visit.answered()
      return {}
    },
})
