import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'
import { filterFields, filterOf, ownKeysOf, timeFields } from './filter.ts'
import { cellsOf, requireWindow, windowIn } from './sums-asked.ts'
import { savingsOf, shownLatency, shownSum, totalOf } from './sums-shown.ts'
import { DAY } from './sums.ts'
import { Latency } from './latency.ts'

const statuses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Answers figures of all requests in a window of at most 31 days. A viewer sees those of own API keys. */
export default defineStage({
  name: 'get-stats',
  summary: 'Answer figures of the requests in a window.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys'],
  build:
    (_config, _host, { requests, api_keys: keys }) =>
    async ({ ingress, principal }) => {
      const query = readQuery(ingress.query, { ...filterFields, ...timeFields })
      const filter = filterOf(query)
      const window = windowIn(query, DAY)
      requireWindow(window, 31 * DAY, 'a window is')
      const ownKeys = ownKeysOf(principal, keys)
      const cells = await cellsOf(requests, { filter: { ...filter, ...window, ownKeys }, by: [] })
      const sum = totalOf(cells)
      const [{ latency } = { latency: { duration: new Latency(), first_byte: new Latency() } }] = cells
      const byStatus = statuses.map((name) => [name, sum[`status_${name}`]] as const).filter(([, count]) => count > 0)
      const reply = jsonReply({
        since: timeText(window.since),
        until: timeText(window.until),
        ...shownSum(sum),
        client_closed: sum.client_closed,
        savings: savingsOf(sum),
        ...shownLatency({ latency }),
        by_status: Object.fromEntries(byStatus),
        dropped_rows: requests.counters.dropped,
      })
      return { reply }
    },
})
