import { defineStage, noConfig } from '../../../../engine/index.ts'
import type { Envelope, Given, Host, JsonObject, Reply, Scope } from '../../../../engine/index.ts'
import { object, parsedObject } from '../values.ts'
import { keep, recordOf } from './keep.ts'
import { keepOnSocket } from './session.ts'
import { withheld } from './withheld.ts'

type Slots = Given<'request' | 'reply', 'ingress' | 'principal' | 'model' | 'upstream'>

/**
 * Keeps the response for its lifetime before the client has it whole, unless it said `store: false`; on a socket, also
 * as the most recent one there. Without an API key nothing is kept. A store that fails costs no client its answer.
 */
export default defineStage({
  name: 'store',
  summary: 'Keep the response for later requests.',
  config: noConfig,
  needs: ['request', 'reply'],
  maybe: ['ingress', 'principal', 'model', 'upstream'],
  provides: ['reply'],
  build: (_, host) => (slots, scope) => {
    const { reply, request, ingress, principal } = slots
    const { body } = reply
    const wanted = storing(request) || ingress?.session !== undefined
    if (!principal || !wanted || reply.status >= 400) return { reply }
    const kept = (response: JsonObject | undefined) => remembered(response, principal.keyId, slots, scope, host)
    if (body.kind === 'stream') {
      const source = withheld(body.source, kept)
      return { reply: { ...reply, body: { ...body, source } } }
    }
    const response = wholeOf(body)
    return response ? kept(response).then(() => ({ reply })) : { reply }
  },
})

/** Nobody waits for a response in the background: it is always stored. */
function storing({ body, background }: Envelope): boolean {
  return background || body['store'] !== false
}

function wholeOf(body: Reply['body']): JsonObject | undefined {
  if (body.kind === 'json') return object(body.value)
  if (body.kind !== 'bytes') return undefined
  const { buffer, byteOffset, length } = body.bytes
  return parsedObject(Buffer.from(buffer, byteOffset, length).toString())
}

/** Keeps a response where its client may look for it. Never rejects. */
async function remembered(
  response: JsonObject | undefined,
  keyId: string,
  { request, ingress, model, upstream }: Slots,
  scope: Scope,
  { log, keyValue }: Host,
): Promise<void> {
  const tell = (why: string, error?: unknown) => {
    scope.note('not_stored', why)
    log.warn({ id: scope.id, why, ...(error === undefined ? {} : { err: error }) }, 'a response was not stored')
  }
  if (!response) return tell('too large')
  try {
    const record = recordOf(response, { request, keyId, exchange: scope.id, model, upstream })
    if (response['status'] !== 'failed') keepOnSocket(ingress, record)
    if (!storing(request)) return
    const unkept = await keep(keyValue, record)
    if (unkept !== undefined) tell(unkept)
  } catch (error) {
    tell('the store failed', error)
  }
}
