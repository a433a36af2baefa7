import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import { parsedObject } from '../../../engine/kit.ts'
import type { Envelope, Given, Host, JsonObject, KeyValue, Scope, Services } from '../../../engine/index.ts'
import { object, text } from '../values.ts'
import { saveResponse, recordOf, unchanged } from './save-response.ts'
import { ownerOf } from './record.ts'
import { rememberOnSocket, sessionsOf } from './session.ts'
import type { Sessions } from './session.ts'
import { underway } from './underway.ts'
import { withheld } from './withheld.ts'

type Slots = Given<'request' | 'reply', 'ingress' | 'principal' | 'model' | 'upstream' | 'answer' | 'measurement'>

/** Milliseconds that an answer waits for the store. With a slower store it is sent first, and stored afterwards. */
const patience = 250

/**
 * Stores the response before the client has all of it, unless the request has `store: false`. On a socket it also
 * becomes the most recent response. Without an API key nothing is stored. A failing store costs no client its answer,
 * which then says `store: false`.
 */
export default defineStage({
  name: 'store',
  summary: 'Store the response for later requests.',
  config: noConfig,
  needs: ['request', 'reply'],
  reads: ['ingress', 'principal', 'model', 'upstream', 'answer', 'measurement'],
  provides: ['reply'],
  uses: ['guards'],
  build: (_, host, { guards }) => {
    const { keyValue, log } = host
    const places = { keyValue, sessions: sessionsOf(host), underway: underway(host), tell: changesOf(log), guards }
    return (slots, scope) => {
      const { reply, request, ingress, principal } = slots
      const { body } = reply
      const wanted = storing(request) || ingress?.session !== undefined
      if (!principal || !wanted || reply.status >= 400) return { reply }
      const kept = (seen: JsonObject | undefined) => {
        const own = seen && unchanged(slots.measurement)
        const response = own === undefined ? seen : (own ?? undefined)
        const work = remembered(response, ownerOf(principal), slots, scope, places)
        return noLonger(patience, tracked(response, work, places))
      }
      if (body.kind === 'stream') {
        const source = withheld(body.source, kept)
        return { reply: { ...reply, body: { ...body, source } } }
      }
      const response = wholeOf(slots)
      if (!response) return { reply }
      return kept(response).then((isKept) => {
        const value = { ...response, store: false }
        return { reply: isKept ? reply : { ...reply, body: { kind: 'json', value } } }
      })
    }
  },
})

/** A background response is always stored, because no client waits for it. */
export function storing({ body, background }: Envelope): boolean {
  return background || body['store'] !== false
}

function wholeOf({ reply: { body }, answer }: Slots): JsonObject | undefined {
  if (body.kind === 'json') return object(body.value)
  if (body.kind !== 'bytes') return undefined
  // The provider's bytes were parsed before.
  if (answer?.kind === 'whole' && answer.bytes === body.bytes) return object(answer.body)
  const { buffer, byteOffset, length } = body.bytes
  return parsedObject(Buffer.from(buffer, byteOffset, length).toString())
}

/** Resolves with `work`, or with true after `ms` milliseconds, when it may still succeed. */
async function noLonger(ms: number, work: Promise<boolean>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(true), ms)
  const isKept = await Promise.race([work, late])
  clearTimeout(timer)
  return isKept
}

/** A request for the response waits meanwhile until it is stored. */
function tracked(
  response: JsonObject | undefined,
  work: Promise<boolean>,
  { underway }: ResponseStore,
): Promise<boolean> {
  const id = text(response?.['id'])
  if (id === undefined) return work
  const done = work.then(() => void (underway.get(id) === done && underway.delete(id)))
  underway.set(id, done)
  return work
}

/** The store of responses, and the log of its failures. */
interface ResponseStore {
  readonly keyValue: KeyValue
  readonly sessions: Sessions
  readonly underway: Map<string, Promise<void>>
  readonly guards: Services['guards']
  /** `error`: why the store failed. */
  readonly tell: (error?: unknown) => void
}

/** Logs when the store starts to fail and when it recovers. Each response has a note in its own row. */
function changesOf(log: Host['log']): ResponseStore['tell'] {
  let failing = false
  return (error) => {
    const away = error instanceof GatewayError && error.code === 'store_unavailable'
    if (error !== undefined && !away) return log.error({ err: error }, 'a response could not be stored')
    if (failing === away) return
    failing = away
    if (away) log.warn({ reason: String(error.cause) }, 'responses are not stored: the store does not answer')
    else log.info('responses are stored again')
  }
}

/** Stores a response where its client can find it. Resolves with false if the store failed; never rejects. */
async function remembered(
  response: JsonObject | undefined,
  keyId: string,
  { request, ingress, model, upstream, answer, measurement }: Slots,
  scope: Scope,
  { keyValue, sessions, tell, guards }: ResponseStore,
): Promise<boolean> {
  const note = (why: string) => scope.note('not_stored', why)
  if (!response) {
    note('too large')
    return true
  }
  try {
    const served = { model, upstream, answer, measurement, tokens: guards.sealedTokens(scope, keyId) }
    const record = recordOf(response, { request, keyId, exchange: scope.id, ...served })
    const near = response['status'] === 'failed' || rememberOnSocket(ingress, record, sessions)
    if (!storing(request)) {
      if (!near) note('no room on the socket')
      return true
    }
    const unkept = await saveResponse(keyValue, record)
    if (unkept === undefined) tell()
    else note(unkept)
    return true
  } catch (error) {
    note('the store failed')
    tell(error)
    return false
  }
}
