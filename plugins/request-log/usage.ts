import type { JsonObject, QuerySchema } from '../../engine/index.ts'
import { negated, shape, timeText } from '../../engine/kit.ts'
import type { Query } from '../../engine/kit.ts'
import { tagsIn, timeFields, wordsIn } from './filter.ts'
import { groupNames } from './group-names.ts'
import type { Naming } from './group-names.ts'
import { groupShape } from './shown.ts'
import { cellsOf, groupsIn, requireWindow, windowIn } from './sums-asked.ts'
import { latencyFields, shownLatency, shownSum, sumFields, totalOf, windowFields } from './sums-shown.ts'
import { DAY, HOUR, dimensions } from './sums.ts'
import type { Dimension } from './sums.ts'
import type { SumsQuestion } from './sums-query.ts'

/** The lengths of times, and the longest windows in which they are told apart. */
const intervals = {
  hour: { length: HOUR, longest: 31 * DAY },
  day: { length: DAY, longest: 400 * DAY },
  none: { length: undefined, longest: Infinity },
} as const

type IntervalName = keyof typeof intervals

export interface UsageQuestion extends Omit<SumsQuestion, 'most'> {
  readonly name: IntervalName
}

/** What usage may be filtered by and told apart by. */
export const usageWords = Object.keys(dimensions) as Dimension[]

/** The query of usage that may be filtered by some words. */
export function usageQuery(known: readonly Dimension[] = usageWords): QuerySchema {
  const filters: QuerySchema = Object.fromEntries(
    [...known, 'tag'].map((word) => [word, { type: 'string', description: `Only requests of this ${word}.` }]),
  )
  return {
    ...timeFields,
    ...filters,
    ...negated(filters),
    interval: { enum: Object.keys(intervals), default: 'day', description: 'The times that are told apart.' },
    group_by: { type: 'string', description: 'At most two of the filters, separated by a comma, or tag:<name>.' },
  }
}

/** JSON Schema of usage. */
export const usageShape = shape.object({
  interval: shape.word(Object.keys(intervals), 'The times that are told apart.'),
  ...windowFields,
  data: shape.list(
    shape.object({
      at: shape.orNull(shape.time('Begin of the time; null: times are not told apart.')),
      group: groupShape,
      ...sumFields,
      ...latencyFields(['p50', 'p95']),
    }),
    'Sums per time and group.',
  ),
  total: shape.object(sumFields, {}, 'The sum of all.'),
})

/**
 * The question in a query for usage. It is answered from the sums of hours and days, so the window is extended to whole
 * hours. What asks for tags is answered from the rows, as far as they are kept. Throws `invalid_field` and `window_too_large`.
 */
export function usageQuestion(query: Query, known: readonly Dimension[] = usageWords): UsageQuestion {
  const name = (query.text('interval') ?? 'day') as IntervalName
  const { length: interval, longest } = intervals[name]
  const window = windowIn(query, 30 * DAY)
  requireWindow(window, longest, `the interval "${name}" takes a window of`)
  const since = Math.floor(window.since / HOUR) * HOUR
  const until = Math.ceil(window.until / HOUR) * HOUR
  const words = wordsIn((name) => query.values(name), known)
  const withoutWords = wordsIn((name) => query.leftOut(name), known)
  return {
    name,
    interval,
    by: groupsIn(query, 2, known),
    filter: { since, until, words, withoutWords, ...tagsIn(query) },
  }
}

/**
 * Usage and cost per time and group.
 * @param ownKeys only rows of these keys; undefined: of all
 */
export async function usageOf(
  { name, ...question }: UsageQuestion,
  ownKeys: readonly string[] | undefined,
  naming: Naming,
): Promise<JsonObject> {
  const { filter, by } = question
  const cells = await cellsOf(naming.requests, { ...question, filter: { ...filter, ownKeys } })
  const group = await groupNames(cells, by, naming)
  return {
    interval: name,
    since: timeText(filter.since),
    until: timeText(filter.until),
    data: cells.map((cell) => ({
      at: cell.at === undefined ? null : timeText(cell.at),
      group: group(cell),
      ...shownSum(cell.sum),
      ...shownLatency(cell, ['p50', 'p95']),
    })),
    total: shownSum(totalOf(cells)),
  }
}
