import { GatewayError } from '../../../engine/index.ts'
import { parseJson } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { text } from '../values.ts'
import type { Room } from './room.ts'
import { Standing } from './standing.ts'
import { compress, decompress } from './zstd.ts'

/** Prefix of the `encrypted_content` of this gateway's compactions: origin and version. */
const prefix = 'gw1c.'

/** Most characters of `encrypted_content`. */
export const contentLimit = 10_485_760

/** Most bytes of JSON in a compaction, which must fit into a request together with the user messages. */
const packLimit = 24 * 1024 * 1024

/** Most local compactions in one request: a later one contains the earlier ones. */
const most = 32

/** The content of a compaction. */
export interface Pack {
  /** The conversation, with every item unchanged. */
  readonly items: readonly JsonObject[]
  /** The client's ids of the user messages among `items`, in order. */
  readonly kept: readonly string[]
  /** What tokens of guards stand for in it, sealed; absent: there are none. */
  readonly tokens?: string | undefined
}

/** Seals for one owner, or opens what was sealed for it. */
export type Seal = (bytes: Uint8Array) => Uint8Array
export type Open = (sealed: Uint8Array) => Uint8Array | undefined

/** What the expansion of compactions needs. */
export interface Expanding {
  readonly open: Open
  /** The budget for their content. */
  readonly room: Room
  /** Takes what tokens of guards stand for in each, sealed. */
  readonly tokens: (sealed: string | undefined) => void
}

/** The context of `host.seal` for compactions: another owner cannot open them. */
export function compactionContext(owner: string): string {
  return `responses compaction 1 ${owner}`
}

/** Encodes a pack as `encrypted_content`: JSON, compressed, sealed, in base64. Throws `request_too_large`. */
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
 * Replaces each local compaction by its content. Items before it that are also in it, such as the user messages kept
 * beside it, are dropped: the conversation is the compacted items and the items after them, no matter how much of the
 * base the client has kept. Rejects with `invalid_encrypted_content` for a compaction that does not open, with
 * `request_too_large` if the content exceeds the budget, and with `invalid_value` for too many compactions.
 */
export async function expandCompactions(
  items: readonly JsonObject[],
  { open, room, tokens }: Expanding,
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
    tokens(opened.pack.tokens)
    standing.replace(opened.pack.items, namesOf(opened.pack))
  }
  return standing.items
}

/** The ids under which a client may have each item of a pack. */
function namesOf({ items, kept }: Pack): (readonly [string, JsonObject])[] {
  const messages = items.filter(isUserMessage)
  return [
    ...items.map((item) => [text(item['id']), item] as const),
    ...kept.map((id, index) => [id, messages[index]] as const),
  ].flatMap(([id, item]) => (id && item ? [[id, item] as const] : []))
}

/**
 * The error for the first compaction that another vendor made, in the list or inside a local compaction: only its maker
 * can read it.
 */
export function foreignCompaction(
  items: readonly JsonObject[],
  expanded: readonly JsonObject[] = items,
): GatewayError | undefined {
  const index = items.findIndex(isForeign)
  if (index >= 0) return unreadable(`input[${index}].encrypted_content`)
  return expanded.some(isForeign) ? unreadable('input') : undefined
}

/** Whether an item only triggers a compaction. */
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

/** A pack, and its size in bytes of JSON. */
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
  // Only this gateway could have sealed it, so whatever opens is a pack.
  return { pack: parseJson(json.toString()) as Pack, size: json.length }
}

function unreadable(param: string): GatewayError {
  return new GatewayError('invalid_encrypted_content', { param })
}
