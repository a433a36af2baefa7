// The global `performance` is a getter, which is slower.
import { performance } from 'node:perf_hooks'
import { unwatch, watch } from '../../pipeline/deadline.ts'
import type { Waiting } from '../../pipeline/deadline.ts'

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

/**
 * Enforces all timeouts of one exchange. Data from the upstream just updates a timestamp. A limit that has passed is
 * noticed with the next beat of the clock of all exchanges, which looks ten times a second: a timer for each would cost
 * more than the rest of its limits.
 */
export class Limits implements Waiting {
  readonly #timeouts: Timeouts
  readonly #expired: (limit: keyof Timeouts) => void
  readonly #end: number
  #phase: Phase = 'connect'
  #due: number
  #turn: NodeJS.Immediate | undefined
  /** Whether the reader has paused: the upstream is then not responsible for the silence. */
  paused = false
  before?: Waiting | undefined
  after?: Waiting | undefined

  constructor(timeouts: Timeouts, expired: (limit: keyof Timeouts) => void) {
    const now = performance.now()
    this.#timeouts = timeouts
    this.#expired = expired
    this.#end = now + (timeouts.total || Infinity)
    this.#due = now + (timeouts.connect || Infinity)
    watch(this)
  }

  get phase(): Phase {
    return this.#phase
  }

  enter(phase: Phase): void {
    this.#phase = phase
    this.heard()
  }

  /** Restarts the time of the current phase. */
  heard(): void {
    this.#due = performance.now() + (this.#timeouts[this.#phase] || Infinity)
  }

  stop(): void {
    unwatch(this)
    clearImmediate(this.#turn)
  }

  look(now: number): void {
    if (now < this.#due && now < this.#end) return
    // Data that arrived while this process was blocked is read first: the upstream is not responsible for that silence.
    this.#turn ??= setImmediate(() => this.#passed())
  }

  #passed(): void {
    this.#turn = undefined
    const now = performance.now()
    if (now >= this.#end) return this.#expired('total')
    if (this.paused) this.heard()
    else if (now >= this.#due) this.#expired(this.#phase)
  }
}
