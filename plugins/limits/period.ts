/** A calendar period, in UTC; `total`: for ever. */
export type Period = 'day' | 'week' | 'month' | 'total'

/** Milliseconds of a day. */
export const DAY = 86_400_000

/** 1970-01-01 was a Thursday, so the first Monday was four days later. */
const firstMonday = 4 * DAY

/** The start of the period that contains a moment (milliseconds since 1970). A week starts on Monday. */
export function startOf(period: Period, moment: number): number {
  const date = new Date(moment)
  switch (period) {
    case 'day':
      return moment - modulo(moment, DAY)
    case 'week':
      return moment - modulo(moment - firstMonday, 7 * DAY)
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
    case 'total':
      return 0
  }
}

/** The start of the next period; undefined: there is none. */
export function nextStart(period: Period, moment: number): number | undefined {
  if (period === 'total') return undefined
  if (period !== 'month') return startOf(period, moment) + (period === 'day' ? DAY : 7 * DAY)
  const date = new Date(moment)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** The starts of the previous, the current and the next period: a store picks the one that its own clock has reached. */
export type Starts = readonly [previous: number, current: number, next: number]

export function startsAround(period: Period, moment: number): Starts {
  const current = startOf(period, moment)
  return [startOf(period, current - 1), current, nextStart(period, moment) ?? 0]
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
