import { ampleRoom } from './byte-budget.ts'
import type { EventRoom } from './byte-budget.ts'

/** Two consecutive line ends, in any of the three kinds. */
const emptyLines = ['\n\n', '\n\r', '\r\r'] as const

/** Bytes to pass on. */
export interface Passed {
  readonly bytes: Uint8Array
  /** Complete events, or the beginning or continuation of an event too large to be buffered. */
  readonly part: 'whole' | 'beginning' | 'more'
}

/**
 * Passes a stream of server-sent events on in complete events. A stream that fails leaves no partial event behind,
 * and a reader gets each event in one piece. An event for which the budget has no room passes as it arrives.
 */
export class WholeFrames {
  readonly #room: EventRoom
  #held: Uint8Array[] = []
  #size = 0
  /** The last byte so far, which may form an empty line with the next one; undefined at the start. */
  #last: number | undefined
  #inside = false

  /** @param room limits for a buffered event; default: 64 MiB */
  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  /** Whether the bytes passed on end inside an event. */
  get inside(): boolean {
    return this.#inside
  }

  /**
   * Whether this chunk is complete events and nothing is buffered, as in most streams: it can be passed on unchanged.
   */
  passes(chunk: Uint8Array): boolean {
    const whole = this.#size === 0 && !this.#inside && endsEvent(chunk)
    if (whole) this.#last = lineFeed
    return whole
  }

  /** The bytes to pass on after this chunk, in order. */
  push(chunk: Uint8Array): readonly Passed[] {
    if (!this.#inside) return this.#pass(chunk)
    const end = this.#end(chunk, 'first')
    const large = { bytes: end === 0 ? chunk : chunk.subarray(0, end), part: 'more' } as const
    this.#last = large.bytes.at(-1)
    if (end === 0) return [large]
    this.#inside = false
    return [large, ...this.#pass(chunk.subarray(end))]
  }

  /** The incomplete rest at the end of the stream; the buffer is then empty. */
  rest(): Uint8Array | undefined {
    return this.#size === 0 ? undefined : this.#joined(new Uint8Array())
  }

  #pass(chunk: Uint8Array): readonly Passed[] {
    if (chunk.length === 0) return []
    const end = this.#end(chunk, 'last')
    this.#last = chunk.at(-1)
    const passed: Passed[] = []
    if (end > 0)
      passed.push({ bytes: this.#joined(end === chunk.length ? chunk : chunk.subarray(0, end)), part: 'whole' })
    const beginning = chunk.subarray(end)
    if (beginning.length === 0 || this.#hold(beginning)) return passed
    this.#inside = true
    passed.push({ bytes: this.#joined(beginning), part: 'beginning' })
    return passed
  }

  /** The offset in the chunk at which its first or last complete event ends; 0 if none does. */
  #end(chunk: Uint8Array, which: 'first' | 'last'): number {
    if (which === 'last' && endsEvent(chunk)) return chunk.length
    const before = this.#last === undefined ? [] : [this.#last]
    const bytes = Buffer.concat([Uint8Array.from(before), chunk])
    const found = emptyLines.map((line) => (which === 'last' ? bytes.lastIndexOf(line) : bytes.indexOf(line)))
    const places = found.filter((at) => at >= 0)
    if (places.length === 0) return 0
    const end = (which === 'last' ? Math.max(...places) : Math.min(...places)) + 2 - before.length
    return chunk[end] === lineFeed && chunk[end - 1] === carriageReturn ? end + 1 : end
  }

  /** Buffers the beginning of an event. Returns false when the budget has no room for it. */
  #hold(chunk: Uint8Array): boolean {
    const { limit, hold } = this.#room
    const size = this.#size + chunk.length
    if (size > limit || hold?.resize(size) === false) return false
    // Copied: a view would keep the whole buffer of its owner alive.
    this.#held.push(Buffer.from(chunk))
    this.#size = size
    return true
  }

  #joined(chunk: Uint8Array): Uint8Array {
    if (this.#size === 0) return chunk
    this.#held.push(chunk)
    const whole = Buffer.concat(this.#held)
    this.#held = []
    this.#size = 0
    this.#room.hold?.release()
    return whole
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Whether the chunk ends in an empty line, in the most common kind. */
function endsEvent(chunk: Uint8Array): boolean {
  const { length } = chunk
  return chunk[length - 1] === lineFeed && chunk[length - 2] === lineFeed
}
