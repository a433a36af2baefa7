/** Limits for a JSON text. */
export interface JsonBounds {
  /** Maximum levels of nesting. */
  readonly depth: number
  /**
   * Maximum keys, objects and lists, which take most of the parsing time. Four commas count as one, and so do sixteen
   * escaped quotes.
   */
  readonly members: number
}

/** A JSON text exceeds a limit. */
export class JsonBoundError extends SyntaxError {
  override readonly name = 'JsonBoundError'
  readonly bound: keyof JsonBounds

  constructor(bound: keyof JsonBounds, most: number) {
    super(bound === 'depth' ? `The text is nested deeper than ${most} levels.` : `The text has over ${most} members.`)
    this.bound = bound
  }
}

/** Receives the positions of the members of the outermost object, as indexes into the text. */
export interface MemberVisitor {
  /** A key from its opening quote to after its closing quote; `value` is the index at which the value begins. */
  key(start: number, end: number, value: number): void
  /** A comma between two members, or the closing brace. */
  end?(at: number): void
}

export interface Outline {
  /** Whether any key, of any object, contains an escape. */
  readonly escapedKey: boolean
  /** Number of keys of all objects; an object may have one more than once. */
  readonly keys: number
  /**
   * Deepest level of a number or key that might print differently than it is written, such as `1.0`, `1e3`,
   * `12345678901234567890` and `{"b":1,"0":2}`: 1 for a member of the outermost value, 0 if there is none.
   */
  readonly changes: number
  /** Index of the bracket that closes the outermost value; the length of the text if it is never closed. */
  readonly end: number
}

const [tab, newline, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20]
const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c]
const [plus, zero, letterE, smallE] = [0x2b, 0x30, 0x45, 0x65]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** How much of the limit on members each token takes. */
const sizeOf = { member: 16, comma: 4, escapedQuote: 1 }

/**
 * Walks over the tokens of a JSON text once, until its outermost object or list closes. Strings, which make up most
 * texts, are skipped by a native search. The result is meaningless for a text that is not JSON. Throws a
 * `JsonBoundError` as soon as a limit is exceeded.
 */
export function outline(text: string, bounds: JsonBounds, visitor?: MemberVisitor): Outline {
  let depth = 0
  let room = bounds.members * sizeOf.member
  /** Index of the next backslash after the last key. */
  let slash = -1
  let escapedKey = false
  let keys = 0
  let changes = 0
  let at = 0
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > comma && code < colon) {
      const end = numberEnd(text, at)
      if (depth > changes && mayChange(text, at, end)) changes = depth
      at = end - 1
      continue
    }
    if (code === quote) {
      const start = at
      let close = text.indexOf('"', start + 1)
      for (; isEscaped(text, close); close = text.indexOf('"', close + 1))
        if ((room -= sizeOf.escapedQuote) < 0) throw tooMany(bounds)
      if (close < 0) break
      at = close
      const next = afterSpace(text, close + 1)
      if (text.charCodeAt(next) === colon) {
        if ((room -= sizeOf.member) < 0) throw tooMany(bounds)
        at = next
        keys++
        if (slash < start) slash = indexOrEnd(text, '\\', start)
        if (slash < close) escapedKey = true
        if (depth > changes && isDigit(text.charCodeAt(start + 1))) changes = depth
        if (depth === 1) visitor?.key(start, close + 1, afterSpace(text, next + 1))
      }
    } else if (code === openBrace || code === openBracket) {
      if ((room -= sizeOf.member) < 0) throw tooMany(bounds)
      if (++depth > bounds.depth) throw new JsonBoundError('depth', bounds.depth)
    } else if (code === comma) {
      if ((room -= sizeOf.comma) < 0) throw tooMany(bounds)
      if (depth === 1) visitor?.end?.(at)
    } else if ((code === closeBrace || code === closeBracket) && --depth <= 0) {
      visitor?.end?.(at)
      return { escapedKey, keys, changes, end: at }
    }
  }
  return { escapedKey, keys, changes, end: text.length }
}

function tooMany({ members }: JsonBounds): JsonBoundError {
  return new JsonBoundError('members', members)
}

/** Index of the first character from `at` on that is not part of a number. */
function numberEnd(text: string, at: number): number {
  let end = at + 1
  for (let code = text.charCodeAt(end); (code > comma && code < colon) || isSign(code); code = text.charCodeAt(end))
    end++
  return end
}

/** Whether it is a letter or sign of an exponent. */
function isSign(code: number): boolean {
  return code === letterE || code === smallE || code === plus
}

function isDigit(code: number): boolean {
  return code >= zero && code < colon
}

/** A number of at most this many digits always prints unchanged. */
const keptDigits = 15

/** Whether a number might print differently. A fast check with false positives. */
function mayChange(text: string, start: number, end: number): boolean {
  if (end - start > keptDigits) return true
  for (let at = start + 1; at < end; at++)
    if (!isDigit(text.charCodeAt(at))) return /[eE]|0$|^-?0\.000000/.test(text.slice(start, end))
  return text.startsWith('-0', start)
}

/** Whether the quote at `at` follows an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== backslash) return false
  let from = at - 1
  while (text.charCodeAt(from - 1) === backslash) from--
  return (at - from) % 2 === 1
}

/** Index of the first character from `at` on that is not white space. */
function afterSpace(text: string, at: number): number {
  let next = at
  while (isSpace(text.charCodeAt(next))) next++
  return next
}

/** Whether a character code is white space between JSON tokens. */
export function isSpace(code: number): boolean {
  return code === space || code === newline || code === carriageReturn || code === tab
}

function indexOrEnd(text: string, searched: string, from: number): number {
  const index = text.indexOf(searched, from)
  return index < 0 ? text.length : index
}

/**
 * Index after the closing quote of the string token that begins at `from`, or that continues with an escape at
 * `from`; the length of the text if the string is never closed.
 */
export function stringEnd(text: string, from: number): number {
  let close = text.indexOf('"', from + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close < 0 ? text.length : close + 1
}
