import { GatewayError } from '../../../engine/index.ts'
import { parseJson } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { text } from '../values.ts'
import type { Room } from './room.ts'
import { Standing } from './standing.ts'
import { compress, decompress } from './zstd.ts'

/** What begins the `encrypted_content` of a compaction that was made here: whose it is, and its version. */
const prefix = 'gw1c.'

/** Most characters that `encrypted_content` may have. */
export const contentLimit = 10_485_760

/** Most bytes of JSON that a compaction may hold: with the user messages beside it, it has to fit into a request. */
const packLimit = 24 * 1024 * 1024

/** Most compactions that were made here in one request: a later one holds what the earlier ones hold. */
const most = 32

/** What a compaction holds. */
export interface Pack {
  /** The conversation, every item as it was. */
  readonly items: readonly JsonObject[]
  /** The ids that the client has for the user messages among `items`, in their order. */
  readonly kept: readonly string[]
}

/** Seals for one owner, or opens what was sealed for it. */
export type Seal = (bytes: Uint8Array) => Uint8Array
export type Open = (sealed: Uint8Array) => Uint8Array | undefined

/** Under which context of `host.seal` compactions are sealed: another owner cannot open them. */
export function compactionContext(owner: string): string {
  return `responses compaction 1 ${owner}`
}

/** A pack as `encrypted_content`: JSON, compressed, sealed, in base64. Throws `request_too_large`. */
export async function sealPack(pack: Pack, seal: Seal): Promise<string> {
  const json = Buffer.from(JSON.stringify(pack))
  if (json.length > packLimit) throw tooLarge(`${packLimit} bytes`)
  const content = prefix + Buffer.from(seal(await compress(json))).toString('base64url')
  if (content.length > contentLimit) throw tooLarge(`${contentLimit} characters`)
  return content
}

function tooLarge(limit: string): GatewayError {
  const message = `The conversation is too large to be compacted: packed it would have more than ${limit}.`
  return new GatewayError('request_too_large', { limit }, { message, param: 'input' })
}

/**
 * The list with each compaction that was made here replaced by what it holds. What stands before it and is in it, such
 * as the user messages kept beside it, is dropped there: the conversation is what was compacted and what came after,
 * whatever of its base the client has kept. Rejects with `invalid_encrypted_content` for one that does not open, with
 * `request_too_large` where they hold more than there is room for, and with `invalid_value` for too many.
 */
export async function expandCompactions(
  items: readonly JsonObject[],
  open: Open,
  room: Room,
): Promise<readonly JsonObject[]> {
  const own = items.filter(isOwn)
  if (own.length === 0) return items
  if (own.length > most)
    throw new GatewayError('invalid_value', { param: 'input', reason: `it has more than ${most} compactions` })
  const known = new Map<string, Opened>()
  const standing = new Standing()
  for (const [index, item] of items.entries()) {
    if (!isOwn(item)) {
      standing.push(item)
      continue
    }
    const content = contentOf(item) ?? ''
    const opened = known.get(content) ?? (await unpacked(content, open, room))
    if (!opened) throw unreadable(`input[${index}].encrypted_content`)
    known.set(content, opened)
    room.take(opened.size)
    standing.replace(opened.pack.items, namesOf(opened.pack))
  }
  return standing.items
}

/** By which ids a client may have each item of a pack. */
function namesOf({ items, kept }: Pack): (readonly [string, JsonObject])[] {
  const messages = items.filter(isUserMessage)
  return [
    ...items.map((item) => [text(item['id']), item] as const),
    ...kept.map((id, index) => [id, messages[index]] as const),
  ].flatMap(([id, item]) => (id && item ? [[id, item] as const] : []))
}

/**
 * The error for the first compaction in the list that was made elsewhere, or for one inside of those that were made
 * here: only its maker can read it.
 */
export function foreignCompaction(
  items: readonly JsonObject[],
  expanded: readonly JsonObject[] = items,
): GatewayError | undefined {
  const index = items.findIndex(isForeign)
  if (index >= 0) return unreadable(`input[${index}].encrypted_content`)
  return expanded.some(isForeign) ? unreadable('input') : undefined
}

/** Whether an item says nothing but that the conversation is to be compacted. */
export function isTrigger({ type }: JsonObject): boolean {
  return type === 'compaction_trigger'
}

export function isUserMessage({ type, role }: JsonObject): boolean {
  return role === 'user' && (type ?? 'message') === 'message'
}

/** `encrypted_content` of a compaction; undefined for any other item. */
function contentOf(item: JsonObject): string | undefined {
  return item['type'] === 'compaction' ? (text(item['encrypted_content']) ?? '') : undefined
}

function isOwn(item: JsonObject): boolean {
  return contentOf(item)?.startsWith(prefix) ?? false
}

function isForeign(item: JsonObject): boolean {
  return contentOf(item) !== undefined && !isOwn(item)
}

/** A pack, and how many bytes of JSON it has. */
interface Opened {
  readonly pack: Pack
  readonly size: number
}

async function unpacked(content: string, open: Open, room: Room): Promise<Opened | undefined> {
  if (content.length > contentLimit) return undefined
  const packed = open(Buffer.from(content.slice(prefix.length), 'base64url'))
  if (!packed) return undefined
  const json = await decompress(packed, { maxOutputLength: Math.max(1, room.left) }).catch((error: unknown) => {
    if (error instanceof RangeError) room.take(Infinity)
    throw error
  })
  // Nobody else could have sealed it: what opens is a pack.
  return { pack: parseJson(json.toString()) as Pack, size: json.length }
}

function unreadable(param: string): GatewayError {
  return new GatewayError('invalid_encrypted_content', { param })
}
