import type { AppenderOptions } from '../../engine/index.ts'

/** What an exchange cost, and who pays it. */
export interface Charge {
  /** Id of the exchange. */
  readonly id: string
  /** In milliseconds since 1970. */
  readonly at: number
  readonly key_id: string | null
  readonly member_id: string | null
  /** In micro-USD. */
  readonly micros: number
  /** The model that answered, and how many tenths of its estimate that cost; null: nobody knows. */
  readonly model: string | null
  readonly overrun: number | null
}

/** Who keeps what exchanges were charged. */
export interface ChargeKeeper {
  /** Statements that take the charges from a batch of rows, in the transaction that writes it; see `AppenderOptions`. */
  readonly sums: NonNullable<AppenderOptions['sums']>
  /** Takes a charge that goes with no row. */
  readonly alone: (charge: Charge) => void
}

/**
 * Charges on the way to the rows of their exchanges, so that row and charge are written together, or neither is. An
 * exchange writes its row in the same turn of the event loop; where it does not, the keeper takes the charge alone.
 */
export class RowCharges {
  /** The one that came last, which its row nearly always takes at once: a table that grows and shrinks takes memory. */
  #last: Charge | undefined
  readonly #others = new Map<string, Charge>()
  #isArmed = false
  keeper: ChargeKeeper | undefined

  give(charge: Charge): void {
    this.#others.delete(charge.id)
    if (this.#last && this.#last.id !== charge.id) this.#others.set(this.#last.id, this.#last)
    this.#last = charge
    if (!this.#isArmed) setImmediate(() => this.flush())
    this.#isArmed = true
  }

  /** The charge that the row of an exchange is to have. */
  take(id: string): Charge | undefined {
    const last = this.#last
    if (last?.id === id) {
      this.#last = undefined
      return last
    }
    const found = this.#others.get(id)
    if (found) this.#others.delete(id)
    return found
  }

  /** Hands what still waits to the keeper. */
  flush(): void {
    this.#isArmed = false
    for (const charge of this.#others.values()) this.keeper?.alone(charge)
    this.#others.clear()
    if (this.#last) this.keeper?.alone(this.#last)
    this.#last = undefined
  }
}
