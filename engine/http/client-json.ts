import { JsonBoundError, outline } from '../json/outline.ts'
import type { JsonBounds, MemberVisitor, Outline } from '../json/outline.ts'
import { parseJson } from '../json/parse.ts'
import { brokenAt, readJson } from '../json/reader.ts'
import type { Verbatim } from '../json/reader.ts'
import { GatewayError } from '../spec/error.ts'

/** Deepest nesting a body may have; beyond it validators and walkers would overflow their stack. */
export const depthLimit = 128

/** Where the value of a top-level field stands in the bytes of a JSON text. */
export interface Token {
  readonly start: number
  readonly end: number
}

/** What is known of a client's JSON text. */
export interface KnownText {
  /** What a walk over it found; absent: whether an escape stands in one of its keys is looked for. */
  readonly found?: Outline
  /** What of it has to print as it stands. */
  readonly verbatim?: Verbatim | undefined
  /** The client sent this very text, so that a place in it means something to it. */
  readonly sent?: boolean
}

/** The value of a client's JSON text. Throws `invalid_json`, which says where the text is none and never quotes it. */
export function clientJson(text: string, { found, verbatim, sent = false }: KnownText = {}): unknown {
  try {
    // What the body itself says in numbers, such as a temperature, is read; what its members hold may be passed on.
    return verbatim && found && found.changes > 1 ? readJson(text, verbatim) : parseJson(text, found?.escapedKey)
  } catch (cause) {
    const place = sent && text.length <= placeLimit ? placeOf(text) : undefined
    throw new GatewayError('invalid_json', { reason: place ?? 'it cannot be parsed' }, { cause })
  }
}

/** Characters of the longest text in which the place is looked for: it is read once more, and more slowly. */
const placeLimit = 256 * 1024

/** Where a text stops being JSON. */
function placeOf(text: string): string | undefined {
  const at = brokenAt(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const place = `line ${line}, column ${at - before.lastIndexOf('\n')} (byte ${Buffer.byteLength(before)})`
  return at === text.length ? `it ends too early, at ${place}` : `what stands at ${place} does not belong there`
}

/**
 * Walks over a client's JSON text. Throws `invalid_json` for what is nested deeper than `depth` levels, `request_too_large` for what has more than `members`.
 */
export function clientOutline(text: string, members: number, visitor?: MemberVisitor, depth = depthLimit): Outline {
  const bounds: JsonBounds = { depth, members }
  try {
    return outline(text, bounds, visitor)
  } catch (cause) {
    if (!(cause instanceof JsonBoundError)) throw cause
    if (cause.bound === 'depth')
      throw new GatewayError('invalid_json', { reason: `it is nested deeper than ${depth} levels` }, { cause })
    const message = `The body has more than ${members} keys, objects and lists.`
    throw new GatewayError('request_too_large', { limit: members }, { cause, message })
  }
}

/** Characters of the longest key that is decoded. */
const keyLimit = 256

/** What the token of a key says; too long a one stays as it is written. */
export function keyOf(token: string): string {
  return token.includes('\\') && token.length <= keyLimit ? (clientJson(token) as string) : token.slice(1, -1)
}
