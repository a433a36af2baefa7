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
  limit: number
  period: number
}

/** A bucket that nobody has used. */
export function fullBucket({ limit, period }: Pick<Rate, 'limit' | 'period'>, now: number): TokenBucket {
  return { level: limit * partsPerUnit(limit), rest: 0, at: now, limit, period }
}

/**
 * Refills a bucket, in place, up to a later moment and with the limit of now. Whole numbers all the way: what does not
 * make a whole part yet is kept as `rest`.
 */
export function refill(bucket: TokenBucket, { limit, period }: Pick<Rate, 'limit' | 'period'>, now: number): void {
  const full = limit * partsPerUnit(limit)
  const same = bucket.limit === limit && bucket.period === period
  const scale = partsPerUnit(limit) / partsPerUnit(bucket.limit)
  // A clock that was set back refills nothing.
  const elapsed = Math.max(0, now - bucket.at)
  const grown = elapsed * (full % period) + (same ? bucket.rest : 0)
  const level = Math.floor(bucket.level * scale) + elapsed * Math.floor(full / period) + Math.floor(grown / period)
  bucket.level = Math.min(level, full)
  bucket.rest = level >= full ? 0 : grown % period
  bucket.at = now
  bucket.limit = limit
  bucket.period = period
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
