import type { Answers, Row } from '../../api/answers.ts'
import { intervalsOf } from '../../parts/intervals.ts'

/** The figures of an interval of `GET /api/logs/series`. */
export type Point = Row<'get-series'>

/** `GET /api/logs/series`. */
export type Series = Answers['get-series']

/** When each interval begins, and its figures, if it has any. */
export interface Timeline {
  readonly interval: string
  readonly times: readonly string[]
  readonly points: readonly (Point | undefined)[]
}

export function timelineOf(series: Series): Timeline {
  const times = intervalsOf(series)
  const known = new Map(series.data.map((point) => [Date.parse(point.at), point]))
  return { interval: series.interval, times, points: times.map((at) => known.get(Date.parse(at))) }
}
