import type { Flow, GenerateEvent, Sink, Source } from '../../engine/index.ts'
import { asGatewayError } from '../../engine/kit.ts'
import type { EventHandlers } from './event-handlers.ts'

/** What prints the events of an answer. */
interface Printing {
  /** The client has its last event. */
  readonly ended: boolean
  /** The provider can stop. */
  readonly early: boolean
  readonly isBroken: boolean
  refused: ((error: unknown) => void) | undefined
  run(giving: () => void): void
  release(events: readonly GenerateEvent[]): void
  printed(): Uint8Array | undefined
}

interface Held {
  readonly writing: Printing
  readonly handlers: EventHandlers
  /** Reads a chunk of the source; undefined: it has ended. */
  readonly take: (chunk: Uint8Array | undefined) => void
}

/**
 * The bytes of an answer that come when gates release its events. The source is paused while the reader is, while gates
 * hold too much, and while nobody reads; what is released to a paused reader waits.
 */
export class HeldStream implements Source, Sink, Flow {
  readonly #source: Source
  readonly #held: Held
  #flow: Flow | undefined
  #sink: Sink | undefined
  #isPaused = true
  /** Whether the source has ended, or was cancelled, and whether the reader needs no more. */
  #isOver = false
  #isDone = false
  /** Set while the reply waits for first verdicts. */
  #ready: (() => void) | undefined

  constructor(source: Source, held: Held) {
    this.#source = source
    this.#held = held
    held.handlers.released = (events) => {
      held.writing.release(events)
      this.#go()
    }
    // It may have been begun for a reader that never came.
    held.handlers.over = () => this.#leave(new Error('the exchange has ended'))
  }

  /** Resolves when the gates have judged that the reply waits for. Rejects with the error that ends the answer before. */
  async ready(): Promise<void> {
    const { writing, handlers } = this.#held
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    writing.refused = handlers.aborted = reject
    this.#ready = resolve
    this.#begin()
    try {
      await promise
    } catch (error) {
      this.cancel(asGatewayError(error))
      throw error
    } finally {
      handlers.aborted = undefined
    }
  }

  open(sink: Sink): Flow {
    this.#sink = sink
    this.#begin()
    // The reader must not be called before `open` has returned.
    queueMicrotask(() => this.resume())
    return this
  }

  data(chunk: Uint8Array): void {
    const { handlers, take } = this.#held
    this.#read(() => handlers.reading(() => take(chunk)))
  }

  end(): void {
    this.#read(() => this.#held.take(undefined))
    this.#isOver = true
    this.#go()
  }

  fail(error: Error): void {
    this.#read(() => {
      throw error
    })
    this.#isOver = true
    this.#go()
  }

  pause(): void {
    this.#isPaused = true
    this.#flow?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#go()
  }

  cancel(reason: Error): void {
    this.#isDone = true
    this.#held.handlers.abort(reason)
    this.#leave(reason)
  }

  #begin(): void {
    this.#flow ??= this.#source.open(this)
  }

  #read(take: () => void): void {
    if (this.#isOver) return
    this.#held.writing.run(take)
    this.#go()
  }

  /** Gives the reader what it may have, and reads on or waits. */
  #go(): void {
    const { writing, handlers } = this.#held
    if (this.#ready && (handlers.hasJudged || writing.ended)) {
      this.#ready()
      this.#ready = undefined
      // From now on, a failure is told in the stream.
      writing.refused = undefined
    }
    if (writing.early || writing.isBroken) this.#leave(new Error('its reader has all it wants'))
    if (this.#isDone) return
    if (!this.#isPaused) {
      const bytes = writing.printed()
      if (bytes) this.#sink?.data(bytes)
      if (writing.ended && this.#isOver) {
        this.#isDone = true
        this.#sink?.end()
      }
    }
    if (this.#isOver) return
    if ((this.#isPaused && !this.#ready) || handlers.isFull) this.#flow?.pause()
    else this.#flow?.resume()
  }

  #leave(reason: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#flow?.cancel(reason)
  }
}
