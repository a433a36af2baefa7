import type { Giving, Settling, SharedCounters } from './counters.ts'

/** A call that ends something. */
export type Missed =
  | { readonly give: Giving; readonly settle?: never }
  | { readonly settle: Settling; readonly give?: never }

/** Calls that are told at once. */
const BATCH = 200

/**
 * Calls that shared counters have missed, or may have missed, while they were away. Only exchanges of which they may
 * hold something count, so that these calls stay few: what others cost is in the ledger.
 */
export class MissedCalls {
  #calls: Missed[] = []
  /** Exchanges of which the counters may hold something. */
  readonly #held = new Set<string>()

  /** The counters may hold something of these exchanges. */
  hold(exchanges: readonly { readonly id: string }[]): void {
    for (const { id } of exchanges) this.#held.add(id)
  }

  /** A call that may have had its effect. */
  unanswered(missed: Missed): void {
    this.hold([missed.give ?? missed.settle])
    this.#calls.push(missed)
  }

  /** @param insists whether the call is kept even if the counters hold nothing of its exchange */
  add(missed: Missed, insists: boolean): void {
    if (insists || this.#isHeld(missed)) this.#calls.push(missed)
  }

  /** Forgets calls for exchanges of which the counters hold nothing. */
  forgetOthers(): void {
    this.#calls = this.#calls.filter((missed) => this.#isHeld(missed))
  }

  /** Nothing is missed any more. */
  clear(): void {
    this.#held.clear()
  }

  /** Tells the counters. Rejects if they are away, and then keeps the rest. */
  async tell(counters: SharedCounters): Promise<void> {
    while (this.#calls.length > 0) {
      // Told twice, they have no further effect.
      const batch = this.#calls.slice(0, BATCH)
      await Promise.all(batch.map(async ({ give, settle }) => (give ? counters.give(give) : counters.settle(settle))))
      this.#calls.splice(0, batch.length)
    }
  }

  #isHeld({ give, settle }: Missed): boolean {
    return this.#held.has((give ?? settle).id)
  }
}
