/** Everything before the text in the arguments of a custom tool that went out as a function. */
const head = /^\s*\{\s*"input"\s*:\s*"/

/** The free text in the arguments `{"input": "…"}` of a custom tool; arguments of any other shape stay as they are. */
export function customInput(json: string): string {
  try {
    const parsed: unknown = JSON.parse(json)
    if (typeof parsed === 'object' && parsed !== null && 'input' in parsed && typeof parsed.input === 'string')
      return parsed.input
  } catch {
    // A model may write anything: the client gets its words.
  }
  return json
}

/** Reads the text out of `{"input": "…"}` while it arrives in pieces. */
export class CustomInput {
  /** What has arrived and was not told yet: the head, or an escape sequence cut in two. */
  #rest = ''
  #state: 'head' | 'text' | 'done' = 'head'

  /** The text that this piece completes. */
  push(piece: string): string {
    if (this.#state === 'done') return ''
    this.#rest += piece
    if (this.#state === 'head') {
      const found = head.exec(this.#rest)
      if (!found) return ''
      this.#rest = this.#rest.slice(found[0].length)
      this.#state = 'text'
    }
    return this.#take()
  }

  /** What is left to tell when the arguments have ended. */
  end(): string {
    return this.#state === 'head' ? customInput(this.#rest) : ''
  }

  #take(): string {
    let end = 0
    while (end < this.#rest.length && this.#rest[end] !== '"') {
      const length = this.#rest[end] !== '\\' ? 1 : this.#rest[end + 1] === 'u' ? 6 : 2
      if (end + length > this.#rest.length) break
      end += length
    }
    const text = decoded(this.#rest.slice(0, end))
    if (this.#rest[end] === '"') this.#state = 'done'
    this.#rest = this.#rest.slice(end)
    return text
  }
}

function decoded(escaped: string): string {
  if (!escaped.includes('\\')) return escaped
  try {
    return JSON.parse(`"${escaped}"`) as string
  } catch {
    // Not JSON after all: the client gets the model's words.
    return escaped
  }
}
