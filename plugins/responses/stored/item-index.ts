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

/** Bytes that looking for one item counts for, whether or not there is one: a request may name any number of them. */
const lookup = 64 * 1024

/** An id that was minted here says which response its item belongs to. Vendors' ids have 32 hexadecimal digits and more. */
const minted = /^[a-z]+_([0-9a-f]{32})i?[0-9a-f]{4,5}$/

/** Makes the items of an answer findable by their ids, as far as these do not name the response themselves. */
export async function indexItems(keyValue: KeyValue, { keyId, response }: StoredResponse): Promise<void> {
  const id = text(response['id'])
  if (id === undefined) return
  const items = objects(response['output']).flatMap((item) => text(item['id']) ?? [])
  const hidden = items.filter((item) => isLegalId(item) && mintedFor(item) !== id)
  await Promise.all(hidden.slice(0, indexed).map((item) => indexItem(keyValue, item, { keyId, response: id })))
}

/** Where an item is to be found, and for whom (`ownerOf`). */
interface Entry {
  readonly keyId: string
  readonly response: string
}

/** Of items with the same id the newest of an owner counts; where another had the id first, the newest for this one. */
async function indexItem(keyValue: KeyValue, item: string, entry: Entry): Promise<void> {
  const value = Buffer.from(JSON.stringify(entry))
  if (await keyValue.set(entryKey(item), value, { ttl: lifetime, version: null })) return
  const mine = (await entryAt(keyValue, entryKey(item)))?.keyId === entry.keyId
  await keyValue.set(entryKey(item, mine ? undefined : entry.keyId), value, { ttl: lifetime })
}

/** An item that was found, and the provider that holds the response it belongs to, if one does. */
export interface FoundItem {
  readonly item: JsonObject
  readonly heldBy: string | undefined
}

/**
 * Items of stored responses of this owner by their ids, where there are such; `gone`: its response was deleted, or is
 * of another owner, so that nobody else is to be asked for it either. Each may be a long conversation: rejects with
 * `request_too_large` when those that are read have more than `most` bytes together, else with `store_unavailable`.
 */
export async function findItems(
  keyValue: KeyValue,
  owner: string,
  ids: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, FoundItem | 'gone'>> {
  const found = new Map<string, FoundItem | 'gone'>()
  let read = 0
  // The last first: the conversation of its response usually holds all the others.
  for (const id of [...new Set(ids)].reverse()) {
    if (found.has(id)) continue
    if (read > most) throw tooMany()
    const record = await recordWith(id, owner, keyValue)
    read += lookup + (record ? sizeOf(record) : 0)
    if (!record) continue
    if (record.deleted || record.keyId !== owner) found.set(id, 'gone')
    else {
      // What came before it is read with it.
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
      return id !== undefined && asked.has(id) ? [[id, { item, heldBy }] as const] : []
    }),
  )
}

/** The origin of the provider that holds a response. */
export function holderOf({ held, origin }: StoredResponse): string | undefined {
  return held ? origin : undefined
}

function tooMany(): GatewayError {
  const message = 'There are too many references to items of different responses.'
  return new GatewayError('request_too_large', {}, { message, param: 'input' })
}

/** The record of the response that an item belongs to: of this owner where there is one, else of another. */
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
