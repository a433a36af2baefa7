import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { GatewayError, isObject } from '../../../../engine/index.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { text } from '../values.ts'
import { partsOf } from './conversation.ts'

/** What begins the `encrypted_content` of a compaction that was made here: whose it is, and its version. */
const prefix = 'gw1c.'

/** Most characters that `encrypted_content` may have. */
export const contentLimit = 10_485_760

/** Most bytes of JSON that a compaction may hold: what is small when it comes in must not grow without end. */
const packLimit = 64 * 1024 * 1024

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** What a compaction holds. */
export interface Pack {
  /** The conversation, every item as it was. */
  readonly items: readonly JsonObject[]
  /** The ids that the client has for the user messages among `items`, in their order. */
  readonly kept: readonly string[]
}

/** Seals for one API key, or opens what was sealed for it. */
export type Seal = (bytes: Uint8Array) => Uint8Array
export type Open = (sealed: Uint8Array) => Uint8Array | undefined

/** Under which context of `host.seal` compactions are sealed: another API key cannot open them. */
export function compactionContext(keyId: string): string {
  return `responses compaction 1 ${keyId}`
}

/** A pack as `encrypted_content`: JSON, compressed (RFC 8878), sealed, in base64. Throws `request_too_large`. */
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
 * whatever of its base the client has kept. Rejects with `invalid_encrypted_content` for one that does not open.
 */
export async function expandCompactions(items: readonly JsonObject[], open: Open): Promise<readonly JsonObject[]> {
  if (!items.some(isOwn)) return items
  let expanded: readonly JsonObject[] = []
  for (const [index, item] of items.entries()) {
    const pack = isOwn(item) ? await opened(item, open) : { items: [item], kept: [] }
    if (!pack) throw unreadable(`input[${index}].encrypted_content`)
    expanded = [...(isOwn(item) ? outside(pack, expanded) : expanded), ...pack.items]
  }
  return expanded
}

/** Those of the items that are not in the pack, each of whose items stands for one of them. */
function outside({ items: held, kept }: Pack, items: readonly JsonObject[]): readonly JsonObject[] {
  const ids = new Set([...kept, ...held.flatMap(({ id }) => text(id) ?? [])])
  const left = new Map<string, number>()
  for (const item of held) left.set(contents(item), (left.get(contents(item)) ?? 0) + 1)
  return items.filter((item) => {
    const same = contents(item)
    const count = left.get(same) ?? 0
    if (count > 0) left.set(same, count - 1)
    return count === 0 && !ids.has(text(item['id']) ?? '')
  })
}

/** What an item says, alike for every way of writing it. */
function contents(item: JsonObject): string {
  const { id: _id, status: _status, type = 'message', ...fields } = item
  return JSON.stringify({ ...fields, type, content: partsOf(item) }, (_, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, field]) => field !== null)
            .sort(([one], [other]) => (one < other ? -1 : 1)),
        )
      : value,
  )
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

async function opened(item: JsonObject, open: Open): Promise<Pack | undefined> {
  const content = contentOf(item) ?? ''
  if (content.length > contentLimit) return undefined
  const packed = open(Buffer.from(content.slice(prefix.length), 'base64url'))
  // Nobody else could have sealed it: what opens is a pack.
  return packed && (JSON.parse((await decompress(packed, { maxOutputLength: packLimit })).toString()) as Pack)
}

function unreadable(param: string): GatewayError {
  return new GatewayError('invalid_encrypted_content', { param })
}
