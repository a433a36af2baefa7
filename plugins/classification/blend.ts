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
  const names = Object.keys(weights)
  const effect = (name: string) => (weights[name] ?? 0) * (votes.get(name)?.confidence ?? 0)
  const sum = names.reduce((total, name) => total + effect(name), 0)
  const counted = names.map((name): [string, CountedVote | Abstention] => {
    const vote = votes.get(name)
    if (!vote) return [name, { abstained: true, reasons: [missing] }]
    const { complexity, benefit, confidence, reasons } = vote
    if (effect(name) === 0) return [name, { abstained: true, reasons }]
    const said = { complexity, ...(benefit === undefined ? {} : { benefit }), confidence }
    return [name, { ...said, weight: weights[name] ?? 0, share: effect(name) / sum, reasons }]
  })
  const notes = counted.flatMap(([name, vote]) => {
    if (!('abstained' in vote)) return [`${name}=${vote.complexity.toFixed(2)}`]
    return votes.has(name) ? [] : [`${name}=${missing}`]
  })
  const found = Object.fromEntries(counted)
  if (sum === 0) return { complexity: otherwise, benefit: otherwise, votes: found, notes: [...notes, 'unclassified'] }
  const pooled = (said: (vote: Vote) => number) => {
    const odds = names.reduce((total, name) => {
      const vote = votes.get(name)
      const value = vote === undefined ? 0.5 : said(vote)
      return total + (effect(name) / sum) * logit(Math.min(extremes[1], Math.max(extremes[0], value)))
    }, 0)
    const value = logistic(odds)
    return value < lowAnchor ? 0 : value
  }
  return {
    complexity: pooled(({ complexity }) => complexity),
    benefit: pooled(({ complexity, benefit = complexity }) => benefit),
    votes: found,
    notes,
  }
}
