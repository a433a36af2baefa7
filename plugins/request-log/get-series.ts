import { defineAction } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import { filterFields, filterOf, ownKeysOf, timeFields } from './filter.ts'
import { groupNames } from './group-names.ts'
import { cellsOf, groupsIn, requireWindow, windowIn } from './sums-asked.ts'
import type { Window } from './sums-asked.ts'
import { latencyFields, savingsOf, shownLatency, tokensOf, usd, windowFields } from './sums-shown.ts'
import { groupShape, tokens } from './shown.ts'
import { DAY, HOUR, MINUTE } from './sums.ts'

/** The lengths of times, and the longest windows in which they are told apart. */
const intervals = {
  '1m': { length: MINUTE, longest: 6 * HOUR },
  '5m': { length: 5 * MINUTE, longest: 2 * DAY },
  '1h': { length: HOUR, longest: 31 * DAY },
  '1d': { length: DAY, longest: 400 * DAY },
} as const

type IntervalName = keyof typeof intervals

/** Answers figures per time, for charts. A viewer sees those of own API keys. */
export default defineAction({
  name: 'get-series',
  summary: 'Answer figures of the requests per time, for charts.',
  route: 'GET /api/logs/series',
  access: { role: 'viewer' },
  query: {
    ...filterFields,
    ...timeFields,
    interval: {
      enum: Object.keys(intervals),
      description: 'Length of the times; default: the shortest for the window.',
    },
    group_by: { type: 'string', description: 'What is told apart: one of the filters, or tag:<name>.' },
  },
  answer: shape.object({
    interval: shape.word(Object.keys(intervals), 'Length of the times.'),
    ...windowFields,
    data: shape.list(
      shape.object(
        {
          at: shape.time('Begin of the time.'),
          completed: shape.integer('Requests that completed.'),
          client_closed: shape.integer('Those whose client left.'),
          refused: shape.integer('Those that were refused.'),
          failed: shape.integer('Those that failed.'),
          ...latencyFields(),
          tokens,
          cost: shape.number('Known cost in USD.'),
          savings: shape.orNull(shape.number('What smart routing saved, in USD; null: no request was routed.')),
        },
        { group: groupShape },
      ),
      'Figures per time and group.',
    ),
  }),
  errors: ['window_too_large'],
  uses: ['requests', 'api_keys', 'members'],
  async run({ query, principal }, services) {
    const filter = filterOf(query)
    const asked = query.text('interval') as IntervalName | undefined
    const window = windowIn(query, Math.min(DAY, asked ? intervals[asked].longest : DAY))
    const name = asked ?? usualInterval(window)
    const { length: interval, longest } = intervals[name]
    requireWindow(window, longest, `the interval "${name}" takes a window of`)
    const by = groupsIn(query, 1)
    const ownKeys = ownKeysOf(principal, services.api_keys)
    const cells = await cellsOf(services.requests, { filter: { ...filter, ...window, ownKeys }, interval, by })
    const group = await groupNames(cells, by, services)
    const data = cells.map((cell) => ({
      at: timeText(cell.at ?? 0),
      ...(by.length === 0 ? {} : { group: group(cell) }),
      completed: cell.sum.completed,
      client_closed: cell.sum.client_closed,
      refused: cell.sum.refused,
      failed: cell.sum.failed,
      ...shownLatency(cell),
      tokens: tokensOf(cell.sum),
      cost: usd(cell.sum.cost_micros),
      savings: savingsOf(cell.sum),
    }))
    const { since, until } = window
    return { interval: name, since: timeText(since), until: timeText(until), data }
  },
})

/** The shortest interval that takes a window. */
function usualInterval({ since, until }: Window): IntervalName {
  const names = Object.keys(intervals) as IntervalName[]
  return names.find((name) => until - since <= intervals[name].longest) ?? '1d'
}
