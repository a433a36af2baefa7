import { StringDecoder } from 'node:string_decoder'

/** Characters of base64 in a row from which a text is taken for binary content. No id or word is as long. */
const binary = 512
const encoded = /[A-Za-z0-9+/_-]{512,}={0,2}/g

/** Bytes that are looked at. What follows is cut, even if most of them were binary. */
const mostBytes = 8 * 1024 * 1024

/** What stands for base64 of this length without padding. */
function mark(characters: number): string {
  return `[${Math.floor((characters * 3) / 4)} bytes]`
}

/** The text that is recorded for a run of base64 characters with its padding. */
function shortened(run: string): string {
  const binaryAt = lengthOfPlain(run)
  const padding = run.indexOf('=')
  const length = (padding < 0 ? run.length : padding) - binaryAt
  return length < binary ? run : run.slice(0, binaryAt) + mark(length)
}

/**
 * Characters at the beginning of a run that are text: a line of dashes, or a key that was held down. They are counted
 * in steps, so that it does not matter how a body is cut.
 */
function lengthOfPlain(run: string): number {
  let length = 0
  while (run.length - length >= binary && isOneCharacter(run.slice(length, length + binary))) length += binary
  return length
}

function isOneCharacter(text: string): boolean {
  return text === text.charAt(0).repeat(text.length)
}

/**
 * The text of a body, in which binary content in base64 is replaced by its size. It ends somewhat beyond `limit`
 * characters, so that a secret that stands across the limit is still seen as a whole.
 */
export class Recording {
  readonly #limit: number
  readonly #decoder = new StringDecoder('utf8')
  #text = ''
  /** The end of the text so far, which may be the beginning of binary content. */
  #open = ''
  /** Characters of the binary content in which the text so far ends. */
  #run = 0
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit + beyond
  }

  /** Whether there is no room for more. */
  get isFull(): boolean {
    return this.#text.length >= this.#limit || this.#bytes >= mostBytes
  }

  /** Characters that it holds. */
  get size(): number {
    return this.#text.length + this.#open.length
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isFull; at += piece) {
      const some = bytes.subarray(at, at + piece)
      this.#bytes += some.length
      this.#add(this.#decoder.write(Buffer.from(some.buffer, some.byteOffset, some.length)))
    }
  }

  /** Text that is recorded as it is. */
  note(text: string): void {
    this.#text += text
  }

  /** All of it. Nothing may follow. */
  end(): string {
    this.#add(this.#decoder.end())
    this.#close()
    return this.#text
  }

  #add(text: string): void {
    let rest = text
    if (this.#run > 0) {
      const length = /^[A-Za-z0-9+/_-]*/.exec(rest)?.[0].length ?? 0
      this.#run += length
      if (length === rest.length) return
      rest = rest.slice(length).replace(/^={1,2}/, '')
      this.#close()
    }
    const all = this.#open + rest
    const run = all.length - lastRun(all)
    const start = run + lengthOfPlain(all.slice(run))
    const length = all.length - start
    this.#text += all.slice(0, run).replace(encoded, shortened) + all.slice(run, start)
    this.#open = length < binary ? all.slice(start) : ''
    this.#run = length < binary ? 0 : length
  }

  /** What the text ended in is over. */
  #close(): void {
    this.#text += this.#run > 0 ? mark(this.#run) : this.#open
    this.#run = 0
    this.#open = ''
  }
}

/** Length of the base64 characters in which a text ends. */
function lastRun(text: string): number {
  let start = text.length
  while (start > 0 && isEncoded(text.charCodeAt(start - 1))) start--
  return text.length - start
}

function isEncoded(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
  // `/` and digits follow each other; `+`, `-` and `_` stand apart.
  return isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x5f
}

/** Characters beyond the limit. */
const beyond = 4_096

/** Bytes that are decoded at a time. */
const piece = 64 * 1024
