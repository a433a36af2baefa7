import { parsedJson } from '../json/parse.ts'
import { anyText } from './map-json.ts'
import type { TextChange } from './map-json.ts'
import { HeldText } from './held-text.ts'

/** What stands in a JSON text outside of its strings, but for marks and white space. */
const token = /^(?:true|false|null|-?\d[\d.eE+-]{0,99})$/
const number = /^-?\d/
const mark = /[\s{}[\],:]/

/**
 * JSON on its way through a change of the texts and numbers in it: each string passes when it has ended, everything else as it
 * comes. From where it turns out to be no JSON, it is text.
 */
export class HeldJson {
  readonly #change: TextChange
  readonly #any: TextChange
  readonly #text: HeldText
  /** It is no JSON. */
  #broken = false
  /** The string, or the token outside of one, that has not ended. */
  #open = ''
  #inside = false
  /** The next character is part of an escape. */
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

  /** The JSON that is sure by now. */
  push(piece: string): string {
    let given = ''
    for (let at = 0; at < piece.length; at++) {
      if (this.#broken) return given + this.#text.push(piece.slice(at))
      given += this.#inside ? this.#in(piece[at] as string) : this.#out(piece[at] as string)
    }
    return given
  }

  /** What is left of it. */
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

  /** The token that has ended. What is none shows that all of it is none. */
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
