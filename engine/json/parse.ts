import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isSpace, outline, stringEnd } from './outline.ts'
import { readJson } from './reader.ts'
import type { Verbatim } from './reader.ts'

/** Most members of any text: parsing more would hold up everybody else. */
export const mostMembers = 2_000_000

/**
 * Parses a JSON text from wherever it comes, with the results of `JSON.parse`; nothing else here parses any.
 * Throws a `SyntaxError` that does not quote the text, for one of more than two million members, too.
 *
 * V8 (Node 23 to 26) takes a key that is written with an escape for another one that an earlier text had, even another
 * client's: after `{"q":0,"a\\":1}` it reads `{"q":0,"a\u0041":1}` as `{"q":0,"a\\":1}`. Texts with such a key, which are rare,
 * are read here. Who knows whether `text` is one says so in `escapedKey`.
 */
export function parseJson(text: string, escapedKey = hasEscapedKey(text)): unknown {
  if (escapedKey) return readJson(text)
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may be a prompt.
    throw new SyntaxError('The text is not JSON.')
  }
}

/** The value of a JSON text, as `parseJson` reads it; undefined for what is none. */
export function parsedJson(text: string): Json | undefined {
  try {
    return parseJson(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The same of a text that should hold an object; undefined for any other value, too. */
export function parsedObject(text: string): JsonObject | undefined {
  const value = parsedJson(text)
  return isObject(value) ? value : undefined
}

/** The object of scalars and of such objects that follows the last `word`. */
export function objectAfter(data: string, word: string): JsonObject | undefined {
  const at = data.lastIndexOf(word)
  const object = at < 0 ? null : /^\s{0,64}\{(?:[^{}]|\{[^{}]{0,4096}\}){0,4096}\}/.exec(data.slice(at + word.length))
  return object ? parsedObject(object[0]) : undefined
}

/** Like `parseJson`; what `verbatim` says prints as it stood. */
export function parseVerbatim(text: string, verbatim: Verbatim): unknown {
  const { escapedKey, changes } = outline(text, { depth: Infinity, members: mostMembers })
  return changes > 0 ? readJson(text, verbatim) : parseJson(text, escapedKey)
}

/** Whether an escape stands in a key. Looks only at strings that have an escape, and searches them natively. */
function hasEscapedKey(text: string): boolean {
  // No member takes less than two characters, an object and a list with what closes it.
  if (text.length > 2 * mostMembers) return outline(text, { depth: Infinity, members: mostMembers }).escapedKey
  for (let at = text.indexOf('\\'); at >= 0;) {
    let end = stringEnd(text, at)
    while (isSpace(text.charCodeAt(end))) end++
    if (text[end] === ':') return true
    at = text.indexOf('\\', end)
  }
  return false
}
