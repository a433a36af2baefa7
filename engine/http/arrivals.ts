import type { ByteBudget } from './body.ts'

/** What one socket has taken from the budget for the message that is arriving. */
export class Arrivals {
  readonly #budget: ByteBudget
  #bytes = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** False: too much is in hand already. */
  take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false
    this.#bytes += bytes
    return true
  }

  /** Bytes that arrived, all unless told, belong to no message any more. */
  passed(bytes = this.#bytes): void {
    const passed = Math.min(bytes, this.#bytes)
    this.#bytes -= passed
    this.#budget.give(passed)
  }

  /** A message of `size` bytes is there: how many of them the budget has still to get back. */
  complete(size: number): number {
    const held = Math.min(size, this.#bytes)
    this.#bytes -= held
    this.passed()
    return held
  }
}
