import { ordered } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { isSpace, stringEnd } from './outline.ts'

/** Deepest nesting that is read: the reader calls itself once per level. */
const deepest = 1_000

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Names of members that hold JSON of somebody else, such as the input of a tool or a schema, at whatever depth; `all`
 * where a whole text is such JSON. `JSON.stringify` prints it as it stood: a number in its own digits (`1.0`,
 * `12345678901234567890`), and keys in their own order, even those that look like an index. So such a number is an object of
 * `JSON.rawJSON`, and who wants to know its value has to ask for `rawJSON`.
 */
export type Verbatim = ReadonlySet<string> | 'all'

/** Node has it; its types do not. */
const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): number }

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/**
 * Reads one JSON text (RFC 8259) with the results of `JSON.parse`: the last of equal keys counts, `__proto__` is a key
 * like any other, and a lone surrogate is kept. What stands in members of a name in `verbatim` prints as it stood.
 * Takes time in proportion to the length of the text.
 * Throws a `SyntaxError` that does not quote the text, also for what is nested deeper than 1,000 levels.
 */
export function readJson(text: string, verbatim?: Verbatim): Json {
  return new JsonReader(text, verbatim).read()
}

/** Index of the token at which a text stops being JSON; undefined where it does not, or is nested too deep to be read. */
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

/** A key that an object of a JSON text has twice: which of its values counts, two readers may see differently. */
export function repeatedKey(text: string): string | undefined {
  const reader = new JsonReader(text)
  reader.read()
  return reader.repeated
}

/** The value of a JSON text, which prints as it stood; undefined where an object has a key twice. Throws as `readJson`. */
export function readUnambiguous(text: string): Json | undefined {
  const reader = new JsonReader(text, 'all')
  const value = reader.read()
  return reader.repeated === undefined ? value : undefined
}

class JsonReader {
  readonly #text: string
  readonly #verbatim: Verbatim | undefined
  /** What is read now has to print as it stands. */
  #exact: boolean
  #at = 0
  #depth = 0
  /** Where the text was found to be no JSON. */
  broken: number | undefined
  /** A key that an object has twice. */
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
      // An assignment to this one would change the prototype.
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
    // A value that is no part of another has to stay a number.
    return this.#exact && this.#depth > 0 && String(value) !== token ? rawJSON(token) : value
  }

  #literal(): boolean | null {
    const found = words.find(([word]) => this.#text.startsWith(word, this.#at))
    if (!found) throw this.#broken()
    const [word, value] = found
    this.#at += word.length
    return value
  }

  /** The character after the white space; empty at the end. */
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

/** What a string token says; undefined for one that is not well formed. */
function parsedString(token: string): string | undefined {
  try {
    // A string alone has no keys, and V8 reads it right.
    return JSON.parse(token) as string
  } catch {
    // The caller says where it stands.
    return undefined
  }
}
