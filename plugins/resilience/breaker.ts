import { GatewayError, defineStage, noConfig, passedOver } from '../../engine/index.ts'
import type { Candidate, Scope } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Visit } from './health.ts'

declare module '../../engine/index.ts' {
  interface Slots {
    /** The call of a provider, from its admission to its end. */
    visit: Visit
  }
}

/**
 * Passes over a candidate whose breaker is open, and counts how the calls of the others end. The last candidate is
 * called in any case, but not again after it has failed.
 */
export default defineStage({
  name: 'breaker',
  summary: 'Pass over providers that fail.',
  config: noConfig,
  uses: ['resilience'],
  needs: ['model'],
  reads: ['candidates'],
  provides: ['visit'],
  settles: [],
  build:
    (_, __, { resilience }) =>
    ({ model, candidates = [] }, scope, settle) => {
      const last = candidates.at(-1)
      const visit = resilience.visit(model, last === undefined || (last === model && !wasAsked(model, scope)))
      if (visit === undefined)
        throw new GatewayError('breaker_open', { model: model.model.name }, { tags: [passedOver, '5xx'] })
      settle((_slots, { error }) => visit.ended(error))
      return { visit }
    },
})

/** Whether this exchange has called a candidate before. */
function wasAsked({ model, provider }: Candidate, { attempt, notes }: Scope): boolean {
  const tries = attempt > 1 ? notes.get('tries') : undefined
  if (!Array.isArray(tries)) return false
  return tries.some(
    (one) =>
      isObject(one) &&
      one['model'] === model.name &&
      one['provider'] === provider.name &&
      one['code'] !== 'breaker_open',
  )
}
