import { ordered } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isSpace, stringEnd } from './outline.ts'

/** Maximum nesting: the reader recurses once per level. */
const deepest = 1_000

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Names of members whose values are foreign JSON at any depth, such as the input of a tool or a schema; `all` if the
 * whole text is foreign JSON. `JSON.stringify` prints such values as they were written: numbers in their own digits
 * (`1.0`, `12345678901234567890`), and keys in their own order, even keys that look like an index. Such a number is
 * an object of `JSON.rawJSON`; its `rawJSON` property holds the digits.
 */
export type Verbatim = ReadonlySet<string> | 'all'

/** Node implements `rawJSON`; its types do not declare it. */
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): number }

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/**
 * Reads one JSON text (RFC 8259) with the results of `JSON.parse`: the last of equal keys wins, `__proto__` is an
 * ordinary key, and a lone surrogate is kept. Members named in `verbatim` print as they were written. Takes linear
 * time. Throws a `SyntaxError` that does not quote the text; also for nesting deeper than 1,000 levels.
 */
export function readJson(text: string, verbatim?: Verbatim): Json {
  return new JsonReader(text, verbatim).read()
}

/** Index of the token at which a text stops being JSON; undefined if it is JSON, or nested too deep to be read. */
export function brokenAt(text: string): number | undefined {
  const reader = new JsonReader(text)
  try {
    reader.read()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return reader.broken
    throw error
  }
}

/** A repeated key in any object of a JSON text: two parsers may disagree on which of its values counts. */
export function repeatedKey(text: string): string | undefined {
  const reader = new JsonReader(text)
  reader.read()
  return reader.repeated
}

/**
 * The value of a JSON text, printed as it was written; undefined if an object repeats a key. Throws like `readJson`.
 */
export function readUnambiguous(text: string): Json | undefined {
  const reader = new JsonReader(text, 'all')
  const value = reader.read()
  return reader.repeated === undefined ? value : undefined
}

class JsonReader {
  readonly #text: string
  readonly #verbatim: Verbatim | undefined
  /** Whether the current value must print as it was written. */
  #exact: boolean
  #at = 0
  #depth = 0
  /** Index at which the text stops being JSON. */
  broken: number | undefined
  /** A repeated key. */
  repeated: string | undefined

  constructor(text: string, verbatim?: Verbatim) {
    this.#text = text
    this.#verbatim = verbatim
    this.#exact = verbatim === 'all'
  }

  read(): Json {
    const value = this.#value()
    if (this.#next() !== '') throw this.#broken()
    return value
  }

  #value(): Json {
    const first = this.#next()
    if (first === '"') return this.#string()
    if (first === '{') return this.#nested(() => this.#object())
    if (first === '[') return this.#nested(() => this.#list())
    return /[-\d]/.test(first) ? this.#number() : this.#literal()
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > deepest) throw new SyntaxError(`The JSON text is nested deeper than ${deepest} levels.`)
    this.#at++
    const value = read()
    this.#depth--
    return value
  }

  #object(): JsonObject {
    const object: Record<string, Json> = {}
    const keys = this.#exact ? new Set<string>() : undefined
    if (this.#took('}')) return object
    do {
      if (this.#next() !== '"') throw this.#broken()
      const key = this.#string()
      keys?.add(key)
      if (Object.hasOwn(object, key)) this.repeated ??= key
      this.#take(':')
      const value = this.#member(key)
      // Assigning to this key would change the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
      else object[key] = value
    } while (this.#took(','))
    this.#take('}')
    return keys ? ordered(object, keys) : object
  }

  #member(key: string): Json {
    const exact = this.#exact
    this.#exact ||= this.#verbatim instanceof Set && this.#verbatim.has(key)
    const value = this.#value()
    this.#exact = exact
    return value
  }

  #list(): readonly Json[] {
    const list: Json[] = []
    if (this.#took(']')) return list
    do list.push(this.#value())
    while (this.#took(','))
    this.#take(']')
    return list
  }

  #string(): string {
    const end = stringEnd(this.#text, this.#at)
    const value = parsedString(this.#text.slice(this.#at, end))
    if (value === undefined) throw this.#broken()
    this.#at = end
    return value
  }

  #number(): number {
    numberToken.lastIndex = this.#at
    const token = numberToken.exec(this.#text)?.[0]
    if (token === undefined) throw this.#broken()
    this.#at += token.length
    const value = Number(token)
    // A top-level number stays a number.
    return this.#exact && this.#depth > 0 && String(value) !== token ? rawJSON(token) : value
  }

  #literal(): boolean | null {
    const found = words.find(([word]) => this.#text.startsWith(word, this.#at))
    if (!found) throw this.#broken()
    const [word, value] = found
    this.#at += word.length
    return value
  }

  /** Skips white space. Returns the next character; empty at the end. */
  #next(): string {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++
    return this.#text.charAt(this.#at)
  }

  #took(character: string): boolean {
    if (this.#next() !== character) return false
    this.#at++
    return true
  }

  #take(character: string): void {
    if (!this.#took(character)) throw this.#broken()
  }

  #broken(): SyntaxError {
    this.broken = this.#at
    return new SyntaxError(`The text is not JSON at position ${this.#at}.`)
  }
}

/** The decoded value of a string token; undefined if it is malformed. */
function parsedString(token: string): string | undefined {
  try {
    // A string has no keys, so the V8 bug does not affect it.
    return JSON.parse(token) as string
  } catch {
    // The caller reports the position.
    return undefined
  }
}
