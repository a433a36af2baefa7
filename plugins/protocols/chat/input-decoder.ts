import { isObject } from '../../../engine/index.ts'

const escapes = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])
const opening = /^\s*\{\s*"input"\s*:\s*"/

/**
 * Takes the string out of `{"input":"…"}`, the arguments of a custom tool that was sent as a function, while they
 * arrive in pieces. Text of any other shape comes out whole at the end.
 */
export class InputDecoder {
  /** What came before the string began. */
  #head = ''
  /** An escape, or half of a character, whose rest has not arrived. */
  #pending = ''
  #state: 'before' | 'inside' | 'after' = 'before'

  push(piece: string): string {
    if (this.#state === 'inside') return this.#decode(piece)
    if (this.#state === 'after') return ''
    this.#head += piece
    const opened = opening.exec(this.#head)
    if (!opened) return ''
    this.#state = 'inside'
    return this.#decode(this.#head.slice(opened[0].length))
  }

  /** What is left when the arguments have ended. */
  end(): string {
    return this.#state === 'before' ? inputOf(this.#head) : ''
  }

  #decode(piece: string): string {
    const text = this.#pending + piece
    this.#pending = ''
    let decoded = ''
    let from = 0
    for (;;) {
      const quote = text.indexOf('"', from)
      const slash = text.indexOf('\\', from)
      const escaped = slash >= 0 && (quote < 0 || slash < quote)
      const at = escaped ? slash : quote
      if (at < 0) return this.#complete(decoded + text.slice(from))
      decoded += text.slice(from, at)
      if (!escaped) {
        this.#state = 'after'
        return decoded
      }
      const end = at + (text[at + 1] === 'u' ? 6 : 2)
      if (end > text.length) {
        this.#pending = text.slice(at)
        return this.#complete(decoded)
      }
      decoded += unescaped(text.slice(at + 1, end))
      from = end
    }
  }

  /** A character outside the basic plane has two halves; one alone cannot be sent. */
  #complete(decoded: string): string {
    const last = decoded.charCodeAt(decoded.length - 1)
    if (last < 0xd8_00 || last > 0xdb_ff) return decoded
    this.#pending = decoded.slice(-1) + this.#pending
    return decoded.slice(0, -1)
  }
}

function unescaped(sequence: string): string {
  const [letter = ''] = sequence
  if (letter === 'u') return String.fromCharCode(Number.parseInt(sequence.slice(1), 16))
  return escapes.get(letter) ?? letter
}

function inputOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && typeof value['input'] === 'string' ? value['input'] : text
  } catch {
    // The model wrote free text, as the tool really wants it.
    return text
  }
}
