const opening = '<think>'
const closing = '</think>'

/** A piece of content: reasoning or answer. */
export interface Told {
  readonly thought: string
  readonly said: string
}

/**
 * Separates the answer from the reasoning that some servers write into the content, between `<think>` and `</think>`.
 * The tags may arrive in pieces. They count only at the beginning of the content; later they are text of the answer.
 */
export class ThinkTags {
  #state: 'before' | 'inside' | 'behind' | 'after' = 'before'
  /** Text that may begin a tag, and white space that belongs to one. */
  #held = ''

  /** The pieces that are certain after this text. */
  push(piece: string): Told {
    if (this.#state === 'after') return { thought: '', said: piece }
    const text = this.#held + piece
    this.#held = ''
    if (this.#state === 'before') return this.#begin(text)
    return this.#state === 'inside' ? this.#think(text) : this.#answer(text)
  }

  /** The rest, when the content has ended. */
  end(): Told {
    const held = this.#held
    this.#held = ''
    if (this.#state === 'inside') return { thought: held, said: '' }
    return { thought: '', said: held.trim() === '' ? '' : held }
  }

  #begin(text: string): Told {
    const bare = text.trimStart()
    if (bare.startsWith(opening)) {
      this.#state = 'inside'
      return this.#think(bare.slice(opening.length))
    }
    if (opening.startsWith(bare) && text.length < 1024) {
      this.#held = text
      return { thought: '', said: '' }
    }
    this.#state = 'after'
    return { thought: '', said: text }
  }

  #think(text: string): Told {
    const end = text.indexOf(closing)
    if (end < 0) {
      const length = partOf(closing, text)
      this.#held = text.slice(text.length - length)
      return { thought: text.slice(0, text.length - length), said: '' }
    }
    this.#state = 'behind'
    return { thought: text.slice(0, end), said: this.#answer(text.slice(end + closing.length)).said }
  }

  /** White space after the reasoning does not belong to the answer. */
  #answer(text: string): Told {
    const said = text.trimStart()
    if (said !== '') this.#state = 'after'
    return { thought: '', said }
  }
}

/** How many characters of the beginning of `tag` the text ends with. */
function partOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length
  return 0
}
