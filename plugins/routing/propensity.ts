import type { Tier } from '../../engine/index.ts'
import { betaBelow } from './beta.ts'

/** A model as it was when a decision was made. */
export interface PropensityArm {
  readonly model: string
  /** Its draw came from Beta(a, b). */
  readonly a: number
  readonly b: number
  /** Its cost, from 0 to 1, of six doublings. Without `terms`: what its draw was lowered by before it was compared. */
  readonly c: number
  /** What the gate of quality compared, if that was not Beta(a, b). */
  readonly gate?: { readonly a: number; readonly b: number }
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
  /** What the score of each arm had in it beside its draw and its cost; absent: nothing. */
  readonly terms?: Terms
}

/** The score of an arm was share · draw − (1 − share) · c + rest, and a bonus for the model of the conversation. */
export interface Terms {
  /** The part of quality, from 0 to 1. */
  readonly share: number
  /** What reliability and latency added, in the order of the arms. */
  readonly rest: readonly number[]
  /** What served the conversation last, the tier that it was chosen for, and what it got for that. */
  readonly incumbent?: { readonly model: string; readonly tier: Tier; readonly bonus: number }
  /** Models that went last, because the circuits of all their places were open. */
  readonly broken?: readonly string[]
  /** How many arms the row has no room for. Then the draws cannot be repeated. */
  readonly left_out?: number
}

/** A share of quality below this is this, where it divides. */
const leastShare = 1e-6

/** An arm, and what its draw was lowered by before it was compared, in units of quality. */
interface Lowered extends PropensityArm {
  readonly by: number
}

function lowered({ arms, terms }: Propensity): readonly Lowered[] {
  if (terms === undefined) return arms.map((arm) => ({ ...arm, by: arm.c }))
  const { share, rest, incumbent } = terms
  return arms.map((arm, index) => {
    const bonus = arm.model === incumbent?.model ? incumbent.bonus : 0
    return { ...arm, by: ((1 - share) * arm.c - (rest[index] ?? 0) - bonus) / Math.max(share, leastShare) }
  })
}

/** The probability of each model to be chosen, by name, under the policy that made a decision. */
export function chances(propensity: Propensity): ReadonlyMap<string, number> {
  const { policy, trial_p: share } = propensity
  const arms = lowered(propensity)
  const passed = arms.filter(({ pass }) => pass)
  const trial = arms.find((arm) => arm.trial)
  const won = policy === 'ts-1' ? winning(passed) : surest(passed)
  const rest = trial ? 1 - share : 1
  return new Map(arms.map((arm) => [arm.model, rest * (won[passed.indexOf(arm)] ?? 0) + (arm === trial ? share : 0)]))
}

/** The highest mean wins. */
function surest(arms: readonly Lowered[]): readonly number[] {
  const values = arms.map(({ a, b, by }) => a / (a + b) - by)
  const best = values.indexOf(Math.max(...values))
  return arms.map((_, index) => Number(index === best))
}

/** Cells per part of the range; each has a node in its middle, too. */
const cells = 64

/**
 * The probability of each of several independent betas, each lowered by something, to be the highest: the integral of
 * the product of the others' distribution functions over its own. Within a cell, both are taken as parabolas, whose
 * integral is exact, so that no density is needed, which may be infinite at 0 or 1.
 */
function winning(arms: readonly Lowered[]): readonly number[] {
  if (arms.length < 2) return arms.map(() => 1)
  const nodes = nodesOf(arms)
  const below = arms.map(({ a, b, by }) => nodes.map((value) => betaBelow(value + by, a, b)))
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
function nodesOf(arms: readonly Lowered[]): readonly number[] {
  const ends = [...new Set(arms.flatMap(({ by }) => [-by, 1 - by]))].sort((one, other) => one - other)
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
