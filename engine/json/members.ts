import { isSpace } from './outline.ts'
import { mostMembers } from './parse.ts'
import { GatewayError } from '../spec/error.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { clientJson, clientOutline, keyOf } from './client-json.ts'
import { FieldNames } from './field-names.ts'

/** The text of a JSON object without some of its members, and the values of those members. */
export interface Cut {
  readonly members: JsonObject
  /** The remaining text between the braces, in pieces that have to be joined by commas. */
  readonly kept: readonly Buffer[]
  /** The closing brace and what follows it. */
  readonly tail: Buffer
}

/** Maximum bytes of a member that is cut out: parsing it must not take long. */
const memberLimit = 64 * 1024

/**
 * Cuts the top-level members called `names` out of the text of a JSON object. Only these members are parsed; a
 * mistake elsewhere is left to the parser of the rest. Throws `invalid_request` when the text is not an object;
 * `invalid_value` when one of the names is repeated, has another spelling, or has a value of more than 64 KiB;
 * `invalid_json` when one of them cannot be parsed or the text is nested deeper than 128 levels; `request_too_large`
 * for more than two million members.
 */
export function cutMembers(bytes: Buffer, names: FieldNames): Cut {
  // Latin-1 has one character per byte, so offsets in this text are byte offsets.
  const text = bytes.toString('latin1')
  const open = /^[ \t\r\n]*\{/.exec(text)?.[0].length
  if (open === undefined) throw new GatewayError('invalid_request', { reason: 'It must be a JSON object.' })
  const read = names.reader()
  const members = new Map<string, Json | undefined>()
  const kept: Buffer[] = []
  /** Start of the current piece of kept members, and the current member. */
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

/** The text of a JSON object with the members `added`, at least one, in place of those that were cut out. */
export function pasteMembers(cut: Cut, added: JsonObject): Buffer {
  return Buffer.concat([...pieces(cut, added), cut.tail])
}

/**
 * Like `pasteMembers`, for `bytes` that no one else reads: the new members overwrite those that were cut out. The
 * text is copied only when they do not fit.
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

/** Everything before the closing brace. */
function pieces({ members, kept }: Cut, added: JsonObject): Buffer[] {
  const first = JSON.stringify(added).slice(1, -1)
  const parts: Buffer[] = [Buffer.from(`{${first}`)]
  const empty = Object.keys(members).length === 0 && kept.every((piece) => piece.every(isSpace))
  if (empty) return parts
  for (const [at, piece] of kept.entries()) {
    if (at > 0 || first !== '') parts.push(Buffer.from(','))
    parts.push(piece)
  }
  return parts
}

/**
 * `bytes`, the text of a JSON object with at least one member, with the members `added`, at least one, in place of
 * those of the same names; one that is undefined only goes. `body` is its parsed form. All other bytes stay. Throws like `cutMembers`.
 */
export function putMembers(bytes: Buffer, body: JsonObject, added: JsonObject): Buffer {
  const replaced = Object.keys(added).filter((name) => Object.hasOwn(body, name))
  if (replaced.length > 0) return pasteMembers(cutMembers(bytes, new FieldNames(replaced)), added)
  const start = bytes.indexOf('{') + 1
  const text = JSON.stringify(added)
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(`${text.slice(1, -1)},`), bytes.subarray(start)])
}
