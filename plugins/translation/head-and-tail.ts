import type { Frame } from '../../engine/index.ts'
import { FrameDecoder, bufferOf } from '../../engine/kit.ts'

const headLimit = 2 * 1024
const tailLimit = 256 * 1024
const firstRoom = 4 * 1024
const pieceLimit = 64 * 1024

/**
 * Keeps the first and the last bytes of a relayed event stream, so that its outcome can be read at the end. Bytes are
 * copied: keeping a chunk itself would keep the whole read buffer of the socket alive.
 */
export class HeadAndTail {
  /** Bytes at the end that are always kept. */
  readonly #wanted: number
  #bytes = Buffer.allocUnsafeSlow(firstRoom)
  #size = 0
  /** The beginning of the stream, once the ring buffer no longer holds it. */
  #head: Buffer | undefined
  /** Whether the kept bytes begin inside an event. */
  #torn = false
  #total = 0

  /** @param wanted bytes at the end to keep, at most 256 KiB; a longer event is kept whole up to that size */
  constructor(wanted: number = tailLimit) {
    this.#wanted = Math.min(wanted, tailLimit)
  }

  /** Total bytes of the stream, and how many bytes of its end are kept. */
  get total(): number {
    return this.#total
  }

  get kept(): number {
    return this.#size
  }

  add(added: Uint8Array): void {
    this.#total += added.length
    const chunk = added.length > this.#wanted ? this.#endOf(added) : added
    for (let at = 0; at < chunk.length; at += pieceLimit) {
      const piece = chunk.length <= pieceLimit ? chunk : chunk.subarray(at, at + pieceLimit)
      if (this.#size + piece.length > this.#bytes.length) this.#makeRoom(piece.length)
      this.#bytes.set(piece, this.#size)
      this.#size += piece.length
    }
  }

  /** Whether the stream had at most `bytes` bytes in total. */
  within(bytes: number): boolean {
    return this.#head === undefined && this.#size <= bytes
  }

  /** Complete frames of the first 2 KiB. */
  first(): Frame[] {
    return new FrameDecoder().push(this.#head ?? this.#bytes.subarray(0, Math.min(headLimit, this.#size)))
  }

  /** The rest of an event whose beginning was discarded, if the kept bytes begin with one; otherwise an empty text. */
  torn(): string {
    if (!this.#torn) return ''
    const kept = this.#bytes.subarray(0, this.#size)
    return kept.toString('utf8', 0, afterEmptyLine(kept))
  }

  /** Complete frames of the last `bytes` bytes, as far as they are kept. A frame without its beginning is left out. */
  last(bytes: number): Frame[] {
    const start = Math.max(0, this.#size - bytes)
    const end = this.#bytes.subarray(start, this.#size)
    const from = start > 0 || this.#torn ? afterEmptyLine(end) : 0
    return framesOf(end.subarray(from))
  }

  /** The end of a chunk larger than wanted. If an event ends before it, nothing earlier needs to be kept. */
  #endOf(chunk: Uint8Array): Uint8Array {
    const bytes = bufferOf(chunk)
    const from = afterLastEmptyLine(bytes.subarray(0, bytes.length - this.#wanted))
    if (from === 0) return chunk
    const kept = this.#bytes.subarray(0, this.#size)
    this.#head ??= Buffer.concat([kept, bytes], Math.min(headLimit, kept.length + bytes.length))
    this.#size = 0
    this.#torn = false
    return bytes.subarray(from)
  }

  #makeRoom(more: number): void {
    const old = Math.max(0, this.#size - this.#wanted)
    this.#drop(afterLastEmptyLine(this.#bytes.subarray(0, old)), false)
    const room = this.#bytes.length
    if (this.#size + more <= room) return
    // Twice the wanted size: discarding half of it at a time makes copying rare.
    const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * room, this.#size + more), 2 * tailLimit))
    this.#bytes.copy(grown, 0, 0, this.#size)
    this.#bytes = grown
    this.#drop(this.#size + more - grown.length, true)
  }

  #drop(count: number, torn: boolean): void {
    if (count <= 0) return
    this.#head ??= Buffer.from(this.#bytes.subarray(0, headLimit))
    this.#bytes.copyWithin(0, count, this.#size)
    this.#size -= count
    this.#torn = torn
  }
}

/** The frames of these bytes; the last one may be incomplete. */
function framesOf(bytes: Uint8Array): Frame[] {
  const decoder = new FrameDecoder()
  return [...decoder.push(bytes), ...decoder.end()]
}

const emptyLines = ['\n\n', '\r\n\r\n', '\r\r'] as const

/** Where the first complete event begins in bytes cut from the middle of a stream. */
function afterEmptyLine(bytes: Buffer): number {
  let start = bytes.length
  for (const gap of emptyLines) {
    // Only an earlier start can be nearer.
    const at = bytes.subarray(0, start).indexOf(gap)
    if (at >= 0) start = Math.min(start, at + gap.length)
  }
  return start
}

/** Where the last event that follows an empty line begins; 0 if there is none. */
function afterLastEmptyLine(bytes: Buffer): number {
  let start = 0
  for (const gap of emptyLines) {
    // The first kind of empty line is nearly always the only one, so the others are searched only after it.
    const from = Math.max(0, start - gap.length + 1)
    const at = bytes.subarray(from).lastIndexOf(gap)
    if (at >= 0) start = Math.max(start, from + at + gap.length)
  }
  return start
}
