/** Receives the size of each message while it arrives. */
export interface MessageSink {
  /** Bytes of a message arrived; 0 at the start of a frame. */
  part(bytes: number): void
  /** The message is complete. */
  end(): void
}

/** Maximum length of a frame head: two bytes, eight for the length and four for the mask. */
const longestHead = 14

/**
 * Finds message boundaries in the bytes of a socket by reading frame heads (RFC 6455 section 5.2). Control frames are
 * skipped. Invalid frames are left to the WebSocket library, which closes the socket.
 */
export class MessageBytes {
  readonly #sink: MessageSink
  readonly #head = Buffer.alloc(longestHead)
  /** Bytes of the head so far. */
  #known = 0
  /** Bytes of the frame's payload still to come. */
  #left = 0

  constructor(sink: MessageSink) {
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left === 0) {
        this.#head[this.#known++] = chunk[at++] as number
        if (this.#known === this.#headLength()) this.#begin()
      } else {
        const here = Math.min(this.#left, chunk.length - at)
        at += here
        this.#take(here)
      }
    }
  }

  #begin(): void {
    const [, second = 0] = this.#head
    const short = second & 0x7f
    this.#left =
      short < 126 ? short : short === 126 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2))
    this.#known = 0
    this.#take(0)
  }

  #take(bytes: number): void {
    this.#left -= bytes
    const [first = 0] = this.#head
    const control = (first & 0x08) !== 0
    if (control) return
    this.#sink.part(bytes)
    const last = (first & 0x80) !== 0
    if (last && this.#left === 0) this.#sink.end()
  }

  /** The minimum length while the second byte of the head is missing. */
  #headLength(): number {
    if (this.#known < 2) return 2
    const [, second = 0] = this.#head
    const masked = (second & 0x80) === 0 ? 0 : 4
    const short = second & 0x7f
    return 2 + masked + (short < 126 ? 0 : short === 126 ? 2 : 8)
  }
}
