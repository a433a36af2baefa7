import { rankIn, treesOf, valueAt, weighted } from './structural-model.ts'
import type { Trees } from './structural-model.ts'

/** What `npm run train:routing` writes: the weights by which `structural` tells what a dear model gains. */
export interface BenefitModel {
  readonly version: string
  /** SHA-256 of the rows that it was trained on. */
  readonly data: string
  /** Its figures for groups of prompts that it was not trained on. */
  readonly figures: Readonly<Record<string, number>>
  readonly features: readonly string[]
  /** What is beyond these counts as these: far outliers would move a line without end. */
  readonly bounds: { readonly low: readonly number[]; readonly high: readonly number[] }
  /** Learned from the gain of the dear model, which is below 0 where it does worse. */
  readonly signed: Learned
  /** Learned from the same, where a loss counts as no gain. */
  readonly clipped: Learned
  /** Quantiles of each score among the rows, from the lowest to the highest. */
  readonly ranks: BenefitRanks
  /** Quantiles of the mean rank, and the complexities of which the same share of the rows is lower. */
  readonly scale: { readonly ranks: readonly number[]; readonly complexities: readonly number[] }
}

/** A line through the features, and trees. */
export interface Learned {
  readonly line: { readonly offset: number; readonly weights: readonly number[] }
  readonly trees: Trees
}

interface BenefitRanks {
  readonly hand: readonly number[]
  readonly signed: Quantiles
  readonly clipped: Quantiles
}

type Quantiles = Readonly<Record<keyof Learned, readonly number[]>>

/** A row of features with each number within its bounds. */
export function within({ low, high }: BenefitModel['bounds'], row: readonly number[]): readonly number[] {
  const bounded = row.slice()
  for (let at = 0; at < row.length; at++) {
    const value = row[at] ?? 0
    bounded[at] = Math.min(high[at] ?? value, Math.max(low[at] ?? value, value))
  }
  return bounded
}

/**
 * The mean of the ranks of five scores. What was learned from signed gains counts twice as much as what was learned from
 * clipped ones, and what nobody learned as much as the former.
 * @param hand the score of the features that nobody trained
 */
export function gainRank(
  { bounds, signed, clipped, ranks }: Pick<BenefitModel, 'bounds' | 'signed' | 'clipped' | 'ranks'>,
  hand: number,
  row: readonly number[],
): number {
  const bounded = within(bounds, row)
  const sum = ({ line, trees }: Learned, own: Quantiles) =>
    rankIn(own.line, line.offset + weighted(line.weights, bounded)) + rankIn(own.trees, treesOf(trees, row))
  return (2 * rankIn(ranks.hand, hand) + sum(signed, ranks.signed) + sum(clipped, ranks.clipped) / 2) / 5
}

/** The gain on the scale of complexity: as many rows have a higher benefit as have a higher complexity. */
export function benefitOf(
  model: Pick<BenefitModel, 'bounds' | 'signed' | 'clipped' | 'ranks' | 'scale'>,
  hand: number,
  row: readonly number[],
): number {
  return valueAt(model.scale.complexities, rankIn(model.scale.ranks, gainRank(model, hand, row)))
}
