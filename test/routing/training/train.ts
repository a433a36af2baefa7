import { writeFileSync } from 'node:fs'
import { featureNames } from '../../../plugins/classification/features.ts'
import type { ConfidenceMap } from '../../../plugins/classification/confidence-map.ts'
import type { BenefitModel } from '../../../plugins/classification/benefit-model.ts'
import { complexityOf, scoresOf } from '../../../plugins/classification/structural-model.ts'
import type { StructuralModel } from '../../../plugins/classification/structural-model.ts'
import { calibrationError, fitConfidence, labelsOf } from './confidence.ts'
import { complexitiesOutOfFamily, fitFails, fitRanks, ranksOutOfFamily } from './fit.ts'
import { fitBenefit, gainsOutOfGroup } from './fit-benefit.ts'
import { qualityOf } from './metrics.ts'
import { readExamples } from './rows.ts'
import type { Example } from './rows.ts'

// npm run train:routing: learns both kinds of weights of the signal `structural` (complexity and benefit) and the first
// confidence map from the rows beside this file. Nothing is drawn: the same rows give the same weights.

/** To be counted up with every change of the rows, the features or the training. */
const versions = { model: 's-1', benefit: 'b-1', map: 'dev-1' }

export interface Trained {
  readonly model: StructuralModel
  readonly benefit: BenefitModel
  readonly confidence: ConfidenceMap
  readonly examples: readonly Example[]
  /** The complexity of each example by weights that saw nothing of its family. */
  readonly complexities: readonly number[]
  /** The rank of the gain of each example by weights that saw nothing of its group. */
  readonly gains: readonly number[]
}

export function train(): Trained {
  const { examples, hash } = readExamples()
  const ranks = ranksOutOfFamily(examples)
  const complexities = complexitiesOutOfFamily(ranks, examples)
  const labels = labelsOf(complexities, examples)
  const confidence = fitConfidence(labels, versions.map)
  const model = {
    version: versions.model,
    data: hash,
    figures: {
      ...figuresOf(complexities, examples),
      calibration_error: rounded(calibrationError(labels, mapOf(confidence))),
    },
    features: featureNames,
    ...fitRanks(examples),
    platt: fitFails(ranks, examples),
  }
  const gains = gainsOutOfGroup(examples)
  const benefit = {
    version: versions.benefit,
    data: hash,
    figures: figuresOf(gains, examples),
    features: featureNames,
    ...fitBenefit(
      examples,
      examples.map(({ features }) => complexityOf(model, scoresOf(model, features))),
    ),
  }
  return { model, benefit, confidence, examples, complexities, gains }
}

/** The figures of each pair of models, numbered in the order of the rows. */
function figuresOf(values: readonly number[], examples: readonly Example[]) {
  const pairs = [...new Set(examples.map(({ pair }) => pair.join()))]
  return Object.fromEntries(
    pairs.flatMap((pair, index) => {
      const own = [...examples.keys()].filter((at) => examples[at]?.pair.join() === pair)
      const { auc, apgr } = qualityOf(
        own.map((at) => values[at] ?? 0),
        own.map((at) => examples[at] as Example),
      )
      return [
        [`pair_${index + 1}_auc`, rounded(auc)],
        [`pair_${index + 1}_apgr`, rounded(apgr)],
      ]
    }),
  )
}

function mapOf({ table }: ConfidenceMap) {
  return (raw: number) => table[Math.round(raw * 100)] ?? raw
}

const rounded = (value: number) => Number(value.toFixed(3))

/** A file of data: a line per member, so that a change shows what changed. */
export function printData(data: object): string {
  const lines = Object.entries(data).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

if (import.meta.main) {
  const { model, benefit, confidence } = train()
  const place = (name: string) => new URL(`../../../plugins/classification/${name}.json`, import.meta.url)
  writeFileSync(place('structural'), printData(model))
  writeFileSync(place('benefit'), printData(benefit))
  writeFileSync(place('confidence'), printData(confidence))
  const brier = [confidence.brier_before, confidence.brier_after]
  console.log(JSON.stringify({ complexity: model.figures, benefit: benefit.figures, brier }, null, 2))
}
