import { grains } from './sums.ts'

/** A part of a window, and the length of the sums that have its rows; no length: the rows themselves. */
export interface Part {
  readonly length?: number
  readonly since: number
  readonly until: number
}

/**
 * The parts of a window, each in the longest sums that fit into it and whose length is at most `longest`. Where the
 * shortest sums are no longer kept, the rows may be. Times in milliseconds, `until` is excluded.
 */
export function partsOf(since: number, until: number, longest: number, now: number, left = [...grains]): Part[] {
  if (since >= until) return []
  const [grain, ...shorter] = left
  if (grain === undefined) return [{ since, until }]
  const { length, kept } = grain
  const first = Math.ceil(since / length) * length
  const last = Math.floor(until / length) * length
  const isGone = shorter.length === 0 && first < now - kept
  const usable = length <= longest && first < last && !isGone
  const within = (from: number, to: number) => partsOf(from, to, longest, now, shorter)
  if (!usable) return within(since, until)
  return [...within(since, first), { length, since: first, until: last }, ...within(last, until)]
}
