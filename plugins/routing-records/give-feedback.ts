import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Access, Principal, Services } from '../../engine/index.ts'
import { RowWait } from './row-wait.ts'
import { rateable } from './decision.ts'
import type { Row } from './decision.ts'
import { labelShape, shownLabel } from './labels.ts'
import { ratedDecision } from './rated-decision.ts'

/** Rates a routed request. A viewer may rate the requests of own API keys, an API key its own, an admin all. */
export function giveFeedback(name: string, route: string, access: Exclude<Access, { readonly public: true }>) {
  return defineAction({
    name,
    summary: 'Rate the routing decision of a request.',
    route,
    access,
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
    },
    answer: labelShape,
    status: 201,
    errors: ['not_found', 'not_routed', 'feedback_exists'],
    writes: { not: 'a rating is part of the request log' },
    uses: ['requests', 'api_keys', 'routing_records', 'experience', 'prices'],
    async run({ body, principal }, services, scope, { catalog }) {
      const { requests, api_keys: keys, routing_records: records, experience, prices } = services
      const { request_id: id, signal, comment = null } = body
      const row = await waitOf(requests).row(id, scope)
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
      return shownLabel(label)
    },
  })
}

/** Those who wait for rows, by the request log. */
const waits = new WeakMap<Services['requests'], RowWait>()

function waitOf(requests: Services['requests']): RowWait {
  const wait = waits.get(requests) ?? new RowWait(requests)
  waits.set(requests, wait)
  return wait
}

function mayRate({ kind, id, role }: Principal, { key_id: key }: Row, keys: Pick<Services['api_keys'], 'ownedBy'>) {
  if (role === 'admin') return true
  return key !== null && (kind === 'key' ? [id] : keys.ownedBy(id)).includes(key)
}

/** The same for a request of somebody else. */
function notFound(id: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no request "${id}" to rate.` })
}
