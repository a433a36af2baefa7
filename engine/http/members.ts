import { isSpace } from '../json/outline.ts'
import { mostMembers } from '../json/parse.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { clientJson, clientOutline, keyOf } from './client-json.ts'
import { FieldNames } from './field-names.ts'

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
 * Cuts the top-level members called `names` out of the text of a JSON object. Only they are parsed: whether the rest is
 * JSON, its reader finds out. Throws `invalid_request` for what is no object, `invalid_value` for one of the names that
 * is there twice, in another spelling, or with a member of more than 64 KiB, `invalid_json` for one that cannot be parsed
 * and for what is nested deeper than 128 levels, `request_too_large` for more than two million members.
 */
export function cutMembers(bytes: Buffer, names: FieldNames): Cut {
  // One character per byte: a place in this text is one in the bytes.
  const text = bytes.toString('latin1')
  const open = /^[ \t\r\n]*\{/.exec(text)?.[0].length
  if (open === undefined) throw new GatewayError('invalid_request', { reason: 'It must be a JSON object.' })
  const read = names.reader()
  const members = new Map<string, Json | undefined>()
  const kept: Buffer[] = []
  /** Where the members begin that are kept as one piece, and the member that is looked at. */
  let from = open
  let start = open
  let named: string | undefined
  const take = (end: number) => {
    if (named !== undefined) {
      if (end - start > memberLimit)
        throw new GatewayError('invalid_value', { param: named, reason: `it is longer than ${memberLimit} bytes` })
      members.set(named, (clientJson(`{${bytes.toString('utf8', start, end)}}`) as JsonObject)[named])
      if (start > from) kept.push(bytes.subarray(from, start - 1))
      from = end + 1
      named = undefined
    }
    start = end + 1
  }
  const { end } = clientOutline(text, mostMembers, {
    key: (keyStart, keyEnd) => {
      named ??= read(keyOf(bytes.toString('utf8', keyStart, keyEnd)))
    },
    end: take,
  })
  if (start > from && end >= from) kept.push(bytes.subarray(from, end))
  return { members: Object.fromEntries(members), kept, tail: bytes.subarray(end) }
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
  const empty = Object.keys(members).length === 0 && kept.every((piece) => piece.every(isSpace))
  if (!empty) for (const piece of kept) parts.push(Buffer.from(','), piece)
  return parts
}

/**
 * `bytes`, the text of a JSON object with at least one member, whose parsed form is `body`, with the members `added`, at
 * least one, in place of those of the same names. All other bytes stay. Throws like `cutMembers`.
 */
export function putMembers(bytes: Buffer, body: JsonObject, added: JsonObject): Buffer {
  const replaced = Object.keys(added).filter((name) => Object.hasOwn(body, name))
  if (replaced.length > 0) return pasteMembers(cutMembers(bytes, new FieldNames(replaced)), added)
  const start = bytes.indexOf('{') + 1
  const text = JSON.stringify(added)
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(`${text.slice(1, -1)},`), bytes.subarray(start)])
}
