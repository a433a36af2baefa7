/** Hears which of a socket's bytes belong to a message. */
export interface MessageSink {
  /** So many bytes of a message are there; none where a frame of it begins. */
  part(bytes: number): void
  /** The message is complete. */
  end(): void
}

/** Longest head of a frame: two bytes, the length in eight and the mask in four. */
const longestHead = 14

/**
 * Finds the messages in what arrives on a socket, by the heads of its frames (RFC 6455, section 5.2). Control frames
 * are passed over. Frames that break the protocol are not its business: whoever reads them closes the socket.
 */
export class MessageBytes {
  readonly #sink: MessageSink
  readonly #head = Buffer.alloc(longestHead)
  /** Bytes of the head that are there. */
  #known = 0
  /** Bytes of the frame's content that are still to come. */
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

  /** Its least value while the head's second byte is not there. */
  #headLength(): number {
    if (this.#known < 2) return 2
    const [, second = 0] = this.#head
    const masked = (second & 0x80) === 0 ? 0 : 4
    const short = second & 0x7f
    return 2 + masked + (short < 126 ? 0 : short === 126 ? 2 : 8)
  }
}
