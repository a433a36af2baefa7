import { isSpace, readJson, stringEnd } from './reader.ts'

/**
 * Parses a JSON text from wherever it comes, with the results of `JSON.parse`; nothing else here parses any.
 * Throws a `SyntaxError` that does not quote the text.
 *
 * V8 (Node 23 to 26) takes a key that is written with an escape for another one that an earlier text had, even another
 * client's: after `{"a\\":1}` it reads `{"a\u0041":1}` as `{"a\\":1}`. Texts with such a key, which are rare, are read here.
 */
export function parseJson(text: string): unknown {
  if (hasEscapedKey(text)) return readJson(text)
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, and the text may be a prompt.
    throw new SyntaxError('The text is not JSON.')
  }
}

/** Whether an escape stands in a key. Looks only at strings that have an escape, and searches them natively. */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0;) {
    let end = stringEnd(text, at)
    while (isSpace(text.charCodeAt(end))) end++
    if (text[end] === ':') return true
    at = text.indexOf('\\', end)
  }
  return false
}
