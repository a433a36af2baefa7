/** When a circuit opens, and for how many seconds. */
export interface CircuitRules {
  /** Failures in a row. */
  readonly failures: number
  readonly open_s: number
}

/**
 * Whether the judge is left alone because it fails: after some failures in a row for a while; then one request may ask
 * it, and its end decides.
 */
export class Circuit {
  readonly #now: () => number
  #inRow = 0
  #openUntil: number | undefined
  #isProbed = false

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether the judge may be asked. If so, `ended` must follow. */
  admits(): boolean {
    if (this.#openUntil === undefined) return true
    if (this.#isProbed || this.#now() < this.#openUntil) return false
    return (this.#isProbed = true)
  }

  /** @param result undefined: a call that tells nothing of the judge, as when its client left */
  ended(result: 'ok' | 'fault' | undefined, { failures, open_s: open }: CircuitRules): void {
    this.#isProbed = false
    if (result === 'ok') {
      this.#inRow = 0
      this.#openUntil = undefined
    } else if (result === 'fault' && ++this.#inRow >= failures) this.#openUntil = this.#now() + open * 1_000
  }
}
