import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../spec/error.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isObject } from '../spec/json.ts'

/** Deepest nesting a body may have; beyond it validators and walkers would overflow their stack. */
const depthLimit = 128

/** Where the value of a top-level field stands in the bytes of a JSON text. */
export interface Token {
  readonly start: number
  readonly end: number
}

/** A JSON object out of bytes, and where the string value of its top-level `field` stands. */
export interface ScannedJson {
  readonly body: JsonObject
  /** Absent: the field is missing, is no string, or stands there twice. */
  readonly token?: Token
}

/**
 * Parses a client's JSON body. Refuses what is not UTF-8, not an object, or nested deeper than 128 levels
 * before anything recursive sees it.
 */
export function scanJson(bytes: Buffer, field: string): ScannedJson {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { reason: 'it is not UTF-8' })
  const text = bytes.toString()
  // Where each character is one byte, a place in the text is one in the bytes.
  const plain = text.length === bytes.length && isPlain(text, field)
  const scanned = plain ? undefined : scan(bytes, field)
  const body = parse(text)
  if (!isObject(body)) throw new GatewayError('invalid_request', { reason: 'The body must be a JSON object.' })
  if (typeof body[field] !== 'string') return { body }
  const token = plain ? valueOf(text, field) : scanned
  return token ? { body, token } : { body }
}

/**
 * Whether native searches alone tell all that a walk over the tokens would, as they do for most requests: too few brackets
 * to be deep, and `field` spelled out at most once, so that if the object has it, it is there.
 */
function isPlain(text: string, field: string): boolean {
  // Longer names that begin with it count, too: V8 searches for up to six characters in a quicker way.
  const key = `"${field}`
  const first = text.indexOf(key)
  if (first >= 0 && text.includes(key, first + 1)) return false
  // An ASCII letter can be written in one other way.
  return !text.includes('\\u00') && occurrences(text, '{') + occurrences(text, '[') <= depthLimit
}

/** How often a character is there, as far as it matters. */
function occurrences(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at >= 0 && count <= depthLimit; at = text.indexOf(character, at + 1)) count++
  return count
}

/** The string value of `field`, of which the JSON in `text` has just one. */
function valueOf(text: string, field: string): Token {
  const start = text.indexOf('"', text.indexOf(`"${field}"`) + field.length + 2)
  let end = start
  do end = text.indexOf('"', end + 1)
  while (isEscaped(text, end))
  return { start, end: end + 1 }
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may be a prompt.
    throw new GatewayError('invalid_json', { reason: 'it cannot be parsed' })
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const spaces = new Set([0x20, 0x09, 0x0a, 0x0d])
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/**
 * Walks over the tokens once. Strings, most of any body, are skipped by a native search.
 * Keys of the top level are compared as the JSON strings they are, so an escaped spelling counts too.
 */
function scan(bytes: Buffer, field: string): Token | undefined {
  let depth = 0
  let inField = false
  let wantsKey = false
  let found: Token | undefined
  let times = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      const end = stringEnd(bytes, at)
      if (depth === 1 && wantsKey) inField = isKey(bytes, at, end, field)
      else if (depth === 1 && inField) found = { start: at, end }
      at = end - 1
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > depthLimit) throw tooDeep()
      wantsKey = depth === 1 && byte === openBrace
    } else if (byte === closeBrace || byte === closeBracket) depth--
    else if (depth === 1 && byte === comma) wantsKey = true
    else if (depth === 1 && byte === colon) {
      wantsKey = false
      if (inField) times++
    }
  }
  return times === 1 ? found : undefined
}

function tooDeep(): GatewayError {
  return new GatewayError('invalid_json', { reason: `it is nested deeper than ${depthLimit} levels` })
}

/** Bytes of a string that are looked at one by one: calling the native search costs as much as some thirty of them. */
const shortString = 32

/** Index after the closing quote of the string that opens at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  const near = Math.min(start + shortString, bytes.length)
  let end = start
  while (++end < near && bytes[end] !== backslash) if (bytes[end] === quote) return end + 1
  end--
  for (;;) {
    end = bytes.indexOf(quote, end + 1)
    if (end < 0) return bytes.length
    let slashes = 0
    while (bytes[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
  }
}

/** Whether the string token from `start` to `end` says `field`, a word in ASCII, in whatever spelling. */
function isKey(bytes: Buffer, start: number, end: number, field: string): boolean {
  const length = end - start - 2
  if (length === field.length) return bytes.toString('latin1', start + 1, end - 1) === field
  // An escaped spelling is longer.
  return (
    length > field.length &&
    bytes.subarray(start, end).includes(backslash) &&
    parse(bytes.toString('utf8', start, end)) === field
  )
}

/** `bytes` with the string token at `token` replaced by `value`; everything else stays as it is. */
export function spliceString(bytes: Buffer, token: Token, value: string): Buffer {
  return Buffer.concat([bytes.subarray(0, token.start), Buffer.from(JSON.stringify(value)), bytes.subarray(token.end)])
}

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
      members.set(name, (parse(`{${bytes.toString('utf8', start, end)}}`) as JsonObject)[name])
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
export function pasteMembers({ members, kept, tail }: Cut, added: JsonObject): Buffer {
  const parts: Buffer[] = [Buffer.from(`{${JSON.stringify(added).slice(1, -1)}`)]
  const empty = Object.keys(members).length === 0 && kept.every((piece) => piece.every((byte) => spaces.has(byte)))
  if (!empty) for (const piece of kept) parts.push(Buffer.from(','), piece)
  return Buffer.concat([...parts, tail])
}

/** Longest key that is looked at, in bytes. */
const keyLimit = 256

/** A key; undefined for one that is too long to be looked for. */
function keyOf(bytes: Buffer, { start, end }: Token): string | undefined {
  if (end - start > keyLimit) return undefined
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? (parse(text) as string) : text.slice(1, -1)
}
