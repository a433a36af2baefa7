import { defineService } from '../../engine/index.ts'
import type { Pricing, Units, Usage } from '../../engine/index.ts'
import { costOf, usdOf } from './cost.ts'

/** Computes money for other stages, so that an estimate and a bill follow the same rules. */
interface Prices {
  /** Cost in micro-USD; undefined: something is used that has no price. */
  costOf(usage: Usage | undefined, pricing: Pricing | undefined, units?: Units): number | undefined
  /** The same in USD, not rounded. */
  usdOf(usage: Usage | undefined, pricing: Pricing | undefined, units?: Units): number | undefined
}

declare module '../../engine/index.ts' {
  interface Services {
    prices: Prices
  }
}

/** A service without state or settings, for the stages of other plugins. */
export default defineService({
  name: 'prices',
  summary: 'Computes what a use of a model costs.',
  open: () => ({ configure: () => ({ view: { costOf, usdOf } }) }),
})
