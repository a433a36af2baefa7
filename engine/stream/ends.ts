import type { Frame } from '../spec/source.ts'
import { FrameDecoder } from './sse.ts'

const headLimit = 2 * 1024
const tailLimit = 256 * 1024

/**
 * Remembers the first and the last bytes of a relayed stream of events, so that what it was can be read once it is
 * over. Costs nothing per chunk: chunks are kept, not copied.
 */
export class StreamEnds {
  readonly #head: Uint8Array[] = []
  readonly #tail: Uint8Array[] = []
  #headSize = 0
  #tailSize = 0
  #size = 0

  add(chunk: Uint8Array): void {
    if (this.#headSize < headLimit) {
      this.#head.push(chunk)
      this.#headSize += chunk.length
    }
    this.#tail.push(chunk)
    this.#tailSize += chunk.length
    this.#size += chunk.length
    while (this.#tail.length > 1 && this.#tailSize - (this.#tail[0] as Uint8Array).length >= tailLimit)
      this.#tailSize -= (this.#tail.shift() as Uint8Array).length
  }

  /** Whole frames of the first 2 KiB. */
  first(): Frame[] {
    const decoder = new FrameDecoder()
    let left = headLimit
    return this.#head.flatMap((chunk) => {
      const piece = chunk.subarray(0, left)
      left -= piece.length
      return decoder.push(piece)
    })
  }

  /** Whole frames of the last `bytes` bytes, of which 256 KiB are kept; the one whose beginning is gone is left out. */
  last(bytes: number): Frame[] {
    const decoder = new FrameDecoder()
    const end = Buffer.concat(this.#lastPieces(Math.min(bytes, this.#tailSize)))
    const from = end.length === this.#size ? 0 : afterEmptyLine(end)
    return [...decoder.push(end.subarray(from)), ...decoder.end()]
  }

  #lastPieces(bytes: number): Uint8Array[] {
    const pieces: Uint8Array[] = []
    let left = bytes
    for (let index = this.#tail.length - 1; index >= 0 && left > 0; index--) {
      const chunk = this.#tail[index] as Uint8Array
      const piece = chunk.length > left ? chunk.subarray(chunk.length - left) : chunk
      pieces.unshift(piece)
      left -= piece.length
    }
    return pieces
  }
}

/** Where the first whole event begins in bytes that were cut from the middle of a stream. */
function afterEmptyLine(bytes: Buffer): number {
  const starts = ['\n\n', '\r\n\r\n', '\r\r'].flatMap((gap) => {
    const at = bytes.indexOf(gap)
    return at < 0 ? [] : [at + gap.length]
  })
  return starts.length === 0 ? bytes.length : Math.min(...starts)
}
