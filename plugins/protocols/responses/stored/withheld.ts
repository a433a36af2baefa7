import type { Flow, JsonObject, Sink, Source } from '../../../../engine/index.ts'
import { endedBy, firstEnd, lastEnd, mentionOf, overlap } from './event-end.ts'
import { recordLimit } from './record.ts'

/** Keeps the response that a stream ends with. Never rejects; undefined: its event is too large to be looked at. */
export type Keeping = (response: JsonObject | undefined) => Promise<void>

/**
 * The bytes of `source`, unchanged. The event that ends the response is withheld until `keep` is done with it, so that
 * a client that has read it finds the response kept; whatever comes before passes as it comes.
 */
export function withheld(source: Source, keep: Keeping, limit: number = recordLimit): Source {
  return { open: (sink) => new Withholding(source, sink, keep, limit) }
}

const nothing = Buffer.alloc(0)

class Withholding implements Sink, Flow {
  readonly #sink: Sink
  readonly #keep: Keeping
  readonly #limit: number
  readonly #flow: Flow
  /** `held`: an event that names a terminal one has not ended; `kept`: nothing is looked for any more. */
  #state: 'passing' | 'held' | 'keeping' | 'kept' | 'left' = 'passing'
  /** Bytes of an event that has not ended, as far as they were passed on, and the last few of them. */
  #passed: Buffer[] = []
  #edge: Buffer = nothing
  /** Bytes that were not passed on. */
  #held: Buffer[] = []
  #size = 0
  #paused = false
  /** What came after the last byte, to be passed on after it. */
  #last: (() => void) | undefined

  constructor(source: Source, sink: Sink, keep: Keeping, limit: number) {
    this.#sink = sink
    this.#keep = keep
    this.#limit = limit
    this.#flow = source.open(this)
  }

  data(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    if (this.#state === 'passing') this.#look(bytes)
    else if (this.#state === 'held') this.#hold(bytes)
    else if (this.#state === 'keeping') this.#held.push(bytes)
    else if (this.#state === 'kept') this.#sink.data(chunk)
  }

  end(): void {
    this.#close(() => this.#sink.end())
  }

  fail(error: Error): void {
    this.#close(() => this.#sink.fail(error))
  }

  pause(): void {
    this.#paused = true
    this.#flow.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#state !== 'keeping') this.#flow.resume()
  }

  cancel(reason: Error): void {
    this.#state = 'left'
    this.#held = []
    this.#passed = []
    this.#flow.cancel(reason)
  }

  /** Passes bytes on, up to the event that names a terminal one. */
  #look(chunk: Buffer): void {
    const edge = this.#edge.length
    const window = edge === 0 ? chunk : Buffer.concat([this.#edge, chunk])
    const mention = mentionOf(window)
    const start = lastEnd(mention < 0 ? window : window.subarray(0, mention))
    if (start >= 0) this.#passed = []
    if (mention < 0) {
      this.#pass(chunk, start < 0 ? chunk : window.subarray(start))
      this.#edge = (start < 0 ? window : window.subarray(start)).subarray(-overlap)
      return
    }
    const from = start < 0 ? 0 : start - edge
    if (from > 0) this.#sink.data(chunk.subarray(0, from))
    if (this.#state !== 'passing') return
    this.#state = 'held'
    this.#size = this.#passed.reduce((size, { length }) => size + length, 0)
    this.#edge = nothing
    this.#hold(chunk.subarray(from), Math.max(0, mention - edge - from))
  }

  /** `open`: those of the bytes that belong to an event which has not ended. */
  #pass(chunk: Buffer, open: Buffer): void {
    if (open.length > 0) this.#passed.push(open)
    this.#size = open === chunk ? this.#size + open.length : open.length
    this.#sink.data(chunk)
    // An event that never ends is not worth being remembered.
    if (this.#size > this.#limit) this.#tooLarge()
  }

  /** Keeps bytes back until the event in them ends. `from`: where its end is to be looked for. */
  #hold(chunk: Buffer, from = 0): void {
    const before = this.#held.reduce((size, { length }) => size + length, 0)
    const edge = this.#edge.length
    const end = firstEnd(edge === 0 ? chunk : Buffer.concat([this.#edge, chunk]), from)
    this.#held.push(chunk)
    this.#size += chunk.length
    this.#edge = Buffer.concat([this.#edge, chunk.subarray(-2)]).subarray(-2)
    if (end >= 0) this.#ended(before + end - edge)
    else if (this.#size > this.#limit) this.#tooLarge()
  }

  /** The event ends at `end` of the bytes kept back: a terminal one is kept first, any other passes. */
  #ended(end: number): void {
    const held = Buffer.concat(this.#held)
    const response = endedBy(Buffer.concat([...this.#passed, held.subarray(0, end)]))
    this.#passed = []
    this.#edge = nothing
    this.#size = 0
    if (response) {
      this.#held = [held]
      return this.#keepFirst(response)
    }
    this.#held = []
    this.#state = 'passing'
    this.#sink.data(held.subarray(0, end))
    if (end < held.length) this.data(held.subarray(end))
  }

  #tooLarge(): void {
    this.#passed = []
    this.#keepFirst(undefined)
  }

  #keepFirst(response: JsonObject | undefined): void {
    this.#state = 'keeping'
    this.#flow.pause()
    void this.#keep(response).then(() => this.#release())
  }

  #release(): void {
    if (this.#state === 'left') return
    this.#state = 'kept'
    for (const chunk of this.#held.splice(0)) this.#sink.data(chunk)
    if (this.#last) this.#last()
    else if (!this.#paused) this.#flow.resume()
  }

  /** Nothing more comes. An event that the end cut off may still be whole enough to be one. */
  #close(last: () => void): void {
    if (this.#state === 'left') return
    this.#last = last
    if (this.#state === 'held') {
      const response = endedBy(Buffer.concat([...this.#passed, ...this.#held]))
      if (response) return this.#keepFirst(response)
      this.#release()
    } else if (this.#state !== 'keeping') last()
  }
}
