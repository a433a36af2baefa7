/** When a circuit opens, and for how long. Times are in milliseconds. */
export interface CircuitRules {
  /** Failures in a row. */
  readonly failures: number
  /** Share of failures among at least `minimum` requests within `window`. */
  readonly ratio: number
  readonly minimum: number
  readonly window: number
  /** How long it stays open at first; each further time longer, at most `openMax`. */
  readonly open: number
  readonly openMax: number
}

export type CircuitState = 'closed' | 'open' | 'half_open'

/** What a request may do: call; call as the probe whose end decides; or leave the provider alone. */
export type Admission = 'call' | 'probe' | 'wait'

/** Parts of the window that are forgotten one by one. */
const parts = 10
/** The open time is longer by a random part of this share, so that processes do not probe together. */
const jitter = 0.2

/**
 * The circuit of one provider or model in this process (circuit breaker: closed, open, half open). All times are those
 * of one clock that never goes back, in milliseconds.
 */
export class Circuit {
  readonly #random: () => number
  readonly #turned: (to: CircuitState) => void
  #state: CircuitState = 'closed'
  #inRow = 0
  /** Requests and failures per part of the window, and the number of the part that was written last. */
  #requests = Array.from({ length: parts }, () => 0)
  #failures = Array.from({ length: parts }, () => 0)
  #part = 0
  /** Times it has opened since it was closed, and ever. */
  #again = 0
  openedTimes = 0
  openedAt: number | undefined
  /** When it may be probed. */
  retryAt: number | undefined
  /** Whether a probe is under way. */
  #probing = false

  /**
   * @param random draws a number from 0 to 1
   * @param turned hears of each change of its state
   */
  constructor(random: () => number = Math.random, turned: (to: CircuitState) => void = () => undefined) {
    this.#random = random
    this.#turned = turned
  }

  get state(): CircuitState {
    return this.#state
  }

  /** Asks for admission. A probe must be ended by `succeeded`, `failed` or `released`. */
  admit(now: number): Admission {
    if (this.#state === 'closed') return 'call'
    if (this.isWaiting(now)) return 'wait'
    this.#become('half_open')
    this.#probing = true
    return 'probe'
  }

  /** Whether a request is to leave the provider alone. */
  isWaiting(now: number): boolean {
    return (this.#state === 'open' && now < (this.retryAt ?? 0)) || this.#probing
  }

  /** A request that began at `began` succeeded. */
  succeeded(began: number, now: number, rules: CircuitRules): void {
    if (this.#state === 'closed') {
      this.#inRow = 0
      this.#count(now, rules, false)
    } else if (began >= (this.openedAt ?? 0)) this.reset()
  }

  /** A request failed in a way for which the provider is responsible. */
  failed(isProbe: boolean, now: number, rules: CircuitRules): void {
    this.#count(now, rules, true)
    this.#inRow++
    if (this.#state === 'half_open' && isProbe) this.#open(now, rules)
    if (this.#state !== 'closed') return
    const { requests, failures } = this.figures(now, rules)
    if (this.#inRow >= rules.failures || (requests >= rules.minimum && failures >= requests * rules.ratio))
      this.#open(now, rules)
  }

  /** The probe ended without a result, as when its client left. */
  released(): void {
    this.#probing = false
  }

  /** Closes it, and forgets all failures. */
  reset(): void {
    this.#become('closed')
    this.#inRow = this.#again = 0
    this.#requests.fill(0)
    this.#failures.fill(0)
    this.#probing = false
    this.openedAt = this.retryAt = undefined
  }

  /** Requests and failures within the window. */
  figures(now: number, rules: CircuitRules): { readonly requests: number; readonly failures: number } {
    this.#turn(now, rules)
    return { requests: sum(this.#requests), failures: sum(this.#failures) }
  }

  #become(state: CircuitState): void {
    if (this.#state !== state) this.#turned(state)
    this.#state = state
  }

  #open(now: number, { open, openMax }: CircuitRules): void {
    this.#become('open')
    this.openedTimes++
    this.#again++
    this.#probing = false
    this.openedAt = now
    this.retryAt = now + Math.min(openMax, open * this.#again * (1 + jitter * this.#random()))
  }

  #count(now: number, rules: CircuitRules, isFailure: boolean): void {
    const at = this.#turn(now, rules) % parts
    this.#requests[at] = (this.#requests[at] ?? 0) + 1
    if (isFailure) this.#failures[at] = (this.#failures[at] ?? 0) + 1
  }

  /** Forgets the parts that have left the window. Returns the number of the present part. */
  #turn(now: number, { window }: CircuitRules): number {
    const part = Math.floor(now / (window / parts))
    // After a change of the window, numbers of parts may also be smaller than before.
    const passed = part < this.#part ? parts : Math.min(part - this.#part, parts)
    for (let step = 0; step < passed; step++) {
      const at = (part - step) % parts
      this.#requests[at] = this.#failures[at] = 0
    }
    this.#part = part
    return part
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
