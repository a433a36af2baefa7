import { GatewayError } from '../../../engine/index.ts'
import type { JsonObject, KeyValue } from '../../../engine/index.ts'
import { text } from '../values.ts'
import { findItems, pick } from './item-index.ts'
import type { FoundItem } from './item-index.ts'
import type { WholeResponse } from './record.ts'
import type { Room } from './room.ts'

/** Where items are searched: in the continued response, on the socket, and in the store. */
export interface Lookup {
  readonly records: readonly WholeResponse[]
  readonly keyValue: KeyValue
  readonly owner: string
  /** The budget for found items. */
  readonly room: Room
}

/** A list of items with its references resolved. */
export interface Resolved {
  readonly items: readonly JsonObject[]
  /** Origins of the providers that hold the responses of the found items. */
  readonly holders: readonly (string | undefined)[]
  /** What tokens of guards stand for in the conversations of the found items, sealed. */
  readonly tokens: ReadonlySet<string>
  /** The error for the first item that was not found. */
  readonly missing?: GatewayError
}

/** The id of an item reference, whose type is optional; undefined for an item with content. */
export function referredBy(item: JsonObject): string | undefined {
  const { type } = item
  if (type !== 'item_reference' && (type ?? item['role'] ?? item['content'] ?? undefined) !== undefined)
    return undefined
  return text(item['id'])
}

/** Replaces references by their items. Rejects with `store_unavailable` and `request_too_large`. */
export async function resolveReferences(items: readonly JsonObject[], places: Lookup): Promise<Resolved> {
  const wanted = items.flatMap((item) => referredBy(item) ?? [])
  const found = wanted.length === 0 ? new Map<string, FoundItem | 'gone'>() : await search(wanted, places)
  const holders: (string | undefined)[] = []
  const tokens = new Set<string>()
  const sizes = new Map<string, number>()
  let missing: GatewayError | undefined
  const resolved = items.map((item, index) => {
    const id = referredBy(item)
    if (id === undefined) return item
    const one = found.get(id)
    if (one === 'gone') throw unknownItem(id, index)
    if (!one) {
      missing ??= unknownItem(id, index)
      return item
    }
    // An item that is referenced several times is measured once and counted each time.
    const size = sizes.get(id) ?? Buffer.byteLength(JSON.stringify(one.item))
    sizes.set(id, size)
    places.room.take(size)
    holders.push(one.heldBy)
    if (one.tokens !== undefined) tokens.add(one.tokens)
    return one.item
  })
  return { items: resolved, holders, tokens, ...(missing ? { missing } : {}) }
}

async function search(wanted: readonly string[], { records, keyValue, owner, room }: Lookup) {
  const near = new Map<string, FoundItem | 'gone'>(records.flatMap((record) => [...pick(record, wanted)]))
  const far = wanted.filter((id) => !near.has(id))
  return far.length === 0 ? near : new Map([...near, ...(await findItems(keyValue, owner, far, room.left))])
}

function unknownItem(id: string, index: number): GatewayError {
  const shown = id.slice(0, 128)
  return new GatewayError(
    'invalid_value',
    { id: shown, param: `input[${index}].id` },
    { code: 'item_not_found', message: `Item with id '${shown}' not found.` },
  )
}
