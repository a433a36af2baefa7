import type { Point } from './platt.ts'

/** A step function that never falls: `labels[i]` from `values[i]` on. */
export interface Stairs {
  readonly values: readonly number[]
  readonly labels: readonly number[]
}

/** The step function that never falls with the least squared error, by pooling adjacent violators (Ayer et al. 1955). */
export function fitIsotonic(points: readonly Point[]): Stairs {
  const pools: { from: number; sum: number; count: number }[] = []
  for (const { value, label } of points.toSorted((one, other) => one.value - other.value)) {
    let pool = { from: value, sum: label, count: 1 }
    for (let last = pools.at(-1); last && last.sum / last.count >= pool.sum / pool.count; last = pools.at(-1)) {
      pool = { from: last.from, sum: last.sum + pool.sum, count: last.count + pool.count }
      pools.pop()
    }
    pools.push(pool)
  }
  // A pool of one kind of label alone says nearly always, not always.
  const nearly = (share: number) => Math.min(0.98, Math.max(0.02, share))
  return {
    values: pools.map(({ from }) => from),
    labels: pools.map(({ sum, count }) => nearly(sum / count)),
  }
}

/** The step at a value; below the first, the first. */
export function stepAt({ values, labels }: Stairs, value: number): number {
  const above = values.findIndex((from) => from > value)
  return labels[above < 0 ? labels.length - 1 : Math.max(0, above - 1)] ?? 0.5
}
