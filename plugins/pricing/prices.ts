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
  /**
   * Says that a provider is being asked, which may cost anything. Returns a function to call if it refused, or was never
   * reached: then it costs what `addFailed` was told, else nothing.
   */
  asks(scope: Scope): () => void
}

declare module '../../engine/index.ts' {
  interface Services {
    prices: Prices
  }
}

/** The tries of an exchange. */
interface Tries {
  /** What failed ones used, as far as their providers reported it, oldest first; absent: nothing. */
  used?: Use[]
  /** How many may have used anything. */
  open: number
}

const tries = new WeakMap<Scope, Tries>()

/** The tries of an exchange; undefined: no provider was asked. */
export function triesOf(scope: Scope): Readonly<Tries> | undefined {
  return tries.get(scope)
}

function changed(scope: Scope): Tries {
  let known = tries.get(scope)
  if (!known) tries.set(scope, (known = { open: 0 }))
  return known
}

const addFailed: Prices['addFailed'] = (scope, pricing, { usage, units }) => {
  if (usage === undefined || !isPlausible(usage)) return
  const known = changed(scope)
  known.used = [...(known.used ?? []), { usage, pricing, units }]
  const micros = scope.call && costOf(usage, pricing, units)
  const cost = { micros, origin: micros === undefined ? 'unknown' : 'reported' } as const
  scope.call?.tell({ metered: { usage, ...(units && { units }) }, cost })
}

const asks: Prices['asks'] = (scope) => {
  const known = changed(scope)
  known.open += 1
  return () => void (known.open -= 1)
}

/** A service without settings, for the stages of other plugins. */
export default defineService({
  name: 'prices',
  summary: 'Computes what a use of a model costs.',
  open: () => ({ configure: () => ({ view: { costOf, usdOf, addFailed, asks } }) }),
})
