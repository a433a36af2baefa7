import type { Level, Rate } from './counters.ts'

/** Parts of a unit that levels are counted in, and in larger buckets, whose levels must stay safe integers. */
const MICRO = 1_000_000
const MILLI = 1_000
const largest = 9_000_000_000

/** The parts per unit in which the level of a bucket is counted. */
export function partsPerUnit(limit: number): number {
  return limit > largest ? MILLI : MICRO
}

/** The level of a token bucket, in whole parts, so that no refill is lost or gained by rounding. */
export interface TokenBucket {
  /** In parts of a unit; may be negative. */
  level: number
  /** The fraction of a part, in parts divided by the period. */
  rest: number
  /** Milliseconds since 1970. */
  at: number
  /** With which the level was counted. */
  readonly limit: number
  readonly period: number
}

/**
 * The bucket at a later moment, with the limit of now. One that nobody has used is full. Whole numbers all the way: what
 * does not make a whole part yet is kept as `rest`.
 */
export function refilled(
  bucket: TokenBucket | undefined,
  { limit, period }: Pick<Rate, 'limit' | 'period'>,
  now: number,
): TokenBucket {
  const full = limit * partsPerUnit(limit)
  if (bucket === undefined) return { level: full, rest: 0, at: now, limit, period }
  const same = bucket.limit === limit && bucket.period === period
  const scale = partsPerUnit(limit) / partsPerUnit(bucket.limit)
  // A clock that was set back refills nothing.
  const elapsed = Math.max(0, now - bucket.at)
  const grown = elapsed * (full % period) + (same ? bucket.rest : 0)
  const level = Math.floor(bucket.level * scale) + elapsed * Math.floor(full / period) + Math.floor(grown / period)
  return level >= full
    ? { level: full, rest: 0, at: now, limit, period }
    : { level, rest: grown % period, at: now, limit, period }
}

/** Milliseconds until a bucket has `wanted` parts. */
export function waitFor({ level, rest, limit, period }: TokenBucket, wanted: number): number {
  if (level >= wanted) return 0
  const full = limit * partsPerUnit(limit)
  return Math.max(1, Math.ceil(((wanted - level) * period - rest) / full))
}

export function levelOf(bucket: TokenBucket): Level {
  const parts = partsPerUnit(bucket.limit)
  return { remaining: Math.floor(bucket.level / parts), full: waitFor(bucket, bucket.limit * parts) }
}
