import { gainRank, within } from '../../../plugins/classification/benefit-model.ts'
import type { BenefitModel, Learned } from '../../../plugins/classification/benefit-model.ts'
import { handScore, treesOf, weighted } from '../../../plugins/classification/structural-model.ts'
import { growing, quantilesOf, rounded } from './fit.ts'
import { newton, standardized, standardOf, unstandardized } from './logistic.ts'
import type { Fitting, Standard, Target } from './logistic.ts'
import type { Example } from './rows.ts'
import { growTrees } from './trees.ts'

/** What is learned, without the map to the scale of complexity. */
type Ranked = Pick<BenefitModel, 'bounds' | 'signed' | 'clipped' | 'ranks'>

/** Standard deviations from the mean beyond which a feature says no more. */
const farthest = 4
const fitting: Readonly<Record<'signed' | 'clipped', Fitting>> = {
  signed: { ridge: 300, steps: 1, loss: 'squared' },
  clipped: { ridge: 200, steps: 8 },
}

/**
 * Learns to rank texts by how much better dear models do.
 * @param complexities those of the examples, to whose scale ranks are mapped
 */
export function fitBenefit(
  examples: readonly Example[],
  complexities: readonly number[],
): Ranked & Pick<BenefitModel, 'scale'> {
  const ranked = fitRanks(examples)
  const means = examples.map(({ features }) => gainRank(ranked, handScore(features), features))
  return { ...ranked, scale: { ranks: quantilesOf(means), complexities: quantilesOf(complexities) } }
}

function fitRanks(examples: readonly Example[]): Ranked {
  const rows = examples.map(({ features }) => features)
  const weights = examples.map(({ weight }) => weight)
  const standard = standardOf(rows, weights)
  const bounds = boundsOf(standard)
  const bounded = rows.map((row) => within(bounds, row))
  const learn = (kind: 'signed' | 'clipped', labels: readonly number[]): Learned => {
    const target: Target = { labels, weights }
    const { offset, weights: line } = unstandardized(
      newton(standardized(bounded, standard), target, fitting[kind]),
      standard,
    )
    return {
      line: { offset: rounded(offset), weights: line.map(rounded) },
      trees: growTrees(rows, target, { ...growing, loss: kind === 'signed' ? 'squared' : 'logistic' }),
    }
  }
  const signed = learn(
    'signed',
    examples.map(({ gain }) => gain),
  )
  const clipped = learn(
    'clipped',
    examples.map(({ gain }) => Math.max(gain, 0)),
  )
  const ranksOf = ({ line, trees }: Learned) => ({
    line: quantilesOf(bounded.map((row) => line.offset + weighted(line.weights, row))),
    trees: quantilesOf(rows.map((row) => treesOf(trees, row))),
  })
  const ranks = { hand: quantilesOf(rows.map(handScore)), signed: ranksOf(signed), clipped: ranksOf(clipped) }
  return { bounds, signed, clipped, ranks }
}

function boundsOf({ means, deviations }: Standard): BenefitModel['bounds'] {
  const bound = (side: number) => means.map((mean, at) => rounded(mean + side * farthest * (deviations[at] ?? 1)))
  return { low: bound(-1), high: bound(1) }
}

/** The rank of each example's gain, from 0 to 1, by a model that saw nothing of its group. */
export function gainsOutOfGroup(examples: readonly Example[]): readonly number[] {
  const groups = new Set(examples.map(({ group }) => group))
  const models = new Map([...groups].map((group) => [group, fitRanks(examples.filter((one) => one.group !== group))]))
  return examples.map(({ group, features }) => gainRank(models.get(group) as Ranked, handScore(features), features))
}
