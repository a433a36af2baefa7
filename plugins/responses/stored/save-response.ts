import { answerOnByteLane, isObject, parsedObject } from '../../../engine/kit.ts'
import type {
  Candidate,
  Envelope,
  JsonObject,
  KeyValue,
  Measurement,
  Upstream,
  UpstreamAnswer,
} from '../../../engine/index.ts'
import { recordedInput } from './conversation.ts'
import { earlierOf, linked, longestLife, unlinked } from './chain.ts'
import { continuedIn } from './continued.ts'
import { indexItems } from './item-index.ts'
import { idOf, readTurn, writeResponse } from './record.ts'
import type { StoredResponse, Unkept, WholeResponse } from './record.ts'

/** Data of a response besides its object. */
export interface Circumstances {
  readonly request: Envelope
  readonly keyId: string
  /** Id of the exchange, used for input items without an id. */
  readonly exchange: string
  /** What tokens of guards stand for, sealed (`Guards.sealedTokens`). */
  readonly tokens: string | undefined
  /** The provider that served it, and the request it got. */
  readonly model?: Candidate | undefined
  readonly upstream?: Upstream | undefined
  readonly answer?: UpstreamAnswer | undefined
  readonly measurement?: Measurement | undefined
}

/** A response and its conversation in their stored form. */
export function recordOf(
  response: JsonObject,
  { request, keyId, exchange, tokens, ...served }: Circumstances,
): WholeResponse {
  const { model, upstream, answer, measurement } = served
  const { body, protocol, missing, background } = request
  const native = model?.offer.protocol === protocol
  const relayed = upstream !== undefined && answer !== undefined && answerOnByteLane(upstream, answer)
  const stored = body['store'] !== false && response['store'] !== false
  const items = recordedInput(body['input'], exchange)
  const { previous, count = 0 } = continuedIn(body) ?? {}
  return {
    keyId,
    response,
    before: items.slice(0, count),
    input: items.slice(count),
    ...(previous ? { earlier: earlierOf(previous) } : {}),
    background,
    ...(tokens === undefined ? {} : { tokens }),
    ...servedBy(model, measurement),
    // On the byte lane, the client has the provider's own id.
    held: native && relayed && model?.offer.traits?.['stores'] === true && stored,
    partial: missing !== undefined || (native && (body['conversation'] ?? undefined) !== undefined),
  }
}

/**
 * The response to store where stages showed its client another one. Undefined: the client's own; null: it has no end.
 */
export function unchanged(measurement: Measurement | undefined): JsonObject | null | undefined {
  const frames = measurement?.stored?.()
  if (!frames) return undefined
  for (const { data } of frames) {
    const value = parsedObject(data)
    const response = value?.['object'] === 'response' ? value : value?.['response']
    if (isObject(response)) return response
  }
  return null
}

/** The stored data of the provider: its origin, and reasoning that the client did not get. */
export function servedBy(model?: Candidate, measurement?: Measurement): Pick<StoredResponse, 'origin' | 'sealed'> {
  const unshown = measurement?.unshown?.()
  return {
    ...(model ? { origin: model.origin } : {}),
    ...(unshown?.size ? { sealed: Object.fromEntries(unshown) } : {}),
  }
}

/**
 * Stores a record and indexes its items. It replaces a response of the same key with the same id, but not one of
 * another key. Returns the reason if it was not stored. Rejects with `store_unavailable`.
 */
export async function saveResponse(keyValue: KeyValue, record: WholeResponse): Promise<Unkept | undefined> {
  const unkept = await write(keyValue, record)
  if (unkept === undefined) await indexItems(keyValue, record)
  return unkept
}

async function write(keyValue: KeyValue, record: WholeResponse): Promise<Unkept | undefined> {
  const unkept = await writeResponse(keyValue, await linked(keyValue, record), { version: null })
  if (unkept !== 'taken') return unkept
  const before = await readTurn(keyValue, idOf(record))
  if (before?.record.keyId !== record.keyId) return 'taken'
  // Links of the replaced response must not be confused with those of this one.
  return writeResponse(keyValue, unlinked(record), { version: before.version, ttl: longestLife })
}
