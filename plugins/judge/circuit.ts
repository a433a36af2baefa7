/** When a circuit opens, and for how many seconds. */
export interface CircuitRules {
  /** Failures in a row. */
  readonly failures: number
  readonly open_s: number
}

/** A call of the judge that the circuit lets pass. Its end must be told once. */
export interface Admission {
  /** @param result undefined: a call that tells nothing of the judge, as when its client left */
  ended(result: 'ok' | 'fault' | undefined, rules: CircuitRules): void
}

/**
 * Whether the judge is left alone because it fails: after some failures in a row for a while; then one request may ask
 * it, and its end decides. What began before the circuit opened or closed tells nothing any more when it ends.
 */
export class Circuit {
  readonly #now: () => number
  #inRow = 0
  #openUntil: number | undefined
  #isProbed = false
  /** How often it opened or closed. */
  #generation = 0

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Undefined: the judge may not be asked. */
  admit(): Admission | undefined {
    if (this.#openUntil !== undefined) {
      if (this.#isProbed || this.#now() < this.#openUntil) return undefined
      this.#isProbed = true
    }
    const generation = this.#generation
    return {
      ended: (result, rules) => {
        if (generation === this.#generation) this.#end(result, rules)
      },
    }
  }

  #end(result: 'ok' | 'fault' | undefined, { failures, open_s: open }: CircuitRules): void {
    this.#isProbed = false
    if (result === 'ok') {
      this.#inRow = 0
      if (this.#openUntil !== undefined) this.#generation++
      this.#openUntil = undefined
    } else if (result === 'fault' && ++this.#inRow >= failures) {
      this.#generation++
      this.#openUntil = this.#now() + open * 1_000
    }
  }
}
