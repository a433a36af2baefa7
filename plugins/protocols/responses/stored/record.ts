import { parseJson } from '../../../../engine/index.ts'
import type { Held, JsonObject, KeyValue } from '../../../../engine/index.ts'
import { text } from '../values.ts'
import { conversationLimit } from './room.ts'
import { weightOf } from './session.ts'
import { compress, decompress } from './zstd.ts'

/** How long a response is kept: 24 hours in milliseconds, from the last time it was written. */
export const lifetime = 24 * 60 * 60 * 1000

/** Most bytes of JSON that a record may have; a longer conversation is not kept. */
export const recordLimit = conversationLimit

/** A response as it is kept for later requests, together with the conversation it answers. */
export interface StoredResponse {
  /** The API key that may know of it; to any other it does not exist. */
  readonly keyId: string
  /** The response object as its client saw it. */
  readonly response: JsonObject
  /** The whole conversation before `response.output`, that of earlier responses included; each item with an id. */
  readonly input: readonly JsonObject[]
  /** It was made without its client waiting for it. */
  readonly background: boolean
  /** Who served it (`Candidate.origin`); absent while nobody has. */
  readonly origin?: string
  /** Sealed reasoning that its client was not shown, by the ids of the items of `response.output` it belongs to. */
  readonly sealed?: Readonly<Record<string, string>>
  /** The provider of `origin` holds the response itself, under the same id. */
  readonly held: boolean
  /** `input` is not the whole conversation: its beginning is known to the provider alone. */
  readonly partial: boolean
  /** It was deleted. What is left keeps its id from being asked for at the provider that holds it. */
  readonly deleted?: true
}

/** A record with the version it was read at, for writing over that version alone. */
export interface FoundResponse {
  readonly record: StoredResponse
  readonly version: string
}

/** How large records are that were read or written. */
const sizes = new WeakMap<StoredResponse, number>()

/** Whether an id can name anything: what official and compatible servers mint, and nothing that means more in a key. */
export function isLegalId(id: string): boolean {
  return /^[A-Za-z0-9_.=-]{1,256}$/.test(id)
}

/** Where a response is kept; undefined for what cannot be the id of one. */
export function responseKey(id: string): string | undefined {
  return isLegalId(id) ? `response:${id}` : undefined
}

/** Bytes of JSON of a record; about so many for one that was neither read nor written, as to print it would cost more. */
export function sizeOf(record: StoredResponse): number {
  return sizes.get(record) ?? weightOf([record.response, record.input, record.sealed ?? null], recordLimit)
}

/** The id of the response. */
export function idOf({ response }: StoredResponse): string {
  return text(response['id']) ?? ''
}

/** The record of a response, whosever it is, also of one that was deleted. Rejects with `store_unavailable`. */
export async function readResponse(keyValue: KeyValue, id: string): Promise<FoundResponse | undefined> {
  const key = responseKey(id)
  const held = key === undefined ? undefined : await keyValue.get(key)
  return held && { record: await decoded(held), version: held.version }
}

/** The record of a response of this API key. Rejects with `store_unavailable`. */
export async function findResponse(keyValue: KeyValue, id: string, keyId: string): Promise<FoundResponse | undefined> {
  const found = await readResponse(keyValue, id)
  return found && found.record.keyId === keyId && !found.record.deleted ? found : undefined
}

/** Why a response was not kept. */
export type Unkept = 'no id' | 'too large' | 'taken'

/**
 * Keeps a response for its lifetime. With `version`, only over that version (`null`: only where there is none yet).
 * Answers why it was not kept, if it was not. Rejects with `store_unavailable`.
 */
export async function writeResponse(
  keyValue: KeyValue,
  record: StoredResponse,
  version?: string | null,
): Promise<Unkept | undefined> {
  const key = responseKey(idOf(record))
  if (key === undefined) return 'no id'
  const json = Buffer.from(JSON.stringify(record))
  sizes.set(record, json.length)
  if (json.length > recordLimit) return 'too large'
  const value = await compress(json)
  const written = await keyValue.set(key, value, { ttl: lifetime, ...(version === undefined ? {} : { version }) })
  return written ? undefined : 'taken'
}

/**
 * Deletes a response that was found; answers whether there was one. Of one that its provider holds too, a mark stays
 * behind, unless it has changed since.
 */
export async function deleteResponse(keyValue: KeyValue, { record, version }: FoundResponse): Promise<boolean> {
  const id = idOf(record)
  if (!record.held) return keyValue.delete(responseKey(id) ?? '')
  const { keyId, background, held, partial } = record
  const mark = { keyId, background, held, partial, response: { id }, input: [], deleted: true } as const
  return (await writeResponse(keyValue, mark, version)) === undefined
}

async function decoded({ value }: Held): Promise<StoredResponse> {
  const json = await decompress(value, { maxOutputLength: recordLimit })
  const record = parseJson(json.toString()) as StoredResponse
  sizes.set(record, json.length)
  return record
}
