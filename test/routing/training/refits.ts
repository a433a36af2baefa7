import { tierOf } from '../../../engine/kit.ts'
import { lookUp, rawConfidence, sideOf } from '../../../plugins/classification/confidence-map.ts'
import type { Label } from '../../../plugins/classification/confidence-map.ts'
import { refit } from '../../../plugins/classification/refit.ts'
import { random } from '../classification/random.ts'
import { fitConfidence } from './confidence.ts'
import type { Example } from './rows.ts'

/** How well confidence is calibrated at a source that nothing was learned from. */
export interface Refitted {
  readonly error: number
  readonly brier: number
}

/** Fewest rows of a source that plays the unseen gateway. */
const large = 400
const draws = 20

/**
 * What ratings of an unseen source bring, over all large sources and draws of labels: with the map of the other sources,
 * and with the one that labels have refitted it to.
 */
export function refittedBy(
  count: number,
  complexities: readonly number[],
  examples: readonly Example[],
): { readonly before: Refitted; readonly after: Refitted } {
  const labels = examples.map(({ pair: [weak], models }, at): Label => {
    const complexity = complexities[at] ?? 0
    const tier = tierOf(complexity)
    const isEnough = (models[weak]?.score ?? 0) >= 0.5
    return { raw: rawConfidence(complexity), right: (tier === 'SIMPLE') === isEnough ? 1 : 0, tier }
  })
  const sources = [...Map.groupBy(examples.keys(), (at) => examples[at]?.source)]
  const before: Refitted[] = []
  const after: Refitted[] = []
  const next = random(3)
  for (const [source, own] of sources.filter(([, rows]) => rows.length >= large)) {
    const map = fitConfidence(
      labels.filter((_, at) => examples[at]?.source !== source),
      'others',
    )
    for (let draw = 0; draw < draws; draw++) {
      const shuffled = own.map((at) => ({ at, place: next() })).sort((one, other) => one.place - other.place)
      const [told, held] = [shuffled.slice(0, count), shuffled.slice(count)].map((some) =>
        some.flatMap(({ at }) => labels[at] ?? []),
      ) as [Label[], Label[]]
      before.push(judge(map, held))
      after.push(judge(refit(told, map), held))
    }
  }
  return { before: mean(before), after: mean(after) }
}

function judge(map: Parameters<typeof lookUp>[0], labels: readonly Label[]): Refitted {
  const bins = Array.from({ length: 10 }, () => 0)
  let squares = 0
  for (const { raw, right, tier } of labels) {
    const confidence = lookUp(map, raw, sideOf(tier))
    const bin = Math.min(9, Math.floor(confidence * 10))
    bins[bin] = (bins[bin] ?? 0) + confidence - right
    squares += (confidence - right) ** 2
  }
  return {
    error: bins.reduce((sum, miss) => sum + Math.abs(miss), 0) / labels.length,
    brier: squares / labels.length,
  }
}

function mean(all: readonly Refitted[]): Refitted {
  const of = (figure: (one: Refitted) => number) => all.reduce((sum, one) => sum + figure(one), 0) / all.length
  return { error: of(({ error }) => error), brier: of(({ brier }) => brier) }
}
