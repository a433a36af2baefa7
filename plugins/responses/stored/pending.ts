import { GatewayError } from '../../../engine/index.ts'
import { asGatewayError, isObject } from '../../../engine/kit.ts'
import type { Envelope, ErrorCode, Facts, Host, JsonObject, KeyValue, Principal, Slots } from '../../../engine/index.ts'
import { isList, objects, text, without } from '../values.ts'
import { decodeLines, encodeLines } from './lines.ts'
import type { Items } from './lines.ts'
import { lifetime, ownerOf, recordLimit } from './record.ts'
import { compress, decompress } from './zstd.ts'

/** The data needed to serve a request without its client; stored beside the response until the response has ended. */
export interface Pending {
  readonly principal: {
    /** Absent in records of older versions, which had only API keys. */
    readonly kind?: Principal['kind']
    readonly keyId: string
    readonly name: string
    readonly role?: string
    readonly models?: readonly string[]
  }
  /** The client's headers that a stage may read. */
  readonly headers: Envelope['headers']
  /** The client's body, and the completed body to serve, if different. */
  readonly sent: JsonObject
  readonly body?: JsonObject
  /** How the request was routed, if it names a virtual model. */
  readonly decision?: Slots['decision']
  /** The unknown part of the conversation (`Envelope.missing`). */
  readonly missing?: {
    readonly code: ErrorCode
    readonly facts: Facts
    readonly message: string
    readonly client: string | null
  }
}

/** None of these headers identifies the client or carries credentials. */
const keptHeaders = [
  'openai-beta',
  'user-agent',
  'x-conversation-id',
  'x-gateway-guards',
  'x-request-id',
  'x-routing-max-cost',
]

/** Fields of streaming, because no client reads the stream. */
const streaming = new Set(['stream', 'stream_options'])

/** The data of a request to store. */
export function pendingOf(
  { headers, sent, body, missing }: Envelope,
  { id, models, ...known }: Principal,
  decision?: Slots['decision'],
): Pending {
  return {
    ...(decision ? { decision } : {}),
    principal: { ...known, keyId: id, ...(models ? { models: [...models] } : {}) },
    headers: Object.fromEntries(keptHeaders.flatMap((header) => (headers[header] ? [[header, headers[header]]] : []))),
    sent,
    ...(body === sent ? {} : { body }),
    ...(missing
      ? {
          missing: { code: missing.code, facts: missing.facts, message: missing.message, client: missing.failure.code },
        }
      : {}),
  }
}

/** The body to serve. */
export function bodyOf({ sent, body = sent }: Pending): JsonObject {
  return without(body, streaming)
}

export function principalOf({ principal: { kind = 'key', keyId, models, ...known } }: Pending): Principal {
  return { ...known, kind, id: keyId, ...(models ? { models: new Set(models) } : {}) }
}

export function missingOf({ missing }: Pending): GatewayError | undefined {
  if (!missing) return undefined
  const { code, facts, message, client } = missing
  return new GatewayError(code, facts, { message, code: client })
}

/** The account of an owner's unfinished background responses. */
export function pendingAccount(owner: string): string {
  return `pending:${owner}`
}

/** Stores the request; returns false if it is too large. Rejects with `store_unavailable`. */
export async function writePending(keyValue: KeyValue, id: string, pending: Pending): Promise<boolean> {
  const { sent, body, ...head } = pending
  const [first, second] = [apart(sent), apart(body)]
  const bodies = { sent: first.rest, ...(body ? { body: second.rest } : {}) }
  const bytes = await encodeLines({ ...head, ...bodies }, [first.input, second.input])
  if (bytes.length > recordLimit) return false
  const account = pendingAccount(ownerOf(principalOf(pending)))
  return keyValue.set(keyOf(id), await compress(bytes), { ttl: lifetime, account })
}

/** Splits a body into the items of its input and the rest, in which `input` is an empty list. */
function apart(body: JsonObject = {}): { readonly rest: JsonObject; readonly input: Items } {
  const { input } = body
  return isList(input) && input.every(isObject)
    ? { rest: { ...body, input: [] }, input: objects(input) }
    : { rest: body, input: [] }
}

function together(rest: JsonObject, input: Items = []): JsonObject {
  return input.length > 0 ? { ...rest, input: [...input] } : rest
}

/** Rejects with `store_unavailable`. */
export async function readPending(keyValue: KeyValue, id: string): Promise<Pending | undefined> {
  const held = await keyValue.get(keyOf(id))
  if (!held) return undefined
  const { head, lists } = await decodeLines(await decompress(held.value, { maxOutputLength: recordLimit }))
  const pending = head as unknown as Pending
  const { sent, body } = pending
  return { ...pending, sent: together(sent, lists[0]), ...(body ? { body: together(body, lists[1]) } : {}) }
}

/** Rejects with `store_unavailable`. */
export async function deletePending(keyValue: KeyValue, id: string): Promise<void> {
  await keyValue.delete(keyOf(id))
}

/** Ends the job of a response that has already ended, so that its later writes are rejected. Never rejects. */
export async function stopJob(id: string, { jobs, log }: Host): Promise<void> {
  try {
    await jobs?.cancel(exchangeOf(id))
  } catch (error) {
    log.warn({ response: id, reason: asGatewayError(error).code }, 'the job of a response that has ended goes on')
  }
}

/** The id of the response that a job makes. */
export function responseOf(input: unknown): string {
  return text((input as JsonObject)['response']) ?? ''
}

/** The id of the exchange and job of a response id. */
function exchangeOf(id: string): string {
  return id.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function keyOf(id: string): string {
  return `pending:${id}`
}
