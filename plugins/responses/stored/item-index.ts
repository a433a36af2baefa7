import { GatewayError } from '../../../engine/index.ts'
import { parseJson } from '../../../engine/kit.ts'
import type { JsonObject, KeyValue } from '../../../engine/index.ts'
import { objects, text } from '../values.ts'
import { conversationOf } from './conversation.ts'
import { isLegalId, lifetime, readResponse, sizeOf } from './record.ts'
import { readWhole } from './chain.ts'
import type { StoredResponse, WholeResponse } from './record.ts'

/** Most items of one response that can be found by their ids. */
const indexed = 64

/** Bytes charged for each lookup, even of an unknown item, because a request may name any number of items. */
const lookup = 64 * 1024

/** An id made by this gateway contains the id of its response. Vendors' ids have 32 or more hexadecimal digits. */
const minted = /^[a-z]+_([0-9a-f]{32})i?[0-9a-f]{4,5}$/

/** Indexes the items of an answer by their ids, unless the ids contain the id of the response. */
export async function indexItems(keyValue: KeyValue, { keyId, response }: StoredResponse): Promise<void> {
  const id = text(response['id'])
  if (id === undefined) return
  const items = objects(response['output']).flatMap((item) => text(item['id']) ?? [])
  const hidden = items.filter((item) => isLegalId(item) && mintedFor(item) !== id)
  await Promise.all(hidden.slice(0, indexed).map((item) => indexItem(keyValue, item, { keyId, response: id })))
}

/** The response of an item, and its owner (`ownerOf`). */
interface Entry {
  readonly keyId: string
  readonly response: string
}

/** If items share an id, the newest of the owner counts. */
async function indexItem(keyValue: KeyValue, item: string, entry: Entry): Promise<void> {
  const value = Buffer.from(JSON.stringify(entry))
  if (await keyValue.set(entryKey(item), value, { ttl: lifetime, version: null })) return
  const mine = (await entryAt(keyValue, entryKey(item)))?.keyId === entry.keyId
  await keyValue.set(entryKey(item, mine ? undefined : entry.keyId), value, { ttl: lifetime })
}

/** A found item, the provider that holds its response, if any, and what tokens of guards stand for in it, sealed. */
export interface FoundItem {
  readonly item: JsonObject
  readonly heldBy: string | undefined
  readonly tokens: string | undefined
}

/**
 * The items of this owner's stored responses, by their ids. `gone` means that the response was deleted or has another
 * owner, so the provider must not be asked for the item either. Each lookup may read a long conversation. Rejects with
 * `request_too_large` if all that is read exceeds `most` bytes, and with `store_unavailable`.
 */
export async function findItems(
  keyValue: KeyValue,
  owner: string,
  ids: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, FoundItem | 'gone'>> {
  const found = new Map<string, FoundItem | 'gone'>()
  let read = 0
  // The last one first, because the conversation of its response usually contains all others.
  for (const id of [...new Set(ids)].reverse()) {
    if (found.has(id)) continue
    if (read > most) throw tooMany()
    const record = await recordWith(id, owner, keyValue)
    read += lookup + (record ? sizeOf(record) : 0)
    if (!record) continue
    if (record.deleted || record.keyId !== owner) found.set(id, 'gone')
    else {
      // The earlier turns are read with it.
      if (record.earlier && read > most) throw tooMany()
      const whole = await readWhole(keyValue, record)
      for (const [at, item] of whole ? pick(whole, ids) : []) found.set(at, item)
    }
  }
  return found
}

/** Those of the items that belong to a response or to the conversation before it. */
export function pick(record: WholeResponse, ids: readonly string[]): ReadonlyMap<string, FoundItem> {
  const asked = new Set(ids)
  const heldBy = holderOf(record)
  return new Map(
    conversationOf(record).flatMap((item) => {
      const id = text(item['id'])
      return id !== undefined && asked.has(id) ? [[id, { item, heldBy, tokens: record.tokens }] as const] : []
    }),
  )
}

/** Origin of the provider that holds a response. */
export function holderOf({ held, origin }: StoredResponse): string | undefined {
  return held ? origin : undefined
}

function tooMany(): GatewayError {
  const message = 'There are too many references to items of different responses.'
  return new GatewayError('request_too_large', {}, { message, param: 'input' })
}

/** The record of the response that an item belongs to: this owner's if there is one, otherwise another owner's. */
async function recordWith(item: string, owner: string, keyValue: KeyValue): Promise<StoredResponse | undefined> {
  const named = mintedFor(item)
  const found = named === undefined ? undefined : await readResponse(keyValue, named)
  if (found) return found.record
  const first = isLegalId(item) ? await entryAt(keyValue, entryKey(item)) : undefined
  if (!first) return undefined
  const own = first.keyId === owner ? first : await entryAt(keyValue, entryKey(item, owner))
  return (await readResponse(keyValue, (own ?? first).response))?.record
}

async function entryAt(keyValue: KeyValue, key: string): Promise<Entry | undefined> {
  const held = await keyValue.get(key)
  return held && (parseJson(held.value.toString()) as Entry)
}

function mintedFor(item: string): string | undefined {
  const exchange = minted.exec(item)?.[1]
  return exchange === undefined ? undefined : `resp_${exchange}`
}

function entryKey(item: string, owner?: string): string {
  return owner === undefined ? `item:${item}` : `item:${owner}:${item}`
}
