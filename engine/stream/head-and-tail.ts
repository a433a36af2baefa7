import type { Frame } from '../spec/source.ts'
import { bufferOf } from './buffer-of.ts'
import { FrameDecoder } from './sse.ts'

const headLimit = 2 * 1024
const tailLimit = 256 * 1024
const firstRoom = 4 * 1024
const pieceLimit = 64 * 1024

/**
 * Remembers the first and the last bytes of a relayed stream of events, so that what it was can be read once it is
 * over. Bytes are copied: a chunk kept as it came would hold on to everything that was read from the socket with it.
 */
export class HeadAndTail {
  /** Bytes at the end that are surely kept. */
  readonly #wanted: number
  #bytes = Buffer.allocUnsafeSlow(firstRoom)
  #size = 0
  /** The beginning of the stream, once its bytes have gone. */
  #head: Buffer | undefined
  /** The kept bytes begin inside an event. */
  #torn = false
  #total = 0

  /** @param wanted bytes at the end to keep, at most 256 KiB; an event that is longer is kept whole up to that size */
  constructor(wanted: number = tailLimit) {
    this.#wanted = Math.min(wanted, tailLimit)
  }

  /** How many bytes there have been in all, and how many of them are kept at the end. */
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

  /** Whether there have been no more than `bytes` bytes in all. */
  within(bytes: number): boolean {
    return this.#head === undefined && this.#size <= bytes
  }

  /** Whole frames of the first 2 KiB. */
  first(): Frame[] {
    return new FrameDecoder().push(this.#head ?? this.#bytes.subarray(0, Math.min(headLimit, this.#size)))
  }

  /** The end of an event whose beginning is gone, when it is the first thing that is kept; else nothing. */
  torn(): string {
    if (!this.#torn) return ''
    const kept = this.#bytes.subarray(0, this.#size)
    return kept.toString('utf8', 0, afterEmptyLine(kept))
  }

  /** Whole frames of the last `bytes` bytes, as far as they are kept; the one whose beginning is gone is left out. */
  last(bytes: number): Frame[] {
    const start = Math.max(0, this.#size - bytes)
    const end = this.#bytes.subarray(start, this.#size)
    const from = start > 0 || this.#torn ? afterEmptyLine(end) : 0
    return framesOf(end.subarray(from))
  }

  /** The end of more than is wanted: when an event ends before it, nothing earlier need be kept. */
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
    // Twice as much room as is wanted: letting go of half of it at a time keeps the copying rare.
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

/** The frames of these bytes, the last one as far as it goes. */
function framesOf(bytes: Uint8Array): Frame[] {
  const decoder = new FrameDecoder()
  return [...decoder.push(bytes), ...decoder.end()]
}

const emptyLines = ['\n\n', '\r\n\r\n', '\r\r'] as const

/** Where the first whole event begins in bytes that were cut from the middle of a stream. */
function afterEmptyLine(bytes: Buffer): number {
  let start = bytes.length
  for (const gap of emptyLines) {
    // Only what begins before the one that was found can be nearer.
    const at = bytes.subarray(0, start).indexOf(gap)
    if (at >= 0) start = Math.min(start, at + gap.length)
  }
  return start
}

/** Where the last event begins that follows an empty line in these bytes; 0: there is none. */
function afterLastEmptyLine(bytes: Buffer): number {
  let start = 0
  for (const gap of emptyLines) {
    // Nearly always the first kind is the only one: what stands before its last line need not be read for the others.
    const from = Math.max(0, start - gap.length + 1)
    const at = bytes.subarray(from).lastIndexOf(gap)
    if (at >= 0) start = Math.max(start, from + at + gap.length)
  }
  return start
}
