import { GatewayError } from '../spec/error.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import {
  clientJson,
  closeBrace,
  closeBracket,
  comma,
  depthLimit,
  openBrace,
  openBracket,
  quote,
  stringEnd,
  tooDeep,
} from './json-tokens.ts'
import type { Token } from './json-tokens.ts'

const spaces = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The text of a JSON object without some of its members, and what these say. */
export interface Cut {
  readonly members: JsonObject
  /** What stands between the braces without them, in pieces that commas have to join. */
  readonly kept: readonly Buffer[]
  /** The closing brace and what follows it. */
  readonly tail: Buffer
}

/** Longest member that is cut out, in bytes: parsing it must not take long. */
const memberLimit = 64 * 1024

/**
 * Cuts the top-level members called `names`, short words in ASCII, out of the text of a JSON object. Only they are parsed:
 * whether the rest is JSON, its reader finds out. Throws `invalid_request` for what is no object or has one of them
 * twice, `invalid_value` for one of more than 64 KiB, `invalid_json` for one that cannot be parsed and for what is
 * nested deeper than 128 levels.
 */
export function cutMembers(bytes: Buffer, names: ReadonlySet<string>): Cut {
  const members = new Map<string, Json | undefined>()
  const kept: Buffer[] = []
  const open = bytes.findIndex((byte) => !spaces.has(byte))
  if (bytes[open] !== openBrace) throw new GatewayError('invalid_request', { reason: 'It must be a JSON object.' })
  /** Where the members begin that are kept as one piece, and the member that is looked at. */
  let from = open + 1
  let start = from
  let key: Token | undefined
  const take = (end: number) => {
    const name = key && keyOf(bytes, key)
    key = undefined
    if (name !== undefined && names.has(name)) {
      if (members.has(name))
        throw new GatewayError('invalid_request', { reason: `It says "${name}" more than once.` }, { param: name })
      if (end - start > memberLimit)
        throw new GatewayError('invalid_value', { param: name, reason: `it is longer than ${memberLimit} bytes` })
      members.set(name, (clientJson(`{${bytes.toString('utf8', start, end)}}`) as JsonObject)[name])
      if (start > from) kept.push(bytes.subarray(from, start - 1))
      from = end + 1
    }
    start = end + 1
  }
  let depth = 0
  let at = open
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      const end = stringEnd(bytes, at)
      if (depth === 1) key ??= { start: at, end }
      at = end - 1
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > depthLimit) throw tooDeep()
    } else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) break
    } else if (depth === 1 && byte === comma) take(at)
  }
  take(at)
  if (start > from) kept.push(bytes.subarray(from, at))
  return { members: Object.fromEntries(members), kept, tail: bytes.subarray(at) }
}

/** The text of a JSON object with other members, at least one, in place of those that were cut out. */
export function pasteMembers(cut: Cut, added: JsonObject): Buffer {
  return Buffer.concat([...pieces(cut, added), cut.tail])
}

/**
 * Like `pasteMembers`, for `bytes` that nobody reads any more: the text is written over what was cut out of them, and
 * copied only where that has no room for it.
 */
export function pasteOver(bytes: Buffer, cut: Cut, added: JsonObject): Buffer {
  const last = cut.kept.at(-1)
  const before = pieces(cut, added)
  if (!last || before.pop() !== last) return pasteMembers(cut, added)
  const end = last.byteOffset - bytes.byteOffset
  const size = before.reduce((sum, piece) => sum + piece.length, 0)
  if (last.byteOffset + last.length !== cut.tail.byteOffset || size > end) return pasteMembers(cut, added)
  Buffer.concat(before, size).copy(bytes, end - size)
  return bytes.subarray(end - size)
}

/** What stands before the closing brace. */
function pieces({ members, kept }: Cut, added: JsonObject): Buffer[] {
  const parts: Buffer[] = [Buffer.from(`{${JSON.stringify(added).slice(1, -1)}`)]
  const empty = Object.keys(members).length === 0 && kept.every((piece) => piece.every((byte) => spaces.has(byte)))
  if (!empty) for (const piece of kept) parts.push(Buffer.from(','), piece)
  return parts
}

/** Longest key that is looked at, in bytes. */
const keyLimit = 256

/** A key; undefined for one that is too long to be looked for. */
function keyOf(bytes: Buffer, { start, end }: Token): string | undefined {
  if (end - start > keyLimit) return undefined
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? (clientJson(text) as string) : text.slice(1, -1)
}
