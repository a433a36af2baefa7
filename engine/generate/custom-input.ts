import { parsedObject } from '../json/parse.ts'

/** What stands before the text, and where in it white space may stand. */
const opening = '{"input":"'
const gaps: ReadonlySet<number> = new Set([0, 1, 8, 9])

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])

/**
 * Takes the text out of `{"input":"…"}`, the arguments of a custom tool that was sent as a function, while they
 * arrive in pieces. Arguments of any other shape come out whole at the end, as the model wrote them.
 */
export class CustomInput {
  /** How much of `opening` has arrived; once something else has, the shape is another one. */
  #opened = 0
  #state: 'before' | 'inside' | 'after' | 'other' = 'before'
  /** All that came before the text began. */
  #head = ''
  /** An escape, or half of a character, whose rest has not arrived. */
  #pending = ''

  /** The text that this piece completes. */
  push(piece: string): string {
    if (this.#state === 'inside') return this.#decode(piece)
    if (this.#state === 'after') return ''
    this.#head += piece
    return this.#state === 'before' ? this.#open(piece) : ''
  }

  /** What is left to tell when the arguments have ended. */
  end(): string {
    return this.#state === 'inside' || this.#state === 'after' ? '' : inputOf(this.#head)
  }

  #open(piece: string): string {
    for (let at = 0; at < piece.length; at++) {
      if (piece[at] === opening[this.#opened]) this.#opened++
      else if (!gaps.has(this.#opened) || !/\s/.test(piece[at] as string)) {
        this.#state = 'other'
        return ''
      }
      if (this.#opened === opening.length) {
        this.#state = 'inside'
        return this.#decode(piece.slice(at + 1))
      }
    }
    return ''
  }

  #decode(piece: string): string {
    const text = this.#pending + piece
    this.#pending = ''
    const marks = /["\\]/g
    let decoded = ''
    let from = 0
    for (;;) {
      marks.lastIndex = from
      const at = marks.exec(text)?.index
      if (at === undefined) return this.#complete(decoded + text.slice(from))
      decoded += text.slice(from, at)
      if (text[at] === '"') {
        this.#state = 'after'
        return decoded
      }
      const end = at + (text[at + 1] === 'u' ? 6 : 2)
      if (end > text.length) {
        this.#pending = text.slice(at)
        return this.#complete(decoded)
      }
      decoded += unescaped(text.slice(at, end))
      from = end
    }
  }

  /** A character outside the basic plane has two halves; one alone cannot be sent. */
  #complete(decoded: string): string {
    const last = decoded.charCodeAt(decoded.length - 1)
    if (!(last >= 0xd8_00 && last <= 0xdb_ff)) return decoded
    this.#pending = decoded.slice(-1) + this.#pending
    return decoded.slice(0, -1)
  }
}

/** The text in whole arguments, as `CustomInput` reads it. */
export function customInput(json: string): string {
  const input = new CustomInput()
  return input.push(json) + input.end()
}

function unescaped(sequence: string): string {
  const letter = sequence[1] as string
  if (letter !== 'u') return escapes.get(letter) ?? letter
  // What only looks like an escape stays as the model wrote it.
  return /^\\u[\da-f]{4}$/i.test(sequence) ? String.fromCharCode(Number.parseInt(sequence.slice(2), 16)) : sequence
}

/** The text of arguments that hold more than it, or hold it later. */
function inputOf(text: string): string {
  // Where there is none, the model wrote free text, as the tool really wants it.
  const input = parsedObject(text)?.['input']
  return typeof input === 'string' ? input : text
}
