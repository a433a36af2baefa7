import type { GatewayError } from '../spec/error.ts'

/** How long an `attempt` waits, in milliseconds. */
export interface Waits {
  /** At most, before the same candidate is tried again; doubled with each further try of it. */
  readonly wait: number
  /** At most, ever. */
  readonly waitMax: number
}

/** What was learned about a candidate that was tried. */
interface Tried {
  readonly times: number
  /** When it may be tried again; `Infinity`: never. */
  readonly ready: number
}

/** The next try of an exchange. */
export interface NextTry {
  /** Index of the candidate. */
  readonly index: number
  /** Milliseconds to wait before. */
  readonly wait: number
}

/** Chooses the further tries of one exchange whose first try has failed. */
export class FurtherTries {
  readonly #count: number
  readonly #waits: Waits
  readonly #random: () => number
  readonly #tried = new Map<number, Tried>()

  /**
   * @param count the number of candidates
   * @param random draws a number from 0 to 1
   */
  constructor(count: number, waits: Waits, random: () => number = Math.random) {
    this.#count = count
    this.#waits = waits
    this.#random = random
  }

  /**
   * The candidate to try after one that has failed: the next one in line; after the last one, the line starts over.
   * Before a candidate is tried again, there is a random wait (full jitter), which is never shorter than what the
   * candidate asked for. One that asked for more than `waitMax` is not tried again, and one whose error is tagged
   * `other` is not tried twice in a row.
   * @param now the time on the clock of `Tried.ready`
   * @returns undefined: no try can help
   */
  after(index: number, error: GatewayError, now: number): NextTry | undefined {
    const { wait, waitMax } = this.#waits
    const asked = (error.failure.retryAfter ?? 0) * 1_000
    const times = (this.#tried.get(index)?.times ?? 0) + 1
    this.#tried.set(index, { times, ready: asked > waitMax ? Infinity : now + asked })
    for (let step = 1; step <= this.#count; step++) {
      const next = (index + step) % this.#count
      const before = this.#tried.get(next)
      if (before === undefined) return { index: next, wait: 0 }
      if (before.ready === Infinity || (next === index && error.retry !== 'same')) continue
      const drawn = this.#random() * Math.min(waitMax, wait * 2 ** (before.times - 1))
      return { index: next, wait: Math.max(drawn, before.ready - now) }
    }
    return undefined
  }
}
