import type { Budget } from '../../engine/index.ts'
import type { Sum } from './counters.ts'
import { startsAround } from './period.ts'

/** Micro-USD per USD. */
export const MICROS = 1_000_000

/** The sum that a budget limits, at a moment in milliseconds since 1970. */
export function sumOf(bucket: string, { usd, period }: Budget, now: number): Sum {
  return { bucket, period, starts: startsAround(period, now), limit: Math.round(usd * MICROS) }
}
