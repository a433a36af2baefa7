import { GatewayError, defineStage } from '../../../engine/index.ts'
import { asGatewayError } from '../../../engine/kit.ts'
import type {
  Candidate,
  Envelope,
  ErrorOptions,
  Host,
  Job,
  JsonObject,
  Principal,
  Slots,
  TypedRecords,
} from '../../../engine/index.ts'
import { responseId, responseObject } from '../response.ts'
import { recordOf } from './save-response.ts'
import { deleteResponse, linked } from './chain.ts'
import { deletePending, pendingOf, writePending } from './pending.ts'
import { findResponse, ownerOf, recordLimit, writeResponse } from './record.ts'

/** Names a guard that judges requests, if there is one: a job is not judged any more. */
const guarding = (records: TypedRecords): string | undefined => {
  const guard = records.of('guard').find(({ side }) => side.includes('input') || side.includes('tool_results'))
  return guard && `the guard "${guard.name}"`
}

/**
 * Answers at once with a response in progress, which a job makes. Requires a store that all processes share, and an API
 * key as the owner of the response; otherwise `redis_not_available`.
 */
export default defineStage({
  name: 'background',
  summary: 'Answer with a response in progress, and make it in the background.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ pipeline: 'responses-background' }],
    required: ['pipeline'],
    properties: {
      pipeline: {
        type: 'string',
        'x-names': 'pipeline',
        'x-inputs': ['job'],
        description: 'Pipeline that makes the response; it starts with the slot "job".',
      },
    },
  } as const,
  needs: ['request', 'candidates'],
  reads: ['principal', 'decision', 'ingress'],
  provides: ['reply', 'job'],
  pays: ['record-routing'],
  uses: ['guards', 'traces'],
  owes: [{ duty: 'guard-input', at: 'before', unless: guarding }],
  build:
    ({ pipeline }, host, { guards, traces }) =>
    async ({ request, candidates, principal, decision, ingress }, scope) => {
      const { id } = scope
      const { jobs, keyValue } = host
      if (!jobs || !keyValue.shared) throw unavailable({ reason: 'none is configured' })
      if (!principal) throw unavailable({}, { message: 'Background responses need an API key.' })
      // Rejected now, as it would be for a waiting client: the first provider cannot know the conversation.
      if (request.missing && candidates[0]?.offer.protocol !== request.protocol) throw request.missing
      const response = begun(id, request, candidates)
      const trace = traces.contextFor(scope, ingress)
      const job: Job = { id, input: { response: responseId(id) }, ...(trace ? { trace } : {}) }
      try {
        const tokens = guards.sealedTokens(scope, ownerOf(principal))
        await hold(response, { request, principal, id, decision, tokens }, host)
        await jobs.add(pipeline, job)
      } catch (error) {
        await forget(id, principal, host)
        if (asGatewayError(error).code !== 'store_unavailable') throw error
        throw unavailable({ reason: 'it cannot be reached' }, { cause: error })
      }
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: response } }, job }
    },
})

function unavailable(facts: { readonly reason?: string }, options: ErrorOptions = {}): GatewayError {
  return new GatewayError('redis_not_available', facts, { shouldRetry: false, ...options })
}

function begun(id: string, { sent, model }: Envelope, [first]: readonly Candidate[]): JsonObject {
  const asked = { id, model: first?.model.name ?? model, stream: false, body: sent, origin: '' }
  return responseObject(asked, { status: 'in_progress', output: [] })
}

interface Begun {
  readonly request: Envelope
  readonly principal: Principal
  readonly id: string
  readonly decision: Slots['decision'] | undefined
  readonly tokens: string | undefined
}

/** Stores the response and the data that its job needs. */
async function hold(
  response: JsonObject,
  { request, principal, id, decision, tokens }: Begun,
  { keyValue }: Host,
): Promise<void> {
  const record = recordOf(response, { request, keyId: ownerOf(principal), exchange: id, tokens })
  const kept =
    (await writePending(keyValue, responseId(id), pendingOf(request, principal, decision))) &&
    (await writeResponse(keyValue, await linked(keyValue, record), { version: null })) === undefined
  if (!kept) throw new GatewayError('request_too_large', { limit: recordLimit })
}

/** Removes a response without a job, which would stay in progress until it expires. Never rejects. */
async function forget(exchange: string, principal: Principal, { keyValue, log }: Host): Promise<void> {
  const id = responseId(exchange)
  try {
    await deletePending(keyValue, id)
    const found = await findResponse(keyValue, id, ownerOf(principal))
    if (found) await deleteResponse(keyValue, found)
  } catch (error) {
    log.warn({ id: exchange, reason: asGatewayError(error).code }, 'a response without a job is left in the store')
  }
}
