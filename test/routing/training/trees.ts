import { logistic, logit } from '../../../plugins/classification/odds.ts'
import type { Trees } from '../../../plugins/classification/structural-model.ts'
import { weightedMean } from './logistic.ts'
import type { Target } from './logistic.ts'

/** How trees are grown. */
export interface Growing {
  readonly count: number
  readonly depth: number
  /** Share of each tree that counts. */
  readonly rate: number
  /** Fewest rows of a leaf. */
  readonly leaf: number
  /** Added to the curvature of each leaf, so that small ones say little. */
  readonly ridge: number
  /** What a miss costs. The logistic loss takes labels between 0 and 1, and trees that sum up to the logarithm of odds. */
  readonly loss: 'logistic' | 'squared'
}

/** Most borders per feature. */
const bins = 24

/**
 * Gradient boosting of small trees with second-order steps (Friedman 2001; Chen and Guestrin 2016). Nothing is drawn, so
 * the same rows give the same trees.
 */
export function growTrees(
  rows: readonly (readonly number[])[],
  { labels, weights }: Target,
  { count, depth, rate, leaf, ridge, loss }: Growing,
): Trees {
  const width = rows[0]?.length ?? 0
  const borders = Array.from({ length: width }, (_, at) => bordersOf(rows.map((row) => row[at] ?? 0)))
  const binned = borders.map((own, at) => Uint8Array.from(rows, (row) => own.filter((b) => (row[at] ?? 0) > b).length))
  const mean = weightedMean(labels, weights)
  const offset = loss === 'squared' ? mean : logit(mean)
  const sums = new Float64Array(rows.length).fill(offset)
  const slope = new Float64Array(rows.length)
  const curve = new Float64Array(rows.length)
  const nodes = 2 ** depth - 1
  const feature: number[] = []
  const border: number[] = []
  const leaves: number[] = []
  for (let tree = 0; tree < count; tree++) {
    for (const [at, label] of labels.entries()) {
      const [sum = 0, row = 1] = [sums[at], weights[at]]
      const p = loss === 'squared' ? sum : logistic(sum)
      slope[at] = row * (label - p)
      curve[at] = row * (loss === 'squared' ? 1 : Math.max(p * (1 - p), 1e-6))
    }
    let level: Int32Array[] = [Int32Array.from(rows.keys())]
    for (let node = 0, below = 1; node < nodes; node += below, below *= 2) {
      const next: Int32Array[] = []
      for (const members of level) {
        const split = bestSplit(members, binned, borders, { slope, curve, leaf, ridge })
        feature.push(split.feature)
        border.push(borders[split.feature]?.[split.bin] ?? Number.MAX_VALUE)
        const own = binned[split.feature] as Uint8Array
        next.push(
          members.filter((row) => (own[row] ?? 0) <= split.bin),
          members.filter((row) => (own[row] ?? 0) > split.bin),
        )
      }
      level = next
    }
    for (const members of level) {
      let sum = 0
      let weight = ridge
      for (const row of members) {
        sum += slope[row] ?? 0
        weight += curve[row] ?? 0
      }
      const value = rounded((rate * sum) / weight)
      leaves.push(value)
      for (const row of members) sums[row] = (sums[row] ?? 0) + value
    }
  }
  return { depth, offset: rounded(offset), feature, border, leaves }
}

const rounded = (value: number) => Number(value.toFixed(5))

/** Borders between the values of a feature, with about as many rows between any two. */
function bordersOf(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((one, other) => one - other)
  const found = new Set<number>()
  for (let bin = 1; bin < bins; bin++) {
    const at = Math.floor((bin * sorted.length) / bins)
    const [below, above] = [sorted[at - 1] ?? 0, sorted[at] ?? 0]
    if (above > below) found.add(rounded((below + above) / 2))
    else {
      // Where many rows share a value, the border is after the last of them.
      const next = sorted.find((value) => value > above)
      if (next !== undefined) found.add(rounded((above + next) / 2))
    }
  }
  return [...found].sort((one, other) => one - other)
}

interface Slopes {
  readonly slope: Float64Array
  readonly curve: Float64Array
  readonly leaf: number
  readonly ridge: number
}

/** The split that lessens the loss most; without any, everything stays on the left. */
function bestSplit(
  members: Int32Array,
  binned: readonly Uint8Array[],
  borders: readonly (readonly number[])[],
  { slope, curve, leaf, ridge }: Slopes,
) {
  let best = { feature: 0, bin: bins, gain: 1e-9 }
  const sums = new Float64Array(bins * 3)
  for (const [feature, own] of binned.entries()) {
    sums.fill(0)
    let [all, weight] = [0, 0]
    for (const row of members) {
      const bin = (own[row] ?? 0) * 3
      sums[bin] = (sums[bin] ?? 0) + (slope[row] ?? 0)
      sums[bin + 1] = (sums[bin + 1] ?? 0) + (curve[row] ?? 0)
      sums[bin + 2] = (sums[bin + 2] ?? 0) + 1
      all += slope[row] ?? 0
      weight += curve[row] ?? 0
    }
    const whole = (all * all) / (weight + ridge)
    let [left, leftWeight, count] = [0, 0, 0]
    for (let bin = 0; bin < (borders[feature]?.length ?? 0); bin++) {
      left += sums[bin * 3] ?? 0
      leftWeight += sums[bin * 3 + 1] ?? 0
      count += sums[bin * 3 + 2] ?? 0
      if (count < leaf || members.length - count < leaf) continue
      const right = all - left
      const gain = (left * left) / (leftWeight + ridge) + (right * right) / (weight - leftWeight + ridge) - whole
      if (gain > best.gain) best = { feature, bin, gain }
    }
  }
  return best
}
