import { defineStage, noConfig } from '../../engine/index.ts'

/** Sets the cost of a session: the sum of what each of its turns and transcriptions costs at the model that served it. */
export default defineStage({
  name: 'price-session',
  summary: 'Set the cost of a realtime session, turn by turn.',
  config: noConfig,
  needs: ['bill'],
  reads: ['session'],
  provides: ['bill'],
  build:
    () =>
    ({ bill, session }) => {
      if (session === undefined) return { bill }
      const { micros } = session
      if (micros === undefined) return { bill: { ...bill, cost: { micros: undefined, origin: 'unknown' } } }
      const { estimated = false } = session.read()
      return { bill: { ...bill, cost: { micros: Math.round(micros), origin: estimated ? 'estimated' : 'reported' } } }
    },
})
