import type { Candidate, Envelope, JsonObject, KeyValue, Meter, Upstream } from '../../../../engine/index.ts'
import { recordedInput } from './conversation.ts'
import { indexItems } from './item-index.ts'
import { idOf, readResponse, writeResponse } from './record.ts'
import type { StoredResponse, Unkept } from './record.ts'

/** What is known of a response beside its object. */
export interface Circumstances {
  readonly request: Envelope
  readonly keyId: string
  /** Id of the exchange, for the ids of input items that have none. */
  readonly exchange: string
  /** Who served it, and how it was asked. */
  readonly model?: Candidate | undefined
  readonly upstream?: Upstream | undefined
  readonly meter?: Meter | undefined
}

/** A response and its conversation as they are kept. */
export function recordOf(response: JsonObject, { request, keyId, exchange, ...served }: Circumstances): StoredResponse {
  const { model, upstream, meter } = served
  const { body, protocol, missing, background } = request
  const native = model?.offer.protocol === protocol
  const stored = body['store'] !== false && response['store'] !== false
  return {
    keyId,
    response,
    input: recordedInput(body['input'], exchange),
    background,
    ...servedBy(model, meter),
    // Bytes that were passed on gave the client the provider's own id.
    held: native && upstream?.same === true && model?.offer.traits?.['stores'] === true && stored,
    partial: missing !== undefined || (native && (body['conversation'] ?? undefined) !== undefined),
  }
}

/** What is kept of who served a response: the provider, and what of its reasoning the client was not shown. */
export function servedBy(model?: Candidate, meter?: Meter): Pick<StoredResponse, 'origin' | 'sealed'> {
  const unshown = meter?.unshown?.()
  return {
    ...(model ? { origin: model.origin } : {}),
    ...(unshown?.size ? { sealed: Object.fromEntries(unshown) } : {}),
  }
}

/**
 * Keeps a record, and makes its items findable. A response of the same key under the same id gives way, one of another
 * key does not. Answers why it was not kept, if it was not. Rejects with `store_unavailable`.
 */
export async function keep(keyValue: KeyValue, record: StoredResponse): Promise<Unkept | undefined> {
  const unkept = await write(keyValue, record)
  if (unkept === undefined) await indexItems(keyValue, record)
  return unkept
}

async function write(keyValue: KeyValue, record: StoredResponse): Promise<Unkept | undefined> {
  const unkept = await writeResponse(keyValue, record, null)
  if (unkept !== 'taken') return unkept
  const before = await readResponse(keyValue, idOf(record))
  return before?.record.keyId === record.keyId ? writeResponse(keyValue, record, before.version) : 'taken'
}
