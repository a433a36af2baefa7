import { parsedJson } from '../../json/parse.ts'
import { anyText } from './map-json.ts'
import type { TextChange } from './map-json.ts'
import { HeldText } from './held-text.ts'

/** A JSON token outside of strings, except punctuation and white space. */
const token = /^(?:true|false|null|-?\d[\d.eE+-]{0,99})$/
const number = /^-?\d/
const mark = /[\s{}[\],:]/

/**
 * Applies a change to the strings and numbers of JSON that arrives in pieces. Each string and number passes when it
 * has ended, everything else as it arrives. Text that turns out not to be JSON is changed as text from there on.
 */
export class HeldJson {
  readonly #change: TextChange
  readonly #any: TextChange
  readonly #text: HeldText
  /** Whether the text has turned out not to be JSON. */
  #broken = false
  /** The unfinished string or other token. */
  #open = ''
  #inside = false
  /** Whether the next character is part of an escape. */
  #escaped = false
  #changed = false

  constructor(change: TextChange, longest: number) {
    this.#change = change
    this.#any = anyText(change)
    this.#text = new HeldText(change, longest)
  }

  get changed(): boolean {
    return this.#changed || this.#text.changed
  }

  /** The JSON that no later piece can change. */
  push(piece: string): string {
    let given = ''
    for (let at = 0; at < piece.length; at++) {
      if (this.#broken) return given + this.#text.push(piece.slice(at))
      given += this.#inside ? this.#in(piece[at] as string) : this.#out(piece[at] as string)
    }
    return given
  }

  /** The rest. */
  end(): string {
    if (!this.#inside) return this.#token() + this.#text.end()
    const whole = `${this.#open}"`
    const given = this.#string(whole)
    this.#open = ''
    return given.endsWith('"') ? given.slice(0, -1) : given
  }

  #in(character: string): string {
    this.#open += character
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') {
      const given = this.#string(this.#open)
      this.#inside = false
      this.#open = ''
      return given
    }
    return ''
  }

  #out(character: string): string {
    if (character !== '"' && !mark.test(character)) {
      this.#open += character
      return ''
    }
    const before = this.#token()
    if (this.#broken) return before + this.#text.push(character)
    if (character !== '"') return before + character
    this.#inside = true
    this.#open = character
    return before
  }

  /** The token that has ended. An invalid token shows that the text is not JSON. */
  #token(): string {
    const open = this.#open
    this.#open = ''
    if (open === '') return open
    if (token.test(open)) return number.test(open) ? this.#number(open) : open
    this.#broken = true
    return this.#text.push(open)
  }

  #number(literal: string): string {
    const changed = this.#change(literal)
    if (changed === literal) return literal
    this.#changed = true
    return JSON.stringify(changed)
  }

  #string(literal: string): string {
    const text = parsedJson(literal)
    const changed = typeof text === 'string' ? this.#any(text) : undefined
    if (changed === text && text !== undefined) return literal
    this.#changed = true
    return changed === undefined ? this.#any(literal) : JSON.stringify(changed)
  }
}
