import { GatewayError, defineAction } from '../../engine/index.ts'
import { listOf, pageOf } from '../../engine/kit.ts'
import { filterFields, filterOf, ownKeysOf, timeFields } from './filter.ts'
import { itemShape, listItem } from './shown.ts'

/** Answers a page of the request log. A viewer sees the requests of own API keys. */
export default defineAction({
  name: 'list-requests',
  summary: 'Answer a page of the request log.',
  route: 'GET /api/logs',
  access: { role: 'viewer' },
  query: listOf({ filters: { ...filterFields, ...timeFields }, sorts: ['at'], usual: '-at' }),
  answer: pageOf(itemShape),
  errors: ['invalid_cursor'],
  uses: ['requests', 'api_keys'],
  async run({ query: list, principal }, { requests, api_keys: keys }) {
    const { after } = list
    if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
    const filter = { ...filterOf(list), ownKeys: ownKeysOf(principal, keys) }
    const rows = await requests.slice(filter, {
      limit: list.limit + 1,
      isDescending: list.isDescending,
      after: after && [Number(after[0]), after[1]],
    })
    const { data, next_cursor } = list.onePage(rows, ({ at, id }) => [at, id])
    return { data: data.map(listItem), next_cursor }
  },
})
