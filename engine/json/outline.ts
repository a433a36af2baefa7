/** What a JSON text may hold at most. */
export interface JsonBounds {
  /** Levels of nesting. */
  readonly depth: number
  /**
   * Keys, objects and lists, which take most of the time that parsing takes. Four commas count as one, as do sixteen
   * quotes that are escaped.
   */
  readonly members: number
}

/** A JSON text that holds more than it may. */
export class JsonBoundError extends SyntaxError {
  override readonly name = 'JsonBoundError'
  readonly bound: keyof JsonBounds

  constructor(bound: keyof JsonBounds, most: number) {
    super(bound === 'depth' ? `The text is nested deeper than ${most} levels.` : `The text has over ${most} members.`)
    this.bound = bound
  }
}

/** Hears where the members of the outermost object stand: indexes into the text. */
export interface MemberVisitor {
  /** A key, from its opening quote to after its closing one; `value` is where the value begins. */
  key(start: number, end: number, value: number): void
  /** A comma between two members, or the closing brace. */
  end?(at: number): void
}

export interface Outline {
  /** An escape stands in a key, of whatever object. */
  readonly escapedKey: boolean
  /**
   * Deepest level at which a number or a key stands that might print otherwise than it is written, such as `1.0`, `1e3`,
   * `12345678901234567890` and `{"b":1,"0":2}`: 1 for a member of the outermost value, 0 where there is none.
   */
  readonly changes: number
  /** Index of the bracket that closes the outermost value; the length of the text where there is none. */
  readonly end: number
}

const [tab, newline, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20]
const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c]
const [plus, zero, letterE, smallE] = [0x2b, 0x30, 0x45, 0x65]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** What tokens take of the room that the bound on members gives. */
const sizeOf = { member: 16, comma: 4, escapedQuote: 1 }

/**
 * Walks over the tokens of a JSON text once, up to where its outermost object or list closes. Strings, most of any
 * text, are skipped by a native search. What it says of a text that is no JSON means nothing.
 * Throws a `JsonBoundError` as soon as a bound is passed.
 */
export function outline(text: string, bounds: JsonBounds, visitor?: MemberVisitor): Outline {
  let depth = 0
  let room = bounds.members * sizeOf.member
  /** Where the next backslash stands, from the last key on. */
  let slash = -1
  let escapedKey = false
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
      return { escapedKey, changes, end: at }
    }
  }
  return { escapedKey, changes, end: text.length }
}

function tooMany({ members }: JsonBounds): JsonBoundError {
  return new JsonBoundError('members', members)
}

/** Index of the first character from `at` on that is no part of a number. */
function numberEnd(text: string, at: number): number {
  let end = at + 1
  for (let code = text.charCodeAt(end); (code > comma && code < colon) || isSign(code); code = text.charCodeAt(end))
    end++
  return end
}

/** A letter or sign of an exponent. */
function isSign(code: number): boolean {
  return code === letterE || code === smallE || code === plus
}

function isDigit(code: number): boolean {
  return code >= zero && code < colon
}

/** Digits that a number keeps, whichever they are. */
const keptDigits = 15

/** Whether a number might print otherwise: quick, and true more often than needed. */
function mayChange(text: string, start: number, end: number): boolean {
  if (end - start > keptDigits) return true
  for (let at = start + 1; at < end; at++)
    if (!isDigit(text.charCodeAt(at))) return /[eE]|0$|^-?0\.000000/.test(text.slice(start, end))
  return text.startsWith('-0', start)
}

/** Whether an odd number of backslashes stands before the quote at `at`. */
function isEscaped(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== backslash) return false
  let from = at - 1
  while (text.charCodeAt(from - 1) === backslash) from--
  return (at - from) % 2 === 1
}

/** Index of the first character from `at` on that is no white space. */
function afterSpace(text: string, at: number): number {
  let next = at
  while (isSpace(text.charCodeAt(next))) next++
  return next
}

/** Whether a character code is white space between the tokens of JSON. */
export function isSpace(code: number): boolean {
  return code === space || code === newline || code === carriageReturn || code === tab
}

function indexOrEnd(text: string, searched: string, from: number): number {
  const index = text.indexOf(searched, from)
  return index < 0 ? text.length : index
}

/**
 * Index after the closing quote of the string token that begins at `from`, or that has an escape there; the length of
 * the text where nothing closes it.
 */
export function stringEnd(text: string, from: number): number {
  let close = text.indexOf('"', from + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close < 0 ? text.length : close + 1
}
