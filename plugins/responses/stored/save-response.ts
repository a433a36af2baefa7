import { answerOnByteLane } from '../../../engine/kit.ts'
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

/** What is known of a response beside its object. */
export interface Circumstances {
  readonly request: Envelope
  readonly keyId: string
  /** Id of the exchange, for the ids of input items that have none. */
  readonly exchange: string
  /** Who served it, and how it was asked. */
  readonly model?: Candidate | undefined
  readonly upstream?: Upstream | undefined
  readonly answer?: UpstreamAnswer | undefined
  readonly measurement?: Measurement | undefined
}

/** A response and its conversation as they are kept. */
export function recordOf(response: JsonObject, { request, keyId, exchange, ...served }: Circumstances): WholeResponse {
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
    ...servedBy(model, measurement),
    // Bytes that were passed on gave the client the provider's own id.
    held: native && relayed && model?.offer.traits?.['stores'] === true && stored,
    partial: missing !== undefined || (native && (body['conversation'] ?? undefined) !== undefined),
  }
}

/** What is kept of who served a response: the provider, and what of its reasoning the client was not shown. */
export function servedBy(model?: Candidate, measurement?: Measurement): Pick<StoredResponse, 'origin' | 'sealed'> {
  const unshown = measurement?.unshown?.()
  return {
    ...(model ? { origin: model.origin } : {}),
    ...(unshown?.size ? { sealed: Object.fromEntries(unshown) } : {}),
  }
}

/**
 * Keeps a record, and makes its items findable. A response of the same key under the same id gives way, one of another
 * key does not. Answers why it was not kept, if it was not. Rejects with `store_unavailable`.
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
  // What continues the one that gives way, or is continued by it, must not be mixed up with this one.
  return writeResponse(keyValue, unlinked(record), { version: before.version, ttl: longestLife })
}
