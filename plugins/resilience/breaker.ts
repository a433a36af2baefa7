import { GatewayError, defineStage, noConfig, passedOver } from '../../engine/index.ts'
import type { Candidate, Scope } from '../../engine/index.ts'
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
  pays: ['breaker'],
  settles: [],
  build:
    (_, __, { resilience }) =>
    ({ model, candidates = [] }, scope, settle) => {
      const last = candidates.at(-1)
      const visit = resilience.visit(model, last === undefined || (last === model && !wasAsked(model, scope)))
      if (visit === undefined)
        throw new GatewayError('breaker_open', { model: model.model.name }, { tags: [passedOver, '5xx'] })
      settle((_slots, { error }) => {
        visit.ended(error)
        if (error) noteFailure(model, scope)
      })
      return { visit }
    },
})

/** The candidates that have failed, by exchange. A model may have several places at one provider. */
const failed = new WeakMap<Scope, Set<Candidate>>()

function noteFailure(candidate: Candidate, scope: Scope): void {
  const known = failed.get(scope)
  if (known) known.add(candidate)
  else failed.set(scope, new Set([candidate]))
}

/** Whether this exchange has called a candidate before. */
function wasAsked(candidate: Candidate, scope: Scope): boolean {
  return scope.attempt > 1 && failed.get(scope)?.has(candidate) === true
}
