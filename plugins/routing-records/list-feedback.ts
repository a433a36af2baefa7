import { GatewayError, defineAction } from '../../engine/index.ts'
import { listOf, pageOf } from '../../engine/kit.ts'
import { labelShape, shownLabel } from './labels.ts'

/** Answers a page of the ratings that the member who asks, or a key of the member, has given. */
export default defineAction({
  name: 'list-feedback',
  summary: 'Answer a page of the ratings that the member who asks has given.',
  route: 'GET /api/me/feedback',
  access: { role: 'any' },
  query: listOf({ sorts: ['at'], usual: '-at' }),
  answer: pageOf(labelShape),
  errors: ['invalid_cursor'],
  uses: ['routing_records'],
  async run({ query: list, principal }, { routing_records: records }) {
    const { after, limit, isDescending } = list
    if (after && !Number.isSafeInteger(after[0])) throw new GatewayError('invalid_cursor', { param: 'cursor' })
    const labels = await records.labels.given(principal.id, {
      limit: limit + 1,
      isDescending,
      after: after && [Number(after[0]), after[1]],
    })
    const { data, next_cursor } = list.onePage(labels, ({ at, id }) => [at, id])
    return { data: data.map(shownLabel), next_cursor }
  },
})
