import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readList } from '../../engine/kit.ts'
import { shownLabel } from './labels.ts'

/** Answers a page of the ratings that the member who asks, or a key of the member, has given. */
export default defineStage({
  name: 'list-feedback',
  summary: 'Answer a page of the ratings that the member who asks has given.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['routing_records'],
  build:
    (_config, _host, { routing_records: records }) =>
    async ({ ingress, principal }) => {
      const list = readList(ingress.query, { sorts: ['at'], usualSort: '-at' })
      const { after, limit, isDescending } = list
      if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
      const labels = await records.labels.given(principal.id, {
        limit: limit + 1,
        isDescending,
        after: after && [Number(after[0]), after[1]],
      })
      const { data, next_cursor } = list.onePage(labels, ({ at, id }) => [at, id])
      return { reply: jsonReply({ data: data.map(shownLabel), next_cursor }) }
    },
})
