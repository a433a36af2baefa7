import { defineService } from '../../engine/index.ts'
import type { Metered, Pricing, Scope, Units, Usage } from '../../engine/index.ts'
import { costOf, isPlausible, usdOf } from './cost.ts'
import type { Use } from './cost.ts'

/** Computes money for other stages, so that an estimate and a bill follow the same rules. */
interface Prices {
  /** Cost in micro-USD; undefined: something is used that has no price. */
  costOf(usage: Usage | undefined, pricing: Pricing | undefined, units?: Units): number | undefined
  /** The same in USD, not rounded. */
  usdOf(usage: Usage | undefined, pricing: Pricing | undefined, units?: Units): number | undefined
  /**
   * Takes what a provider reported to have used for a try that failed. `price` bills it with the exchange. A report
   * without plausible usage is ignored.
   */
  addFailed(scope: Scope, pricing: Pricing | undefined, reported: Pick<Metered, 'usage' | 'units'>): void
}

declare module '../../engine/index.ts' {
  interface Services {
    prices: Prices
  }
}

/** What failed tries used, by exchange, oldest first. */
const failed = new WeakMap<Scope, readonly Use[]>()
const none: readonly Use[] = []

/** What the failed tries of an exchange used, as far as their providers reported it. */
export function usedByFailed(scope: Scope): readonly Use[] {
  return failed.get(scope) ?? none
}

const addFailed: Prices['addFailed'] = (scope, pricing, { usage, units }) => {
  if (usage === undefined || !isPlausible(usage)) return
  failed.set(scope, [...usedByFailed(scope), { usage, pricing, units }])
}

/** A service without settings, for the stages of other plugins. */
export default defineService({
  name: 'prices',
  summary: 'Computes what a use of a model costs.',
  open: () => ({ configure: () => ({ view: { costOf, usdOf, addFailed } }) }),
})
