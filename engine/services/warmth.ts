import type { Logger } from 'pino'

/** Milliseconds between two pieces, so that arrived requests come first. */
const gap = 20

interface Piece {
  readonly prepare: () => void
  /** The configuration that the piece belongs to, by any object of its own; undefined: the process. */
  readonly of: object | undefined
}

/**
 * Prepares what the first requests would otherwise wait for, piece by piece, once the process serves. A process that
 * only checks a configuration prepares nothing.
 */
export class Warmth {
  #pieces: Piece[] = []
  readonly #log: Pick<Logger, 'warn'>
  #serving = false
  #next: NodeJS.Timeout | undefined
  readonly #done = Promise.withResolvers<void>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  /** Queues a piece, on demand before all others, until it is done or the pieces of `of` are discarded. */
  add(prepare: () => void, isFirst = false, of?: object): void {
    const piece = { prepare, of }
    if (isFirst) this.#pieces.unshift(piece)
    else this.#pieces.push(piece)
    if (this.#serving) this.#schedule()
  }

  /** Discards the pieces of a configuration that gets no requests any more: each would hold all of it in memory. */
  discard(of: object): void {
    this.#pieces = this.#pieces.filter((piece) => piece.of !== of)
  }

  /** The process serves: starts the queued pieces. Resolves when they are done or stopped. */
  start(): Promise<void> {
    this.#serving = true
    this.#schedule()
    return this.#done.promise
  }

  /** Discards the remaining pieces. */
  stop(): void {
    this.#serving = false
    clearTimeout(this.#next)
    this.#done.resolve()
  }

  #schedule(): void {
    if (this.#pieces.length === 0) this.#done.resolve()
    else this.#next ??= setTimeout(() => this.#do(), gap).unref()
  }

  #do(): void {
    this.#next = undefined
    try {
      this.#pieces.shift()?.prepare()
    } catch (error) {
      this.#log.warn({ err: error }, 'a part could not be prepared in advance; the first request prepares it')
    }
    if (this.#serving) this.#schedule()
  }
}
