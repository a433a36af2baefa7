import { ampleRoom } from './byte-budget.ts'
import type { EventRoom } from './byte-budget.ts'

/** Two ends of lines, one after the other, whichever of the three they are. */
const emptyLines = ['\n\n', '\n\r', '\r\r'] as const

/** Bytes that may be passed on. */
export interface Passed {
  readonly bytes: Uint8Array
  /** Whole events, or the beginning or more of one that is too large to be held. */
  readonly part: 'whole' | 'beginning' | 'more'
}

/**
 * Passes bytes of a stream of server-sent events on in whole events, so that a stream that breaks leaves no half of
 * one behind, and who reads gets each event in one piece. An event for which there is no room passes as it arrives.
 */
export class WholeFrames {
  readonly #room: EventRoom
  #held: Uint8Array[] = []
  #size = 0
  /** The last byte that came, with which the next one may make an empty line; before the first, none. */
  #last: number | undefined
  #inside = false

  /** @param room what an event that is held may take up; 64 MiB unless something else is said */
  constructor(room: EventRoom = ampleRoom) {
    this.#room = room
  }

  /** What was passed on ends inside an event. */
  get inside(): boolean {
    return this.#inside
  }

  /** Whether this chunk is whole events and nothing waits, as of most streams: it can be passed on as it is. */
  passes(chunk: Uint8Array): boolean {
    const whole = this.#size === 0 && !this.#inside && endsEvent(chunk)
    if (whole) this.#last = lineFeed
    return whole
  }

  /** All that can be passed on with this chunk, in order. */
  push(chunk: Uint8Array): readonly Passed[] {
    if (!this.#inside) return this.#pass(chunk)
    const end = this.#end(chunk, 'first')
    const large = { bytes: end === 0 ? chunk : chunk.subarray(0, end), part: 'more' } as const
    this.#last = large.bytes.at(-1)
    if (end === 0) return [large]
    this.#inside = false
    return [large, ...this.#pass(chunk.subarray(end))]
  }

  /** What was not whole when the stream ended; nothing waits any more. */
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

  /** Where in the chunk its first or its last whole event ends; 0: nowhere. */
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

  /** Keeps the beginning of an event. False: there is no room for it. */
  #hold(chunk: Uint8Array): boolean {
    const { limit, hold } = this.#room
    const size = this.#size + chunk.length
    if (size > limit || hold?.resize(size) === false) return false
    // A piece of somebody else's buffer would hold on to all of it.
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

/** Whether the last bytes are an empty line as most streams write it. */
function endsEvent(chunk: Uint8Array): boolean {
  const { length } = chunk
  return chunk[length - 1] === lineFeed && chunk[length - 2] === lineFeed
}
