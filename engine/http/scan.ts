import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import {
  backslash,
  clientJson,
  closeBrace,
  closeBracket,
  colon,
  comma,
  depthLimit,
  openBrace,
  openBracket,
  quote,
  stringEnd,
  tooDeep,
} from './json-tokens.ts'
import type { Token } from './json-tokens.ts'

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
  const body = clientJson(text)
  if (!isObject(body)) throw new GatewayError('invalid_request', { reason: 'The body must be a JSON object.' })
  if (typeof body[field] !== 'string') return { body }
  const token = plain ? valueOf(bytes, text, field) : scanned
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

/** The string value of `field`, of which there is just one, in bytes that are the characters of `text`. */
function valueOf(bytes: Buffer, text: string, field: string): Token {
  const start = text.indexOf('"', text.indexOf(`"${field}"`) + field.length + 2)
  return { start, end: stringEnd(bytes, start) }
}

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

/** Whether the string token from `start` to `end` says `field`, a word in ASCII, in whatever spelling. */
function isKey(bytes: Buffer, start: number, end: number, field: string): boolean {
  const length = end - start - 2
  if (length === field.length) return bytes.toString('latin1', start + 1, end - 1) === field
  // An escaped spelling is longer.
  return (
    length > field.length &&
    bytes.subarray(start, end).includes(backslash) &&
    clientJson(bytes.toString('utf8', start, end)) === field
  )
}

/** `bytes` with the string token at `token` replaced by `value`; everything else stays as it is. */
export function spliceString(bytes: Buffer, token: Token, value: string): Buffer {
  return Buffer.concat([bytes.subarray(0, token.start), Buffer.from(JSON.stringify(value)), bytes.subarray(token.end)])
}
