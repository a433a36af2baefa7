import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isSpace, outline, stringEnd } from './outline.ts'
import { readJson } from './reader.ts'
import type { Verbatim } from './reader.ts'

/** Maximum members of any text: parsing more would block other requests. */
export const mostMembers = 2_000_000

/**
 * Parses a JSON text with the results of `JSON.parse`. All JSON in the gateway is parsed here. Throws a `SyntaxError`
 * that does not quote the text; also for more than two million members.
 *
 * V8 (Node 23 to 26) has a bug: it confuses a key written with an escape with a key of an earlier text, even one of
 * another client. After `{"q":0,"a\\":1}` it reads `{"q":0,"a\u0041":1}` as `{"q":0,"a\\":1}`. Texts with such keys
 * are rare, and are parsed by our own reader.
 * @param escapedKey whether a key of `text` contains an escape, if the caller knows
 */
export function parseJson(text: string, escapedKey = hasEscapedKey(text)): unknown {
  if (escapedKey) return readJson(text)
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may be a prompt.
    throw new SyntaxError('The text is not JSON.')
  }
}

/** The value of a JSON text as `parseJson` returns it; undefined if the text is not JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return parseJson(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Like `parsedJson`, for a text that should be an object; undefined for any other value, too. */
export function parsedObject(text: string): JsonObject | undefined {
  const value = parsedJson(text)
  return isObject(value) ? value : undefined
}

/** The object that follows the last `word`; its values are scalars and further such objects. */
export function objectAfter(data: string, word: string): JsonObject | undefined {
  const at = data.lastIndexOf(word)
  const object = at < 0 ? null : /^\s{0,64}\{(?:[^{}]|\{[^{}]{0,4096}\}){0,4096}\}/.exec(data.slice(at + word.length))
  return object ? parsedObject(object[0]) : undefined
}

/** Like `parseJson`, but the members named in `verbatim` print as they were written. */
export function parseVerbatim(text: string, verbatim: Verbatim): unknown {
  const { escapedKey, changes } = outline(text, { depth: Infinity, members: mostMembers })
  return changes > 0 ? readJson(text, verbatim) : parseJson(text, escapedKey)
}

/** Whether a key contains an escape. Uses native search, and looks only at strings with an escape. */
function hasEscapedKey(text: string): boolean {
  // A member takes at least two characters, counting the closing bracket of an object or list.
  if (text.length > 2 * mostMembers) return outline(text, { depth: Infinity, members: mostMembers }).escapedKey
  for (let at = text.indexOf('\\'); at >= 0;) {
    let end = stringEnd(text, at)
    while (isSpace(text.charCodeAt(end))) end++
    if (text[end] === ':') return true
    at = text.indexOf('\\', end)
  }
  return false
}
