import { parsedObject } from '../../json/parse.ts'

/** The characters before the text, and where white space may stand among them. */
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
 * Extracts the text from `{"input":"…"}`, the arguments of a custom tool that was sent as a function, while they
 * arrive in pieces. Arguments of any other shape are returned whole at the end, as the model wrote them.
 */
export class CustomInput {
  /** How many characters of `opening` have arrived; the shape differs as soon as another character arrives. */
  #opened = 0
  #state: 'before' | 'inside' | 'after' | 'other' = 'before'
  /** Everything before the start of the text. */
  #head = ''
  /** An incomplete escape, or the first half of a character. */
  #pending = ''

  /** The text completed by this piece. */
  push(piece: string): string {
    if (this.#state === 'inside') return this.#decode(piece)
    if (this.#state === 'after') return ''
    this.#head += piece
    return this.#state === 'before' ? this.#open(piece) : ''
  }

  /** The rest, once the arguments have ended. */
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

  /** A character outside the basic plane has two halves; a single half cannot be sent. */
  #complete(decoded: string): string {
    const last = decoded.charCodeAt(decoded.length - 1)
    if (!(last >= 0xd8_00 && last <= 0xdb_ff)) return decoded
    this.#pending = decoded.slice(-1) + this.#pending
    return decoded.slice(0, -1)
  }
}

/** The text of complete arguments, as `CustomInput` returns it. */
export function customInput(json: string): string {
  const input = new CustomInput()
  return input.push(json) + input.end()
}

function unescaped(sequence: string): string {
  const letter = sequence[1] as string
  if (letter !== 'u') return escapes.get(letter) ?? letter
  // An invalid escape stays as the model wrote it.
  return /^\\u[\da-f]{4}$/i.test(sequence) ? String.fromCharCode(Number.parseInt(sequence.slice(2), 16)) : sequence
}

/** The text of arguments with further members, or with `input` in a later position. */
function inputOf(text: string): string {
  // Without this member, the model wrote free text, which is what the tool expects anyway.
  const input = parsedObject(text)?.['input']
  return typeof input === 'string' ? input : text
}
