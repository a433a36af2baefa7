/** Milliseconds that a call waits for its answer, and how often the event loop must have turned meanwhile. */
const PATIENCE = 100
const TURNS = 4

interface Waiting {
  readonly since: number
  turns: number
  readonly reject: (error: Error) => void
}

/**
 * Limits how long calls wait for an answer. Time in which this process itself was busy does not count: the answer may be
 * there, and only has to be read. One timer serves all calls.
 */
export class Patience {
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  /** The answer; rejects when it comes too late. */
  async for<T>(answer: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    const waiting = { since: performance.now(), turns: 0, reject: late.reject }
    this.#waiting.add(waiting)
    this.#timer ??= setInterval(() => this.#look(), PATIENCE / TURNS).unref()
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  #look(): void {
    const now = performance.now()
    for (const waiting of this.#waiting) {
      waiting.turns += 1
      if (waiting.turns >= TURNS && now - waiting.since >= PATIENCE)
        waiting.reject(new Error(`no answer within ${PATIENCE} ms`))
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
