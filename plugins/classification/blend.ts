import type { Vote } from '../../engine/index.ts'
import { logistic, logit } from './odds.ts'

/** A vote as it counted: its weight, and its share of the result. */
export interface CountedVote extends Pick<Vote, 'complexity' | 'benefit' | 'confidence' | 'reasons'> {
  readonly weight: number
  readonly share: number
}

/** A signal that had nothing to say, or did not answer. */
export interface Abstention {
  readonly abstained: true
  readonly reasons: readonly string[]
}

export interface Blend {
  readonly complexity: number
  /** What a better model gains, on the scale of complexity. */
  readonly benefit: number
  readonly votes: Readonly<Record<string, CountedVote | Abstention>>
  /** For the reasoning of the decision: `structural=0.41`, `structural=late`, `unclassified`. */
  readonly notes: readonly string[]
}

/** Below this, nothing speaks for any complexity at all. */
const lowAnchor = 0.05
/** A vote beyond these would outweigh all others. */
const extremes = [0.02, 0.98] as const

/**
 * The weighted logarithmic pool of the votes (Genest and Zidek, "Combining Probability Distributions", 1986): each
 * counts by its weight times its confidence. A vote without a benefit counts with its complexity for both.
 * @param missing why a signal of `weights` is not among the votes
 * @param otherwise both numbers if nobody votes
 */
export function blend(
  weights: Readonly<Record<string, number>>,
  votes: ReadonlyMap<string, Vote>,
  missing: 'late' | 'failed',
  otherwise: number,
): Blend {
  const effect = (name: string) => (weights[name] ?? 0) * (votes.get(name)?.confidence ?? 0)
  let sum = 0
  for (const name in weights) sum += effect(name)
  const found: Record<string, CountedVote | Abstention> = {}
  const notes: string[] = []
  /** Logarithms of the odds of complexity and benefit. */
  let complex = 0
  let gained = 0
  for (const name in weights) {
    const vote = votes.get(name)
    if (!vote) {
      found[name] = { abstained: true, reasons: [missing] }
      notes.push(`${name}=${missing}`)
      continue
    }
    const { complexity, benefit, confidence, reasons } = vote
    if (effect(name) === 0) {
      found[name] = { abstained: true, reasons }
      continue
    }
    const share = effect(name) / sum
    const weight = weights[name] ?? 0
    found[name] =
      benefit === undefined
        ? { complexity, confidence, weight, share, reasons }
        : { complexity, benefit, confidence, weight, share, reasons }
    notes.push(`${name}=${complexity.toFixed(2)}`)
    complex += share * oddsOf(complexity)
    gained += share * oddsOf(benefit ?? complexity)
  }
  if (sum > 0) return { complexity: pooled(complex), benefit: pooled(gained), votes: found, notes }
  notes.push('unclassified')
  return { complexity: otherwise, benefit: otherwise, votes: found, notes }
}

/** The logarithm of the odds of what a vote says, within the extremes. */
function oddsOf(value: number): number {
  return logit(Math.min(extremes[1], Math.max(extremes[0], value)))
}

function pooled(odds: number): number {
  const value = logistic(odds)
  return value < lowAnchor ? 0 : value
}
