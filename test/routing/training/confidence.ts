import { tierOf } from '../../../engine/kit.ts'
import { rawConfidence } from '../../../plugins/classification/confidence-map.ts'
import type { ConfidenceMap, Label } from '../../../plugins/classification/confidence-map.ts'
import { fitPlatt } from '../../../plugins/classification/platt.ts'
import { tableOf } from '../../../plugins/classification/confidence-map.ts'
import { logistic, logit } from '../../../plugins/classification/odds.ts'
import type { Example } from './rows.ts'

/** How sure each complexity is, and whether its tier is the needed one. */
export function labelsOf(complexities: readonly number[], examples: readonly Example[]): readonly Label[] {
  return examples.map(({ needed, coarse }, at) => {
    const complexity = complexities[at] ?? 0
    const tier = tierOf(complexity)
    const right = coarse ? (tier === 'SIMPLE') === (needed === 'SIMPLE') : tier === needed
    return { raw: rawConfidence(complexity), right: right ? 1 : 0 }
  })
}

/** The map that a gateway begins with. */
export function fitConfidence(labels: readonly Label[], version: string): ConfidenceMap {
  const { slope, offset } = fitPlatt(
    labels.map(({ raw, right }) => ({ value: logit(raw), label: right })),
    { slope: 1, offset: 0, slopeDeviation: 100, offsetDeviation: 100 },
  )
  const map = (raw: number) => logistic(offset + slope * logit(Math.min(0.95, Math.max(0.05, raw))))
  return {
    version,
    kind: 'platt',
    parameters: { slope: Number(slope.toFixed(5)), offset: Number(offset.toFixed(5)) },
    labels: labels.length,
    brier_before: brier(labels, (raw) => raw),
    brier_after: brier(labels, map),
    table: tableOf(map),
  }
}

function brier(labels: readonly Label[], map: (raw: number) => number): number {
  const sum = labels.reduce((total, { raw, right }) => total + (map(raw) - right) ** 2, 0)
  return Number((sum / labels.length).toFixed(4))
}

/** Expected calibration error in fifteen bins of equal width (Guo et al. 2017). */
export function calibrationError(labels: readonly Label[], map: (raw: number) => number): number {
  const bins = Array.from({ length: 15 }, () => 0)
  for (const { raw, right } of labels) {
    const confidence = map(raw)
    const bin = Math.min(14, Math.floor(confidence * 15))
    bins[bin] = (bins[bin] ?? 0) + confidence - right
  }
  return bins.reduce((sum, miss) => sum + Math.abs(miss), 0) / labels.length
}
