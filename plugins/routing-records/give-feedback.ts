import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Principal, Services } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { RowWait } from './row-wait.ts'
import { rateable } from './decision.ts'
import type { Row } from './decision.ts'
import { shownLabel } from './labels.ts'
import { ratedDecision } from './rated-decision.ts'

/** Rates a routed request. A viewer may rate the requests of own API keys, an API key its own, an admin all. */
export default defineStage({
  name: 'give-feedback',
  summary: 'Rate the routing decision of a request.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['requests', 'api_keys', 'routing_records', 'experience', 'prices'],
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['request_id', 'signal'],
    properties: {
      request_id: {
        type: 'string',
        title: 'Request',
        minLength: 1,
        maxLength: 128,
        description: 'Id of the request, which is the `x-request-id` of its answer.',
      },
      signal: {
        type: 'string',
        title: 'Signal',
        enum: ['ok', 'weak', 'strong'],
        description: 'The model was right, too weak for the request, or stronger than necessary.',
      },
      comment: {
        type: 'string',
        title: 'Comment',
        maxLength: 2_000,
        // No database text holds a null character or half of a surrogate pair.
        pattern: '^[^\\u0000\\ud800-\\udfff]*$',
        patternErrorMessage: 'must be text',
        description: 'A remark for people. Routing never reads it, and no export has it.',
      },
    },
  } as const,
  build: (_config, { catalog }, { requests, api_keys: keys, routing_records: records, experience, prices }) => {
    const rows = new RowWait(requests)
    return async ({ input, ingress, principal }, scope) => {
      readQuery(ingress.query)
      const { request_id: id, signal, comment = null } = input
      const row = await rows.row(id, scope)
      if (!row || !mayRate(principal, row, keys)) throw notFound(id)
      const routing = rateable(row)
      if (!routing) throw new GatewayError('not_routed', { id })
      const label = {
        id,
        request_at: row.at,
        at: Date.now(),
        signal,
        comment,
        member_id: principal.kind === 'member' ? principal.id : (principal.owner ?? null),
      }
      const decision = ratedDecision(row, routing, catalog, prices)
      const isFirst = await records.labels.add(label, (transaction) => experience.reward(decision, signal, transaction))
      if (!isFirst) throw new GatewayError('feedback_exists', { id })
      return { reply: jsonReply(shownLabel(label), { status: 201 }) }
    }
  },
})

function mayRate({ kind, id, role }: Principal, { key_id: key }: Row, keys: Pick<Services['api_keys'], 'ownedBy'>) {
  if (role === 'admin') return true
  return key !== null && (kind === 'key' ? [id] : keys.ownedBy(id)).includes(key)
}

/** The same for a request of somebody else. */
function notFound(id: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no request "${id}" to rate.` })
}
