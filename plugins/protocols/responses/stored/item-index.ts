import type { JsonObject, KeyValue } from '../../../../engine/index.ts'
import { objects, text } from '../values.ts'
import { answerOf } from './conversation.ts'
import { lifetime, readResponse } from './record.ts'
import type { StoredResponse } from './record.ts'

/** Most items of one response that can be found by their ids. */
const indexed = 64
/** Most responses that one request may have read for their items: each may be a long conversation. */
const lookups = 16

const legalId = /^[A-Za-z0-9_.=-]{1,128}$/

/** An id that was minted here says which response its item belongs to. */
const minted = /^[a-z]+_([0-9a-f]{32})i?[0-9a-f]{4,}$/

/** Makes the items of an answer findable by their ids, as far as these do not name the response themselves. */
export async function indexItems(keyValue: KeyValue, { keyId, response }: StoredResponse): Promise<void> {
  const id = text(response['id'])
  if (id === undefined) return
  const items = objects(response['output']).flatMap((item) => text(item['id']) ?? [])
  const keys = items.filter((item) => mintedFor(item) !== id).flatMap((item) => indexKey(keyId, item) ?? [])
  await Promise.all(keys.slice(0, indexed).map((key) => keyValue.set(key, Buffer.from(id), { ttl: lifetime })))
}

/** An item that was found, and the provider that holds the response it belongs to, if one does. */
export interface FoundItem {
  readonly item: JsonObject
  readonly heldBy: string | undefined
}

/**
 * Items of stored responses of this API key by their ids, where there are such; `gone`: its response was deleted.
 * Rejects with `store_unavailable`.
 */
export async function findItems(
  keyValue: KeyValue,
  keyId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundItem | 'gone'>> {
  const found = new Map<string, FoundItem | 'gone'>()
  // The last first: the conversation of its response usually holds all the others.
  for (const id of [...new Set(ids)].reverse().slice(0, lookups)) {
    if (found.has(id)) continue
    const response = mintedFor(id) ?? (await indexedFor(keyValue, keyId, id))
    const owner = response === undefined ? undefined : (await readResponse(keyValue, response))?.record
    if (owner?.keyId !== keyId) continue
    if (owner.deleted) found.set(id, 'gone')
    else for (const [at, item] of pick(owner, ids)) found.set(at, item)
  }
  return found
}

/** Those of the items that belong to a response or to the conversation before it. */
export function pick(record: StoredResponse, ids: readonly string[]): ReadonlyMap<string, FoundItem> {
  const asked = new Set(ids)
  const heldBy = holderOf(record)
  return new Map(
    [...record.input, ...answerOf(record)].flatMap((item) => {
      const id = text(item['id'])
      return id !== undefined && asked.has(id) ? [[id, { item, heldBy }] as const] : []
    }),
  )
}

/** The origin of the provider that holds a response. */
export function holderOf({ held, origin }: StoredResponse): string | undefined {
  return held ? origin : undefined
}

async function indexedFor(keyValue: KeyValue, keyId: string, item: string): Promise<string | undefined> {
  const key = indexKey(keyId, item)
  const held = key === undefined ? undefined : await keyValue.get(key)
  return held?.value.toString()
}

function mintedFor(item: string): string | undefined {
  const exchange = minted.exec(item)?.[1]
  return exchange === undefined ? undefined : `resp_${exchange}`
}

function indexKey(keyId: string, item: string): string | undefined {
  return legalId.test(item) ? `item:${keyId}:${item}` : undefined
}
