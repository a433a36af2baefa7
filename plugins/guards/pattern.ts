import { RE2JS } from 're2js'

/** Most instructions of a pattern: judging takes time in proportion to them. */
export const mostInstructions = 1_000

const flagOf = { i: RE2JS.CASE_INSENSITIVE, s: RE2JS.DOTALL, m: RE2JS.MULTILINE } as const

/** A pattern of a record: its text, or with a name, which is the entity of its places. */
export type GivenPattern = string | { readonly name: string; readonly pattern: string }

/** A pattern with its name, as a thread gets it, too. */
export interface NamedPattern {
  readonly name?: string
  readonly pattern: string
}

export function named(given: GivenPattern): NamedPattern {
  return typeof given === 'string' ? { pattern: given } : given
}

/** A compiled pattern. Throws for one that does not compile. */
export function compiled(pattern: string, flags: string): RE2JS {
  const bits = flags.split('').reduce((sum, flag) => sum | (flagOf[flag as keyof typeof flagOf] ?? 0), 0)
  return RE2JS.compile(pattern, bits)
}

/**
 * Most UTF-16 units that a pattern of RE2 matches, with the one before and the one after that it looks at; `Infinity`:
 * it has an open repetition. An upper bound: whatever it does not understand counts as open.
 */
export function longestMatch(pattern: string): number {
  const reader = new LengthReader(pattern)
  return reader.whole() + 2
}

/** Reads how long the matches of a pattern can be. */
class LengthReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): number {
    const length = this.#branches()
    // What is left over does not compile either.
    return this.#at < this.#text.length ? Infinity : length
  }

  /** Alternatives, up to the end of their group. */
  #branches(): number {
    let most = 0
    let length = 0
    while (this.#at < this.#text.length && this.#text[this.#at] !== ')') {
      if (this.#text[this.#at] === '|') {
        this.#at++
        most = Math.max(most, length)
        length = 0
      } else length += this.#repeated(this.#atom())
    }
    return Math.max(most, length)
  }

  #atom(): number {
    const letter = this.#take()
    switch (letter) {
      case '(':
        return this.#group()
      case '[':
        return this.#set()
      case '\\':
        return this.#escape()
      case '^':
      case '$':
        return 0
      default:
        // A character beyond the basic plane has two units, and any other may be equal to one in another case.
        return 2
    }
  }

  #group(): number {
    const [opening = ''] = /^\?(?:P?<\w*>|[imsU-]*:|[imsU-]*\))?/.exec(this.#text.slice(this.#at)) ?? []
    this.#at += opening.length
    if (opening.endsWith(')')) return 0
    const length = this.#branches()
    this.#take()
    return length
  }

  #set(): number {
    if (this.#text[this.#at] === '^') this.#at++
    // A bracket that stands first is a member.
    if (this.#text[this.#at] === ']') this.#at++
    while (this.#at < this.#text.length && this.#text[this.#at] !== ']') {
      if (this.#text.startsWith('[:', this.#at)) this.#to(':]')
      else if (this.#take() === '\\') this.#take()
    }
    this.#take()
    return 2
  }

  #escape(): number {
    const letter = this.#take()
    switch (letter) {
      case 'b':
      case 'B':
      case 'A':
      case 'z':
        return 0
      case 'Q': {
        const start = this.#at
        this.#to('\\E')
        return 2 * (this.#at - start)
      }
      case 'p':
      case 'P':
      case 'x':
        if (this.#text[this.#at] === '{') this.#to('}')
        else this.#at += letter === 'x' ? 2 : 1
        return 2
      default:
        return 2
    }
  }

  #repeated(length: number): number {
    for (;;) {
      const [quantifier, least, most] =
        /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#text.slice(this.#at, this.#at + 16)) ?? []
      if (quantifier === undefined) return length
      this.#at += quantifier.length
      const isOpen = /^[*+]/.test(quantifier) || most === ''
      // Nothing repeated is nothing, also without end.
      if (length > 0 && isOpen) length = Infinity
      else if (least !== undefined) length *= Number(most ?? least)
    }
  }

  #take(): string | undefined {
    return this.#text[this.#at++]
  }

  /** Goes behind the next such text, or to the end. */
  #to(text: string): void {
    const found = this.#text.indexOf(text, this.#at)
    this.#at = found === -1 ? this.#text.length : found + text.length
  }
}
