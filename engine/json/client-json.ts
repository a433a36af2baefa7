import { JsonBoundError, outline } from './outline.ts'
import type { JsonBounds, MemberVisitor, Outline } from './outline.ts'
import { parseJson } from './parse.ts'
import { brokenAt, readJson } from './reader.ts'
import type { Verbatim } from './reader.ts'
import { GatewayError } from '../spec/error.ts'

/** Maximum nesting of a body; deeper values would overflow the stack of validators and walkers. */
export const depthLimit = 128

/** The position of a top-level field's value in the bytes of a JSON text. */
export interface Token {
  readonly start: number
  readonly end: number
}

/** What is known about a client's JSON text. */
export interface KnownText {
  /** The result of a walk over the text. When absent, the parser itself looks for escapes in keys. */
  readonly found?: Outline
  /** Values that must print exactly as they were written. */
  readonly verbatim?: Verbatim | undefined
  /** Whether the client sent this exact text, so that positions in it mean something to the client. */
  readonly sent?: boolean
}

/**
 * The value of a client's JSON text. Throws `invalid_json`, which gives the position of the mistake and never quotes
 * the text.
 */
export function clientJson(text: string, { found, verbatim, sent = false }: KnownText = {}): unknown {
  try {
    // The body's own numbers, such as a temperature, are parsed; values nested in its members may be relayed as
    // written.
    return verbatim && found && found.changes > 1 ? readJson(text, verbatim) : parseJson(text, found?.escapedKey)
  } catch (cause) {
    const place = sent && text.length <= placeLimit ? placeOf(text) : undefined
    throw new GatewayError('invalid_json', { reason: place ?? 'it cannot be parsed' }, { cause })
  }
}

/** Maximum characters of a text in which the position is looked for: that takes a second, slower parse. */
const placeLimit = 256 * 1024

/** The position at which a text stops being JSON. */
function placeOf(text: string): string | undefined {
  const at = brokenAt(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const place = `line ${line}, column ${at - before.lastIndexOf('\n')} (byte ${Buffer.byteLength(before)})`
  return at === text.length ? `it ends too early, at ${place}` : `the text at ${place} does not belong there`
}

/**
 * Walks over a client's JSON text. Throws `invalid_json` when it is nested deeper than `depth` levels, and
 * `request_too_large` when it has more than `members` members.
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

/** Maximum characters of a key that is decoded. */
const keyLimit = 256

/** The decoded key of a token; a key that is too long is returned as written. */
export function keyOf(token: string): string {
  return token.includes('\\') && token.length <= keyLimit ? (clientJson(token) as string) : token.slice(1, -1)
}
