import { isObject } from '../../../engine/kit.ts'
import type { Held, Json, JsonObject, KeyValue, Principal } from '../../../engine/index.ts'
import { isList, objects, text } from '../values.ts'
import { decodeLines, encodeLines } from './lines.ts'
import type { Items } from './lines.ts'
import { conversationLimit } from './room.ts'
import { compress, decompress } from './zstd.ts'

/** Lifetime of a response: 24 hours in milliseconds, from its last write. */
export const lifetime = 24 * 60 * 60 * 1000

/** Most bytes of JSON of a stored conversation, including its answer. */
export const recordLimit = conversationLimit

/** The earlier responses of a conversation. Each stores its own turn. */
export interface Earlier {
  /** Their ids, from the first to the one that was continued. */
  readonly ids: readonly string[]
  /** Bytes of JSON of all their turns. */
  readonly bytes: number
  /** Time until which all of them but the last are certain to exist, in milliseconds since 1970. */
  until: number
}

/** A stored response, with its own turn of the conversation. */
export interface StoredResponse {
  /** The owner (`ownerOf`); to others the response does not exist. The field has the name that older versions wrote. */
  readonly keyId: string
  /** The response object that the client got. */
  readonly response: JsonObject
  /** The items between the answer of the last of `earlier` and `response.output`, each with an id. */
  readonly input: Items
  /** Absent if `input` is the whole conversation, as in records of older versions. */
  readonly earlier?: Earlier | undefined
  /**
   * Time until which its client can read it, in milliseconds since 1970; afterwards only responses that continue it
   * can.
   */
  readonly until?: number
  /** It was made in the background. */
  readonly background: boolean
  /** The origin that served it (`Candidate.origin`); absent before that. */
  readonly origin?: string
  /** Sealed reasoning that the client did not get, by the ids of its items in `response.output`. */
  readonly sealed?: Readonly<Record<string, string>>
  /** What tokens of guards stand for in it and the turns before it, sealed. */
  readonly tokens?: string | undefined
  /** The provider of `origin` has stored the response, too, under the same id. */
  readonly held: boolean
  /** Its conversation is incomplete: only the provider knows the beginning. */
  readonly partial: boolean
  /**
   * It was deleted. The rest of the record prevents requests for its id to the provider that holds it, and has the turn
   * for the responses that continue it.
   */
  readonly deleted?: true
}

/** A response with all earlier turns of its conversation. */
export interface WholeResponse extends StoredResponse {
  /** The items before `input`. */
  readonly before: Items
}

/** A record with the version that was read, so that a write can require that version. */
export interface FoundResponse {
  readonly record: StoredResponse
  readonly version: string
}

/** Sizes of records that were read or written: bytes of JSON of their own turn. */
const sizes = new WeakMap<StoredResponse, number>()

/** Whether an id is valid: like those of official and compatible servers, without special characters of a store key. */
export function isLegalId(id: string): boolean {
  return /^[A-Za-z0-9_.=-]{1,256}$/.test(id)
}

/** The store key of a response; undefined for an invalid id. */
export function responseKey(id: string): string | undefined {
  return isLegalId(id) ? `response:${id}` : undefined
}

/** The owner of stored data. Ids of members and of API keys never collide. */
export function ownerOf({ kind, id }: Pick<Principal, 'kind' | 'id'>): string {
  return kind === 'key' ? id : `${kind}:${id}`
}

/** The account of an owner's responses. */
export function storageAccount(owner: string): string {
  return `responses:${owner}`
}

/**
 * Bytes of JSON of a conversation with its answer. An estimate if the conversation was neither read nor written,
 * because printing it would cost more.
 */
export function sizeOf(record: StoredResponse): number {
  const own =
    sizes.get(record) ??
    weightOf([record.response, record.input, record.sealed ?? null, record.tokens ?? null], recordLimit)
  return own + (record.earlier?.bytes ?? 0)
}

/** The response with its earlier turns. The size is known if the response's is. */
export function withBefore(record: StoredResponse, before: Items): WholeResponse {
  const whole = { ...record, before }
  const size = sizes.get(record)
  if (size !== undefined) sizes.set(whole, size)
  return whole
}

/** The id of the response. */
export function idOf({ response }: StoredResponse): string {
  return text(response['id']) ?? ''
}

/** Whether its client can still read it: a response may live longer for those that continue it. */
export function isPresent({ until = Infinity }: StoredResponse): boolean {
  return until > Date.now()
}

/** The turn of a response, even of an expired or deleted one. Rejects with `store_unavailable`. */
export async function readTurn(keyValue: KeyValue, id: string): Promise<FoundResponse | undefined> {
  const key = responseKey(id)
  const held = key === undefined ? undefined : await keyValue.get(key)
  return held && { record: await decoded(held), version: held.version }
}

/** The record of a response of any owner, even of a deleted one. Rejects with `store_unavailable`. */
export async function readResponse(keyValue: KeyValue, id: string): Promise<FoundResponse | undefined> {
  const found = await readTurn(keyValue, id)
  return found && isPresent(found.record) ? found : undefined
}

/** The record of a response of this owner. Rejects with `store_unavailable`. */
export async function findResponse(keyValue: KeyValue, id: string, owner: string): Promise<FoundResponse | undefined> {
  const found = await readResponse(keyValue, id)
  return found && found.record.keyId === owner && !found.record.deleted ? found : undefined
}

/** The reason why a response was not stored. */
export type Unkept = 'no id' | 'too large' | 'taken'

/** Conditions of a write. */
export interface Writing {
  /** Writes only over this version (`null`: only if there is none yet). */
  readonly version?: string | null
  /** Time to live in milliseconds; its client can read it for the usual lifetime. */
  readonly ttl?: number
}

/** Stores a response. Returns the reason if it was not stored. Rejects with `store_unavailable`. */
export async function writeResponse(
  keyValue: KeyValue,
  record: StoredResponse,
  { version, ttl = lifetime }: Writing = {},
): Promise<Unkept | undefined> {
  const key = responseKey(idOf(record))
  if (key === undefined) return 'no id'
  const bytes = await encoded({ ...record, until: Date.now() + lifetime })
  sizes.set(record, bytes.length)
  if (sizeOf(record) > recordLimit) return 'too large'
  const value = await compress(bytes)
  const account = storageAccount(record.keyId)
  const written = await keyValue.set(key, value, { ttl, account, ...(version === undefined ? {} : { version }) })
  return written ? undefined : 'taken'
}

/** Items are on lines of their own; the record has empty lists in their place. */
function encoded(record: StoredResponse & { readonly before?: Items }): Promise<Buffer> {
  const { before: _, input, response, earlier, ...fields } = record
  const output = response['output']
  const apart = isList(output) && output.every(isObject)
  const head = {
    ...fields,
    ...(earlier ? { earlier: { ...earlier, ids: [...earlier.ids] } } : {}),
    ...(record.sealed ? { sealed: { ...record.sealed } } : {}),
    response: apart ? { ...response, output: [] } : response,
  }
  return encodeLines(head, [input, ...(apart ? [objects(output)] : [])])
}

async function decoded({ value }: Held): Promise<StoredResponse> {
  const bytes = await decompress(value, { maxOutputLength: recordLimit })
  const { head, lists } = await decodeLines(bytes)
  const record = head as unknown as StoredResponse
  const [input = record.input, output] = lists
  const response = output ? { ...record.response, output: [...output] } : record.response
  const whole = { ...record, input, response }
  sizes.set(whole, bytes.length)
  return whole
}

/** Bytes of memory of a value besides its text: a pointer and an object header. */
const valueWeight = 32

/**
 * Estimates the bytes of memory of a value. Values are counted and texts measured, which costs far less than printing
 * JSON, and the walk stops after `limit` bytes.
 */
export function weightOf(value: Json, limit: number): number {
  let weight = 0
  const open: (Json | undefined)[] = [value]
  while (open.length > 0 && weight <= limit) {
    const next = open.pop()
    weight += valueWeight
    if (typeof next === 'string') weight += next.length
    else if (isList(next)) {
      // Checked before they are added to the list.
      if (next.length * valueWeight > limit - weight) return limit + 1
      for (const item of next) open.push(item)
    } else if (isObject(next))
      for (const name in next) {
        weight += name.length
        open.push(next[name])
      }
  }
  return weight
}
