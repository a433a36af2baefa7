import type { Signal } from './variable-reader.ts'

/** Milliseconds without anything accepted after which a signal is degraded. */
const patience = 30_000

/** What becomes of what is sent to a collector. */
export class Delivery {
  readonly #signal: Signal
  readonly #now: () => number
  /** When the oldest of what was not accepted since was handed over. */
  #waitsSince: number | undefined
  /** What was lost: it found no room in the queue, or the collector did not take it. */
  dropped = 0

  /** @param now milliseconds of a clock that never goes back */
  constructor(signal: Signal, now: () => number = () => performance.now()) {
    this.#signal = signal
    this.#now = now
  }

  handedOver(): void {
    this.#waitsSince ??= this.#now()
  }

  accepted(): void {
    this.#waitsSince = undefined
  }

  lost(count: number): void {
    this.dropped += count
  }

  /** Undefined: the collector takes what it gets. Always the same words, because each change of them is logged. */
  status(): string | undefined {
    const since = this.#waitsSince
    if (since === undefined || this.#now() - since < patience) return undefined
    return `the collector has accepted no ${this.#signal} for ${patience / 1_000} seconds`
  }
}
