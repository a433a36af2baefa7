/** How lines are read. */
export interface LineOptions {
  /** Most bytes of a line. */
  readonly limit: number
  readonly line: (text: string) => void
  /** A line is longer; its text from here to its end is dropped. */
  readonly tooLong: (begin: string) => void
}

/** Cuts bytes that arrive in pieces into lines of UTF-8, which end with LF or CR LF. Empty lines are left out. */
export class Lines {
  readonly #options: LineOptions
  #pieces: Buffer[] = []
  #size = 0
  #isDropping = false

  constructor(options: LineOptions) {
    this.#options = options
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#add(chunk.subarray(from, end))
      this.end()
      from = end + 1
    }
    if (from < chunk.length) this.#add(chunk.subarray(from))
  }

  /** Ends the last line. */
  end(): void {
    const text = Buffer.concat(this.#pieces).toString().replace(/\r$/, '')
    this.#pieces = []
    this.#size = 0
    if (text.trim() !== '') this.#options.line(text)
    this.#isDropping = false
  }

  #add(piece: Buffer): void {
    if (this.#isDropping) return
    const { limit, tooLong } = this.#options
    this.#size += piece.length
    this.#pieces.push(piece)
    if (this.#size <= limit) return
    const begin = Buffer.concat(this.#pieces).toString('utf8', 0, limit)
    this.#pieces = []
    this.#isDropping = true
    tooLong(begin)
  }
}

const lineFeed = 0x0a
