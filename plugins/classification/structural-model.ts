import { featureNames } from './features.ts'
import { logistic } from './odds.ts'

/** What `npm run train:routing` writes: the weights of the signal `structural`. */
export interface StructuralModel {
  readonly version: string
  /** SHA-256 of the rows that it was trained on. */
  readonly data: string
  /** Its figures for families of prompts that it was not trained on. */
  readonly figures: Readonly<Record<string, number>>
  readonly features: readonly string[]
  readonly logistic: { readonly offset: number; readonly weights: readonly number[] }
  readonly trees: Trees
  /** Quantiles of each score among the rows, from the lowest to the highest. */
  readonly ranks: Readonly<Record<keyof Scores, readonly number[]>>
  /** From the mean rank (`steepened`) to the logarithm of the odds that models of the class economy fail. */
  readonly platt: { readonly slope: number; readonly offset: number }
}

/** What three ways of judging a text make of it, each on a scale of its own. */
export interface Scores {
  readonly hand: number
  readonly logistic: number
  readonly trees: number
}

/** Complete binary trees of one depth, one after the other. */
export interface Trees {
  readonly depth: number
  readonly offset: number
  /** Per inner node, breadth first: the feature, and the border above which a value goes right. */
  readonly feature: readonly number[]
  readonly border: readonly number[]
  readonly leaves: readonly number[]
}

/** The sum of the trees: the logarithm of odds. */
export function treesOf({ depth, offset, feature, border, leaves }: Trees, row: readonly number[]): number {
  const inner = 2 ** depth - 1
  const outer = inner + 1
  const count = leaves.length / outer
  let sum = offset
  for (let tree = 0; tree < count; tree++) {
    const first = tree * inner
    let node = 0
    for (let level = 0; level < depth; level++) {
      const at = first + node
      node = 2 * node + ((row[feature[at] ?? 0] ?? 0) > (border[at] ?? 0) ? 2 : 1)
    }
    sum += leaves[tree * outer + node - inner] ?? 0
  }
  return sum
}

/** A weighted sum of features. */
export function weighted(weights: readonly number[], row: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < weights.length; at++) sum += (weights[at] ?? 0) * (row[at] ?? 0)
  return sum
}

/** The rank of a value among quantiles, from 0 to 1: between two of them by interpolation, in the middle of equal ones. */
export function rankIn(quantiles: readonly number[], value: number): number {
  const below = boundary(quantiles, (one) => one < value)
  const upTo = boundary(quantiles, (one) => one <= value)
  const last = quantiles.length - 1
  if (upTo > below) return (below + upTo - 1) / 2 / last
  if (below === 0) return 0
  if (below > last) return 1
  const [left, right] = [quantiles[below - 1] ?? 0, quantiles[below] ?? 0]
  return (below - 1 + (value - left) / (right - left)) / last
}

/** The value of quantiles at a rank from 0 to 1: between two of them by interpolation. */
export function valueAt(quantiles: readonly number[], rank: number): number {
  const at = Math.min(1, Math.max(0, rank)) * (quantiles.length - 1)
  const below = Math.floor(at)
  const [one = 0, next = one] = [quantiles[below], quantiles[below + 1]]
  return one + (at - below) * (next - one)
}

/** How many of the ascending values hold, of which the first ones do. */
function boundary(values: readonly number[], holds: (value: number) => boolean): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(values[middle] ?? 0)) low = middle + 1
    else high = middle
  }
  return low
}

const byHand: Readonly<Record<string, number>> = {
  math: 0.5,
  work: 0.5,
  numbers: 0.4,
  commands: 0.3,
  signs: 0.25,
  condition: 0.25,
  order: 0.2,
  brackets: 0.15,
  words: 0.1,
  factual: -0.35,
  light: -0.2,
  everyday: -0.2,
}
const handWeights = featureNames.map((name) => byHand[name] ?? 0)

/** The score that nobody trained: work with numbers, code and conditions is hard, facts and chat are easy. */
export function handScore(row: readonly number[]): number {
  return weighted(handWeights, row)
}

export function scoresOf(
  { logistic: { offset, weights }, trees }: Pick<StructuralModel, 'logistic' | 'trees'>,
  row: readonly number[],
): Scores {
  return { hand: handScore(row), logistic: offset + weighted(weights, row), trees: treesOf(trees, row) }
}

/** The mean of the ranks of three scores, which count equally. */
export function meanRank(ranks: StructuralModel['ranks'], { hand, logistic, trees }: Scores): number {
  return (rankIn(ranks.hand, hand) + rankIn(ranks.logistic, logistic) + rankIn(ranks.trees, trees)) / 3
}

/**
 * What the map to a probability takes in place of a mean rank. Failures gather at its upper end: out of family, the
 * cube fits better than the rank itself, its odds or its square.
 */
export function steepened(rank: number): number {
  return rank ** 3
}

/** The probability that models of the class economy fail. */
export function complexityOf({ ranks, platt }: Pick<StructuralModel, 'ranks' | 'platt'>, scores: Scores): number {
  return logistic(platt.offset + platt.slope * steepened(meanRank(ranks, scores)))
}
