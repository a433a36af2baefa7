import { performance } from 'node:perf_hooks'

/** Timeouts for the phases of an exchange, in milliseconds; 0 means none. */
export interface Timeouts {
  /** Until a connection carries the request, including the wait for a free connection. */
  readonly connect: number
  /** From then until the response headers. */
  readonly firstByte: number
  /** Between two reads of the body, while its reader is not paused. */
  readonly idle: number
  /** For the whole exchange. */
  readonly total: number
}

export type Phase = Exclude<keyof Timeouts, 'total'>

const longestTimer = 2 ** 31 - 1

/**
 * Enforces all timeouts of one exchange with one timer. The timer is only reset when a deadline moves closer; data
 * from the upstream just updates a timestamp, so a busy stream costs no timer work. Accurate to the millisecond.
 */
export class Limits {
  readonly #timeouts: Timeouts
  readonly #expired: (limit: keyof Timeouts) => void
  readonly #end: number
  #phase: Phase = 'connect'
  #due: number
  #wakes = Infinity
  #timer: NodeJS.Timeout | undefined
  #turn: NodeJS.Immediate | undefined
  /** Whether the reader has paused: the upstream is then not responsible for the silence. */
  paused = false

  constructor(timeouts: Timeouts, expired: (limit: keyof Timeouts) => void) {
    const now = performance.now()
    this.#timeouts = timeouts
    this.#expired = expired
    this.#end = now + (timeouts.total || Infinity)
    this.#due = now + (timeouts.connect || Infinity)
    this.#watch(now)
  }

  get phase(): Phase {
    return this.#phase
  }

  enter(phase: Phase): void {
    const now = performance.now()
    this.#phase = phase
    this.#due = now + (this.#timeouts[phase] || Infinity)
    if (this.#due < this.#wakes) this.#watch(now)
  }

  /** Restarts the time of the current phase. */
  heard(): void {
    this.#due = performance.now() + (this.#timeouts[this.#phase] || Infinity)
  }

  stop(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#turn)
  }

  #watch(now: number): void {
    clearTimeout(this.#timer)
    this.#wakes = Math.min(this.#due, this.#end)
    if (this.#wakes === Infinity) return
    const wait = Math.min(Math.ceil(this.#wakes - now), longestTimer)
    this.#timer = setTimeout(() => {
      // Data that arrived while this process was blocked is read first: the upstream is not responsible for that
      // silence.
      this.#turn = setImmediate(() => this.#wake())
    }, wait)
  }

  #wake(): void {
    const now = performance.now()
    if (now >= this.#end) return this.#expired('total')
    if (this.paused) this.heard()
    else if (now >= this.#due) return this.#expired(this.#phase)
    this.#watch(now)
  }
}
