import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readList } from '../../engine/kit.ts'
import { filterFields, filterOf, ownKeysOf, timeFields } from './filter.ts'
import { listItem } from './shown.ts'

/** Answers a page of the request log. A viewer sees the requests of own API keys. */
export default defineStage({
  name: 'list-requests',
  summary: 'Answer a page of the request log.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys'],
  build:
    (_config, _host, { requests, api_keys: keys }) =>
    async ({ ingress, principal }) => {
      const list = readList(ingress.query, {
        filters: { ...filterFields, ...timeFields },
        sorts: ['at'],
        usualSort: '-at',
      })
      const { after } = list
      if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
      const filter = { ...filterOf(list), ownKeys: ownKeysOf(principal, keys) }
      const rows = await requests.slice(filter, {
        limit: list.limit + 1,
        isDescending: list.isDescending,
        after: after && [Number(after[0]), after[1]],
      })
      const { data, next_cursor } = list.onePage(rows, ({ at, id }) => [at, id])
      return { reply: jsonReply({ data: data.map(listItem), next_cursor }) }
    },
})
