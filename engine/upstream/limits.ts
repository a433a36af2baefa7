import { performance } from 'node:perf_hooks'

/** How long each phase of an exchange may take, in milliseconds; 0 means no limit. */
export interface Timeouts {
  /** Until a connection carries the request; waiting for a free one counts. */
  readonly connect: number
  /** From then until the answer's headers. */
  readonly firstByte: number
  /** Between two reads of the body, while its reader wants more. */
  readonly idle: number
  /** For everything. */
  readonly total: number
}

export type Phase = Exclude<keyof Timeouts, 'total'>

const longestTimer = 2 ** 31 - 1

/**
 * Watches all limits of one exchange with one timer. The timer is only moved when a limit comes nearer; hearing from
 * the upstream just notes the time, so that a busy stream costs no timer work. Accurate to the millisecond.
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
  /** The reader wants nothing: silence is then not the upstream's. */
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

  /** The phase's time starts anew. */
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
      // Whatever has arrived while this process stood still is heard first: that silence was not the upstream's.
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
