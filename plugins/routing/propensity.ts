import { betaBelow } from './beta.ts'

/** A model as it was when a decision was made. */
export interface PropensityArm {
  readonly model: string
  /** Its draw came from Beta(a, b). */
  readonly a: number
  readonly b: number
  /** What its draw was lowered by before it was compared, in units of quality. */
  readonly c: number
  /** Whether it passed the gate of quality. */
  readonly pass: boolean
  /** It would have got the trial. */
  readonly trial?: true
}

/** How a decision was drawn; it is part of the row of the request. */
export interface Propensity {
  /** `ts-1`: the highest draw won; `mean-1`: the highest mean won. */
  readonly policy: 'ts-1' | 'mean-1'
  /** Seed of the draws, beside the id of the request. */
  readonly seed: string
  /** In order of name. */
  readonly arms: readonly PropensityArm[]
  /** The probability that a trial is made. */
  readonly trial_p: number
}

/** The probability of each model to be chosen, by name, under the policy that made a decision. */
export function chances({ policy, arms, trial_p: share }: Propensity): ReadonlyMap<string, number> {
  const passed = arms.filter(({ pass }) => pass)
  const trial = arms.find((arm) => arm.trial)
  const won = policy === 'ts-1' ? winning(passed) : surest(passed)
  const rest = trial ? 1 - share : 1
  return new Map(arms.map((arm) => [arm.model, rest * (won[passed.indexOf(arm)] ?? 0) + (arm === trial ? share : 0)]))
}

/** The highest mean wins. */
function surest(arms: readonly PropensityArm[]): readonly number[] {
  const values = arms.map(({ a, b, c }) => a / (a + b) - c)
  const best = values.indexOf(Math.max(...values))
  return arms.map((_, index) => Number(index === best))
}

/** Cells per part of the range; each has a node in its middle, too. */
const cells = 64

/**
 * The probability of each of several independent betas, each lowered by its `c`, to be the highest: the integral of
 * the product of the others' distribution functions over its own. Within a cell, both are taken as parabolas, whose
 * integral is exact, so that no density is needed, which may be infinite at 0 or 1.
 */
function winning(arms: readonly PropensityArm[]): readonly number[] {
  if (arms.length < 2) return arms.map(() => 1)
  const nodes = nodesOf(arms)
  const below = arms.map(({ a, b, c }) => nodes.map((value) => betaBelow(value + c, a, b)))
  const sums = arms.map((_, index) => {
    const own = below[index] ?? []
    const others = nodes.map((__, node) =>
      below.reduce((product, one, other) => (other === index ? product : product * (one[node] ?? 0)), 1),
    )
    return integral(own, others)
  })
  const total = sums.reduce((sum, one) => sum + one, 0)
  return sums.map((sum) => sum / total)
}

/** Values of all draws. A distribution begins or ends only where a part does; nodes lie closer towards these places. */
function nodesOf(arms: readonly PropensityArm[]): readonly number[] {
  const ends = [...new Set(arms.flatMap(({ c }) => [-c, 1 - c]))].sort((one, other) => one - other)
  const parts = ends.slice(1).map((end, index) => ({ start: ends[index] ?? end, end }))
  const inner = parts.flatMap(({ start, end }) =>
    Array.from({ length: 2 * cells }, (_, step) => start + (end - start) * near(step / (2 * cells))),
  )
  return [...inner, ends.at(-1) ?? 1]
}

/** From 0 to 1, flat at both ends. */
function near(share: number): number {
  const t = 6 * share - 3
  return 1 / (1 + Math.exp(-Math.PI * Math.sinh(t)))
}

/** The integral of `others` over `own`, from the values of both at the nodes. */
function integral(own: readonly number[], others: readonly number[]): number {
  let sum = 0
  for (let left = 0; left + 2 < own.length; left += 2) {
    const [f0 = 0, f1 = 0, f2 = 0] = own.slice(left, left + 3)
    const [g0 = 0, g1 = 0, g2 = 0] = others.slice(left, left + 3)
    sum += (g0 * (4 * f1 - 3 * f0 - f2) + 4 * g1 * (f2 - f0) + g2 * (f0 - 4 * f1 + 3 * f2)) / 6
  }
  return sum
}
