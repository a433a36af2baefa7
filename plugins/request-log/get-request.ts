import { GatewayError, defineAction } from '../../engine/index.ts'
import { ownKeysOf } from './filter.ts'
import { detail, detailShape } from './shown.ts'

/** Answers all that is known of one request. For a viewer, the requests of other people's keys do not exist. */
export default defineAction({
  name: 'get-request',
  summary: 'Answer all that is known of a request.',
  route: 'GET /api/logs/:id',
  access: { role: 'viewer' },
  answer: detailShape,
  uses: ['requests', 'api_keys', 'routing_records', 'traces'],
  async run({ params: { id }, principal }, { requests, api_keys: keys, routing_records: routing, traces }) {
    const own = ownKeysOf(principal, keys)
    const row = await requests.row(id)
    if (!row || (own && !own.includes(row.key_id ?? ''))) throw notFound(id)
    // A key may have changed hands: what it was used for before is not for its next owner.
    const isOwn = own === undefined || row.member_id === principal.id
    const capture = isOwn ? await requests.captured(row.id) : undefined
    const shown = detail(row, {
      children: await requests.partsOf(row.id),
      label: await routing.label(row.id),
      traceUrl: row.trace_id === null ? undefined : traces.linkOf(row.trace_id),
    })
    return { ...shown, capture: capture ? { ...capture } : null }
  },
})

function notFound(id: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no request "${id.slice(0, 128)}" in the log.` })
}
