import { periodStart } from '../../engine/kit.ts'
import type { Budget } from '../../engine/index.ts'

/** A calendar period, in UTC; `total`: for ever. */
export type Period = Budget['period']

/** Milliseconds of a day. */
export const DAY = 86_400_000

/** The start of the next period; undefined: there is none. */
export function nextStart(period: Period, moment: number): number | undefined {
  if (period === 'total') return undefined
  if (period !== 'month') return periodStart(period, moment) + (period === 'day' ? DAY : 7 * DAY)
  const date = new Date(moment)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** The starts of the previous, the current and the next period: a store picks the one that its own clock has reached. */
export type Starts = readonly [previous: number, current: number, next: number]

export function startsAround(period: Period, moment: number): Starts {
  const known = latest.get(period)
  if (known && moment >= known[1] && (moment < known[2] || period === 'total')) return known
  const current = periodStart(period, moment)
  const starts: Starts = [periodStart(period, current - 1), current, nextStart(period, moment) ?? 0]
  latest.set(period, starts)
  return starts
}

/** The latest result of each period: it changes once a day, and every request asks for it. */
const latest = new Map<Period, Starts>()
