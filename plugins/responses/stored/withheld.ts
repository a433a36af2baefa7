import { bufferOf } from '../../../engine/kit.ts'
import type { Flow, JsonObject, Sink, Source } from '../../../engine/index.ts'
import { endedBy, firstEnd, lastEnd, mentionOf, overlap, unstored } from './event-end.ts'
import { recordLimit } from './record.ts'

/**
 * Stores the response of a stream's terminal event; undefined if the event is too large to parse. Resolves with false if
 * the store failed; never rejects.
 */
export type Saving = (response: JsonObject | undefined) => Promise<boolean>

/**
 * Passes the bytes of `source` unchanged. The terminal event is withheld until `keep` has resolved, so that a client
 * that has read the event finds the response stored, or reads `store: false` in it. All earlier bytes pass as they
 * arrive.
 */
export function withheld(source: Source, keep: Saving, limit: number = recordLimit): Source {
  return { open: (sink) => new Withholding(source, sink, keep, limit) }
}

const nothing = Buffer.alloc(0)

class Withholding implements Sink, Flow {
  readonly #sink: Sink
  readonly #keep: Saving
  readonly #limit: number
  readonly #flow: Flow
  /** `held`: an event that names a terminal one has not ended; `kept`: the search is over. */
  #state: 'passing' | 'held' | 'keeping' | 'kept' | 'left' = 'passing'
  /** The number of bytes of an incomplete event that were passed on, and the last few of them. */
  #passed: Buffer[] = []
  #edge: Buffer = nothing
  /** Bytes that are held back. */
  #held: Buffer[] = []
  /** Number of bytes of an incomplete event. */
  #size = 0
  #paused = false
  /** The end or error of the source, passed on after the last byte. */
  #last: (() => void) | undefined

  constructor(source: Source, sink: Sink, keep: Saving, limit: number) {
    this.#sink = sink
    this.#keep = keep
    this.#limit = limit
    this.#flow = source.open(this)
  }

  data(chunk: Uint8Array): void {
    try {
      let rest = bufferOf(chunk)
      while (rest.length > 0) rest = this.#take(rest)
    } catch (error) {
      this.#break(error as Error)
    }
  }

  /** Takes the first bytes of a chunk, and returns the rest. */
  #take(bytes: Buffer): Buffer {
    switch (this.#state) {
      case 'passing':
        return this.#look(bytes)
      case 'held':
        return this.#hold(bytes)
      case 'keeping':
        this.#held.push(bytes)
        return nothing
      case 'kept':
        this.#sink.data(bytes)
        return nothing
      case 'left':
        return nothing
    }
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

  /** Passes bytes on, up to an event that names a terminal one. Returns that event and the bytes after it. */
  #look(chunk: Buffer): Buffer {
    const edge = this.#edge.length
    const window = edge === 0 ? chunk : Buffer.concat([this.#edge, chunk])
    const mention = mentionOf(window)
    const start = lastEnd(mention < 0 ? window : window.subarray(0, mention))
    if (start >= 0) this.#passed = []
    if (mention < 0) {
      this.#pass(chunk, start < 0 ? chunk : window.subarray(start))
      this.#edge = (start < 0 ? window : window.subarray(start)).subarray(-overlap)
      return nothing
    }
    const from = Math.max(0, start - edge)
    this.#state = 'held'
    this.#size = this.#passed.reduce((size, { length }) => size + length, 0)
    this.#edge = nothing
    if (from > 0) this.#sink.data(chunk.subarray(0, from))
    return chunk.subarray(from)
  }

  /** `open`: the bytes of an incomplete event among them. */
  #pass(chunk: Buffer, open: Buffer): void {
    if (open.length > 0) this.#passed.push(open)
    this.#size = open === chunk ? this.#size + open.length : open.length
    this.#sink.data(chunk)
    // An event that is too large is not remembered.
    if (this.#size > this.#limit) this.#tooLarge()
  }

  /** Holds bytes back until their event ends. Returns the bytes after it. */
  #hold(chunk: Buffer): Buffer {
    const edge = this.#edge.length
    const end = firstEnd(edge === 0 ? chunk : Buffer.concat([this.#edge, chunk])) - edge
    const event = end < 0 ? chunk : chunk.subarray(0, end)
    this.#held.push(event)
    if (end >= 0) {
      this.#ended()
      return chunk.subarray(end)
    }
    this.#size += chunk.length
    this.#edge = Buffer.concat([this.#edge, chunk.subarray(-2)]).subarray(-2)
    if (this.#size > this.#limit) this.#tooLarge()
    return nothing
  }

  /** The held event has ended: a terminal event is stored first, any other passes. */
  #ended(): void {
    const event = Buffer.concat(this.#held)
    const isWhole = this.#passed.length === 0
    const response = endedBy(Buffer.concat([...this.#passed, event]))
    this.#held = [event]
    this.#passed = []
    this.#edge = nothing
    this.#size = 0
    if (response) return this.#keepFirst(response, isWhole)
    this.#held = []
    this.#state = 'passing'
    this.#sink.data(event)
  }

  #tooLarge(): void {
    this.#passed = []
    this.#keepFirst(undefined)
  }

  /** @param isWhole the held bytes begin with all of its event, none of which was passed on */
  #keepFirst(response: JsonObject | undefined, isWhole = false): void {
    this.#state = 'keeping'
    this.#flow.pause()
    void this.#keep(response)
      .then((isKept) => {
        const [event] = this.#held
        if (!isKept && isWhole && event) this.#held[0] = unstored(event)
        this.#release()
      })
      .catch((error: unknown) => this.#break(error as Error))
  }

  /** An error of the reader ends only this stream. */
  #break(error: Error): void {
    this.cancel(error)
    this.#sink.fail(error)
  }

  #release(): void {
    if (this.#state === 'left') return
    this.#state = 'kept'
    for (const chunk of this.#held.splice(0)) this.#sink.data(chunk)
    if (this.#last) this.#last()
    else if (!this.#paused) this.#flow.resume()
  }

  /** The source has ended. An event without its final empty line may still be complete. */
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
