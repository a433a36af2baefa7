import type { Logger } from 'pino'

/** Milliseconds between two pieces: what has arrived meanwhile comes first. */
const gap = 20

/**
 * Does what the first requests would have to wait for once the process serves: a piece at a time, and nothing at all in
 * a process that only checks.
 */
export class Warmth {
  readonly #pieces: (() => void)[] = []
  readonly #log: Pick<Logger, 'warn'>
  #serving = false
  #next: NodeJS.Timeout | undefined
  readonly #done = Promise.withResolvers<void>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  /** Has a piece done later. */
  readonly add = (piece: () => void): void => {
    this.#pieces.push(piece)
    if (this.#serving) this.#schedule()
  }

  /** The process serves: what is there may be done. Resolves when it is, or will not be any more. */
  start(): Promise<void> {
    this.#serving = true
    this.#schedule()
    return this.#done.promise
  }

  /** Does nothing any more. */
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
      this.#pieces.shift()?.()
    } catch (error) {
      this.#log.warn({ err: error }, 'something could not be prepared; the first request does it')
    }
    if (this.#serving) this.#schedule()
  }
}
