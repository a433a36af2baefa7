import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
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
  const token = scan(bytes, field)
  const body = parse(bytes.toString())
  if (!isObject(body)) throw new GatewayError('invalid_request', { reason: 'The body must be a JSON object.' })
  return token && typeof body[field] === 'string' ? { body, token } : { body }
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
      if (++depth > depthLimit)
        throw new GatewayError('invalid_json', { reason: `it is nested deeper than ${depthLimit} levels` })
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
