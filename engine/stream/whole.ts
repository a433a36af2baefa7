import { eventLimit, eventTooLarge } from './event-limit.ts'

/** Two ends of lines, one after the other, whichever of the three they are. */
const emptyLines = ['\n\n', '\n\r', '\r\r'] as const
/** Bytes of the longest of them but one. */
const overlap = 1

/**
 * Passes bytes of a stream of server-sent events on in whole events, so that a stream that breaks leaves no half of
 * one behind, and who reads gets each event in one piece.
 */
export class WholeFrames {
  #held: Uint8Array[] = []
  #size = 0
  /** The last byte that came, with which the next one may make an empty line. */
  #last: Uint8Array = new Uint8Array()

  /** All that is whole with this chunk; undefined: nothing yet. Throws `upstream_invalid_response` beyond 64 MiB. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    if (chunk.length === 0) return undefined
    const end = this.#end(chunk)
    this.#last = chunk.subarray(-overlap)
    const whole = end === 0 ? undefined : this.#joined(end === chunk.length ? chunk : chunk.subarray(0, end))
    if (end < chunk.length) this.#hold(chunk.subarray(end))
    return whole
  }

  /** What was not whole when the stream ended; nothing waits any more. */
  rest(): Uint8Array | undefined {
    return this.#size === 0 ? undefined : this.#joined(new Uint8Array())
  }

  /** Where in the chunk the last whole event ends; 0: nowhere. */
  #end(chunk: Uint8Array): number {
    if (chunk.at(-1) === 10 && chunk.at(-2) === 10) return chunk.length
    const bytes = Buffer.concat([this.#last, chunk])
    const at = Math.max(...emptyLines.map((line) => bytes.lastIndexOf(line)))
    if (at < 0) return 0
    const end = at + 2 - this.#last.length
    return chunk[end] === 10 && chunk[end - 1] === 13 ? end + 1 : end
  }

  #hold(chunk: Uint8Array): void {
    // A piece of somebody else's buffer would hold on to all of it.
    this.#held.push(Buffer.from(chunk))
    this.#size += chunk.length
    if (this.#size <= eventLimit) return
    this.#forget()
    throw eventTooLarge()
  }

  #joined(chunk: Uint8Array): Uint8Array {
    if (this.#size === 0) return chunk
    this.#held.push(chunk)
    const whole = Buffer.concat(this.#held)
    this.#forget()
    return whole
  }

  #forget(): void {
    this.#held = []
    this.#size = 0
  }
}
