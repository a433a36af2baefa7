import { isUtf8 } from 'node:buffer'
import { stringEnd } from './outline.ts'
import type { Verbatim } from './reader.ts'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Body } from '../spec/source.ts'
import { spliced } from '../stream/body.ts'
import { clientJson, clientOutline, keyOf } from './client-json.ts'
import type { Token } from './client-json.ts'
import type { FieldNames } from './field-names.ts'

/** A parsed JSON object, and the positions of top-level values in its bytes. */
export interface ScannedJson {
  readonly body: JsonObject
  /** String values of the fields that were looked for. */
  readonly tokens: ReadonlyMap<string, Token>
}

/** Limits and options for a body. */
export interface ScanOptions {
  /** Fields to look for. Each may occur once, in its exact spelling. */
  readonly fields: FieldNames
  /** Maximum number of keys, objects and lists; four commas count as one. */
  readonly members: number
  /** Values that must print exactly as they were written. */
  readonly verbatim?: Verbatim | undefined
  /** Whether the client sent these exact bytes. Default: true. */
  readonly sent?: boolean
}

/**
 * Parses a client's JSON body. One walk over its tokens first refuses nesting deeper than 128 levels, too many
 * members, and fields that another parser may read differently.
 */
export function scanJson(bytes: Buffer, { fields, members, verbatim, sent = true }: ScanOptions): ScannedJson {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { reason: 'it is not UTF-8' })
  const text = bytes.toString()
  // In a text of one-byte characters, offsets are byte offsets.
  const byteAt = text.length === bytes.length ? same : (at: number) => Buffer.byteLength(text.slice(0, at))
  const tokens = new Map<string, Token>()
  const read = fields.reader()
  const key = (start: number, end: number, value: number) => {
    const name = read(keyOf(text.slice(start, end)))
    if (name === undefined || text[value] !== '"') return
    tokens.set(name, { start: byteAt(value), end: byteAt(stringEnd(text, value)) })
  }
  const found = clientOutline(text, members, { key })
  const body = clientJson(text, { found, verbatim, sent })
  if (!isObject(body)) throw new GatewayError('invalid_request', { reason: 'The body must be a JSON object.' })
  return { body, tokens }
}

const same = (at: number) => at

/** A JSON body with the string at `token` replaced by `value`; all other bytes stay. */
export function spliceString(body: Body, token: Token, value: string): Body {
  return spliced(body, token, Buffer.from(JSON.stringify(value)))
}
