/** What may be spent in each period of the calendar (UTC). */
export interface Limit {
  /** USD. */
  readonly usd: number
  readonly period: 'day' | 'week' | 'month' | 'total'
}

/** A budget as the API answers it: the limit, and what became of it in the running period, in USD. */
export interface Budget extends Limit {
  readonly spent: number
  /** Kept back for requests that are under way. */
  readonly held: number
  /** Null: never, since the period is `total`. */
  readonly resets_at: string | null
}

/** Something with a budget that has to admit a request: a key, its owner, the gateway. */
export interface Bucket {
  readonly id: string
  /** Its name. */
  readonly whose: string
  /** Its page. */
  readonly to?: string | undefined
  /** Absent: how much was spent is not told. */
  readonly budget?: Budget | undefined
  /** What is told where the budget is not. */
  readonly words?: string
  /** Whether it is known to admit nothing. */
  readonly usedUp?: boolean
}

/** The part of a budget that is spent, and the part that is spent or held. A budget of nothing is used up at once. */
export function partsOf({ usd, spent, held }: Budget): { readonly spent: number; readonly taken: number } {
  if (usd === 0) return { spent: 1, taken: 1 }
  return { spent: Math.min(1, spent / usd), taken: Math.min(1, (spent + held) / usd) }
}

/** What is left of a budget, in USD. */
export const leftOf = ({ usd, spent, held }: Budget): number => Math.max(0, usd - spent - held)

/** How much of a budget has to be spent for a warning. */
const warningFrom = 0.8

export function stateOf({ budget, usedUp = false }: Bucket): 'bad' | 'warning' | undefined {
  const part = budget ? partsOf(budget).spent : 0
  if (usedUp || part >= 1) return 'bad'
  return part >= warningFrom ? 'warning' : undefined
}

const left = ({ budget, usedUp = false }: Bucket) => (usedUp ? 0 : budget ? leftOf(budget) : Infinity)

/** Buckets of one request, the one that admits the least first. */
export const tightestFirst = (buckets: readonly Bucket[]): readonly Bucket[] =>
  buckets.toSorted((one, other) => left(one) - left(other) || 0)
