import { defineAction } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import { filterFields, filterOf, ownKeysOf, timeFields } from './filter.ts'
import { cellsOf, requireWindow, windowIn } from './sums-asked.ts'
import { latencyFields, savingsOf, shownLatency, shownSum, sumFields, totalOf, windowFields } from './sums-shown.ts'
import { DAY } from './sums.ts'
import { Latency } from './latency.ts'

const statuses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Answers figures of all requests in a window of at most 31 days. A viewer sees those of own API keys. */
export default defineAction({
  name: 'get-stats',
  summary: 'Answer figures of the requests in a window.',
  route: 'GET /api/logs/stats',
  access: { role: 'viewer' },
  query: { ...filterFields, ...timeFields },
  answer: shape.object({
    ...windowFields,
    ...sumFields,
    client_closed: shape.integer('Those whose client left.'),
    savings: shape.orNull(shape.number('What smart routing saved, in USD; null: no request was routed.')),
    ...latencyFields(),
    by_status: shape.map({ type: 'integer' }, 'Number of requests by class of status.'),
    dropped_rows: shape.integer('Rows that this process could not write.'),
  }),
  errors: ['window_too_large'],
  uses: ['requests', 'api_keys'],
  async run({ query, principal }, { requests, api_keys: keys }) {
    const filter = filterOf(query)
    const window = windowIn(query, DAY)
    requireWindow(window, 31 * DAY, 'a window is')
    const ownKeys = ownKeysOf(principal, keys)
    const cells = await cellsOf(requests, { filter: { ...filter, ...window, ownKeys }, by: [] })
    const sum = totalOf(cells)
    const [{ latency } = { latency: { duration: new Latency(), first_byte: new Latency() } }] = cells
    const byStatus = statuses.map((name) => [name, sum[`status_${name}`]] as const).filter(([, count]) => count > 0)
    return {
      since: timeText(window.since),
      until: timeText(window.until),
      ...shownSum(sum),
      client_closed: sum.client_closed,
      savings: savingsOf(sum),
      ...shownLatency({ latency }),
      by_status: Object.fromEntries(byStatus),
      dropped_rows: requests.counters.dropped,
    }
  },
})
