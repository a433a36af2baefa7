import { isObject } from '../../../engine/kit.ts'
import type { Held, Json, JsonObject, KeyValue, Principal } from '../../../engine/index.ts'
import { isList, objects, text } from '../values.ts'
import { decodeLines, encodeLines } from './lines.ts'
import type { Items } from './lines.ts'
import { conversationLimit } from './room.ts'
import { compress, decompress } from './zstd.ts'

/** How long a response is kept: 24 hours in milliseconds, from the last time it was written. */
export const lifetime = 24 * 60 * 60 * 1000

/** Most bytes of JSON that a conversation may have to be kept, its answer included. */
export const recordLimit = conversationLimit

/** The responses that a conversation began with. Each keeps its own turn. */
export interface Earlier {
  /** From the first to the one that was continued. */
  readonly ids: readonly string[]
  /** Bytes of JSON that they have together. */
  readonly bytes: number
  /** Milliseconds since 1970 until when all of them but the last are sure to be there. */
  until: number
}

/** A response as it is kept for later requests, with its own turn of the conversation. */
export interface StoredResponse {
  /** Who may know of it (`ownerOf`); to anybody else it does not exist. So it is called in records of older versions. */
  readonly keyId: string
  /** The response object as its client saw it. */
  readonly response: JsonObject
  /** What came between the answer of the last of `earlier` and `response.output`; each item with an id. */
  readonly input: Items
  /** Absent: `input` is the whole conversation, as it is in records of older versions. */
  readonly earlier?: Earlier | undefined
  /** Milliseconds since 1970 until when it is there for its client; afterwards only for what continues it. */
  readonly until?: number
  /** It was made without its client waiting for it. */
  readonly background: boolean
  /** Who served it (`Candidate.origin`); absent while nobody has. */
  readonly origin?: string
  /** Sealed reasoning that its client was not shown, by the ids of the items of `response.output` it belongs to. */
  readonly sealed?: Readonly<Record<string, string>>
  /** The provider of `origin` holds the response itself, under the same id. */
  readonly held: boolean
  /** Its conversation is not whole: its beginning is known to the provider alone. */
  readonly partial: boolean
  /**
   * It was deleted. What is left keeps its id from being asked for at the provider that holds it, and has its turn for
   * the responses that continue it.
   */
  readonly deleted?: true
}

/** A response with the conversation of all that came before it. */
export interface WholeResponse extends StoredResponse {
  /** What comes before `input`. */
  readonly before: Items
}

/** A record with the version it was read at, for writing over that version alone. */
export interface FoundResponse {
  readonly record: StoredResponse
  readonly version: string
}

/** How large records are that were read or written: bytes of JSON of their own turn. */
const sizes = new WeakMap<StoredResponse, number>()

/** Whether an id can name anything: what official and compatible servers mint, and nothing that means more in a key. */
export function isLegalId(id: string): boolean {
  return /^[A-Za-z0-9_.=-]{1,256}$/.test(id)
}

/** Where a response is kept; undefined for what cannot be the id of one. */
export function responseKey(id: string): string | undefined {
  return isLegalId(id) ? `response:${id}` : undefined
}

/** Whose something is that is stored: an id of a member is never taken for that of an API key. */
export function ownerOf({ kind, id }: Pick<Principal, 'kind' | 'id'>): string {
  return kind === 'key' ? id : `${kind}:${id}`
}

/** What the responses of an owner count for. */
export function storageAccount(owner: string): string {
  return `responses:${owner}`
}

/**
 * Bytes of JSON of a conversation with its answer; about so many for one that was neither read nor written, as to print
 * it would cost more.
 */
export function sizeOf(record: StoredResponse): number {
  const own = sizes.get(record) ?? weightOf([record.response, record.input, record.sealed ?? null], recordLimit)
  return own + (record.earlier?.bytes ?? 0)
}

/** The response with what came before it; its size is known as far as the response's is. */
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

/** Whether its time has not come: a response may live longer for those that continue it. */
export function isPresent({ until = Infinity }: StoredResponse): boolean {
  return until > Date.now()
}

/** The turn of a response, also of one that is there no more. Rejects with `store_unavailable`. */
export async function readTurn(keyValue: KeyValue, id: string): Promise<FoundResponse | undefined> {
  const key = responseKey(id)
  const held = key === undefined ? undefined : await keyValue.get(key)
  return held && { record: await decoded(held), version: held.version }
}

/** The record of a response, whosever it is, also of one that was deleted. Rejects with `store_unavailable`. */
export async function readResponse(keyValue: KeyValue, id: string): Promise<FoundResponse | undefined> {
  const found = await readTurn(keyValue, id)
  return found && isPresent(found.record) ? found : undefined
}

/** The record of a response of this owner. Rejects with `store_unavailable`. */
export async function findResponse(keyValue: KeyValue, id: string, owner: string): Promise<FoundResponse | undefined> {
  const found = await readResponse(keyValue, id)
  return found && found.record.keyId === owner && !found.record.deleted ? found : undefined
}

/** Why a response was not kept. */
export type Unkept = 'no id' | 'too large' | 'taken'

/** How a record is written. */
export interface Writing {
  /** Only over that version (`null`: only where there is none yet). */
  readonly version?: string | null
  /** Milliseconds that it lives; its client has it for its lifetime. */
  readonly ttl?: number
}

/** Keeps a response. Answers why it was not kept, if it was not. Rejects with `store_unavailable`. */
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

/** Items stand on lines of their own; in their place stands an empty list. */
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

/** What a value takes up beside its text, in bytes: a pointer and the head of an object. */
const valueWeight = 32

/**
 * About how many bytes of memory a value takes up. Values are counted and texts measured, which costs far less than
 * writing them as JSON would, and no more is looked at than `limit` bytes of them.
 */
export function weightOf(value: Json, limit: number): number {
  let weight = 0
  const open: (Json | undefined)[] = [value]
  while (open.length > 0 && weight <= limit) {
    const next = open.pop()
    weight += valueWeight
    if (typeof next === 'string') weight += next.length
    else if (isList(next)) {
      // Before they are put on the list themselves.
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
