import { isUtf8 } from 'node:buffer'
import { stringEnd } from '../json/outline.ts'
import type { Verbatim } from '../json/reader.ts'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Body } from '../spec/source.ts'
import { spliced } from '../stream/body.ts'
import { clientJson, clientOutline, keyOf } from './client-json.ts'
import type { Token } from './client-json.ts'
import type { FieldNames } from './field-names.ts'

/** A JSON object out of bytes, and where values of its top level stand in them. */
export interface ScannedJson {
  readonly body: JsonObject
  /** Values that are strings, of the fields that were looked for. */
  readonly tokens: ReadonlyMap<string, Token>
}

/** What a body may be. */
export interface ScanOptions {
  /** Fields that may stand there once, in their own spelling; they are looked for. */
  readonly fields: FieldNames
  /** Most keys, objects and lists; four commas count as one. */
  readonly members: number
  /** What of the body has to print as it stands. */
  readonly verbatim?: Verbatim | undefined
  /** The bytes are those that the client sent; default: they are. */
  readonly sent?: boolean
}

/**
 * Parses a client's JSON body. Before it is parsed, one walk over its tokens refuses what is nested deeper than 128
 * levels, what has too many members, and a field that others may read in another way.
 */
export function scanJson(bytes: Buffer, { fields, members, verbatim, sent = true }: ScanOptions): ScannedJson {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { reason: 'it is not UTF-8' })
  const text = bytes.toString()
  // Where each character is one byte, a place in the text is one in the bytes.
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

/** A JSON body with the string at `token` replaced by `value`; everything else stays as it is. */
export function spliceString(body: Body, token: Token, value: string): Body {
  return spliced(body, token, Buffer.from(JSON.stringify(value)))
}
