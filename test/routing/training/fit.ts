import { fitPlatt } from '../../../plugins/classification/platt.ts'
import { meanRank, scoresOf, steepened } from '../../../plugins/classification/structural-model.ts'
import type { Scores, StructuralModel } from '../../../plugins/classification/structural-model.ts'
import { logistic } from '../../../plugins/classification/odds.ts'
import { equally, fitLogistic } from './logistic.ts'
import type { Example } from './rows.ts'
import { growTrees } from './trees.ts'

/** What is learned, without the map to a probability. */
export type Ranked = Pick<StructuralModel, 'logistic' | 'trees' | 'ranks'>

const ridge = 200
export const growing = { count: 50, depth: 2, rate: 0.1, leaf: 150, ridge: 20 }
/** Steps of the quantiles of a score. */
const quantiles = 100

/** Learns to rank texts by how often models of the class economy fail. */
export function fitRanks(examples: readonly Example[]): Ranked {
  const rows = examples.map((example) => example.features)
  const fails = equally(examples.map((example) => example.fails))
  const { offset, weights } = fitLogistic(rows, fails, ridge)
  const learned = {
    logistic: { offset: rounded(offset), weights: weights.map(rounded) },
    trees: growTrees(rows, fails, { ...growing, loss: 'logistic' }),
  }
  const scores = rows.map((row) => scoresOf(learned, row))
  const ranks = (score: keyof Scores) => quantilesOf(scores.map((one) => one[score]))
  return { ...learned, ranks: { hand: ranks('hand'), logistic: ranks('logistic'), trees: ranks('trees') } }
}

/** The mean rank of each example by a model that saw nothing of its family. */
export function ranksOutOfFamily(examples: readonly Example[]): readonly number[] {
  const families = new Set(examples.map(({ family }) => family))
  const models = new Map(
    [...families].map((family) => [family, fitRanks(examples.filter((one) => one.family !== family))]),
  )
  return examples.map(({ family, features }) => {
    const model = models.get(family) as Ranked
    return meanRank(model.ranks, scoresOf(model, features))
  })
}

/** From ranks to the probability that models of the class economy fail more often than not. */
export function fitFails(ranks: readonly number[], examples: readonly Example[]): StructuralModel['platt'] {
  const { slope, offset } = fitPlatt(
    ranks.map((rank, at) => ({ value: steepened(rank), label: examples[at]?.needed === 'SIMPLE' ? 0 : 1 })),
    { slope: 1, offset: 0, slopeDeviation: 100, offsetDeviation: 100 },
  )
  return { slope: rounded(slope), offset: rounded(offset) }
}

/** The complexity of each example by a model, and a map to probabilities, that saw nothing of its family. */
export function complexitiesOutOfFamily(ranks: readonly number[], examples: readonly Example[]): readonly number[] {
  const families = new Set(examples.map(({ family }) => family))
  const maps = new Map(
    [...families].map((family) => {
      const others = [...examples.keys()].filter((at) => examples[at]?.family !== family)
      return [
        family,
        fitFails(
          others.map((at) => ranks[at] ?? 0),
          others.map((at) => examples[at] as Example),
        ),
      ]
    }),
  )
  return examples.map(({ family }, at) => {
    const { slope = 1, offset = 0 } = maps.get(family) ?? {}
    return logistic(offset + slope * steepened(ranks[at] ?? 0))
  })
}

export function quantilesOf(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((one, other) => one - other)
  return Array.from({ length: quantiles + 1 }, (_, at) =>
    rounded(sorted[Math.round((at / quantiles) * (sorted.length - 1))] ?? 0),
  )
}

export const rounded = (value: number) => Number(value.toFixed(5))
