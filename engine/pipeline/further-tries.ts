import type { Candidate } from '../spec/catalog.ts'
import { passedOver } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import type { Retry } from '../spec/error-table.ts'
import type { RequestRetries, RetryShare } from './retry-budget.ts'

/** How long an `attempt` waits, in milliseconds. */
export interface Waits {
  /** At most, before the same candidate is tried again; doubled with each further try of it. */
  readonly wait: number
  /** At most, ever. */
  readonly waitMax: number
}

/** The rules of an `attempt` for further tries. */
export interface TryRules extends Waits {
  /** Tries in all. */
  readonly tries: number
  readonly budget: RetryShare
  /** Where another try is allowed after an error. */
  readonly where: (error: GatewayError) => Retry
}

/** What was learned about a candidate. */
interface Tried {
  readonly times: number
  /** When it may be tried again; `Infinity`: never. */
  readonly ready: number
}

/** The next try of an exchange. */
export interface NextTry {
  readonly candidate: Candidate
  /** Milliseconds to wait before. */
  readonly wait: number
}

/** Chooses the further tries of one exchange whose first try has failed. */
export class FurtherTries {
  readonly #candidates: readonly Candidate[]
  readonly #calls: RequestRetries
  readonly #rules: TryRules
  readonly #random: () => number
  readonly #tried = new Map<number, Tried>()
  /** Index of the present candidate, and of the one that was tried last. */
  #at = 0
  #last: number | undefined
  /** Where that one's error allows another try. */
  #where: Retry = 'never'
  /** The number of the try that is being made, from 1. */
  number = 1
  /** The error of the last try; undefined: every candidate so far was passed over. */
  error: GatewayError | undefined

  /** @param random draws a number from 0 to 1 */
  constructor(
    candidates: readonly Candidate[],
    calls: RequestRetries,
    rules: TryRules,
    random: () => number = Math.random,
  ) {
    this.#candidates = candidates
    this.#calls = calls
    this.#rules = rules
    this.#random = random
  }

  /**
   * The candidate to try after the present one has failed: the next one in line; after the last one, the line starts
   * over. Before a candidate is tried again, there is a random wait (full jitter), which is never shorter than what the
   * candidate asked for. One that asked for more than `waitMax` is not tried again, and one whose error allows
   * another try only elsewhere is not tried twice in a row.
   * @param now the time on the clock of `Tried.ready`
   * @returns undefined: there may be no further try
   */
  after(error: GatewayError, now: number): NextTry | undefined {
    if (error.tags.includes(passedOver)) this.#pass()
    else if (!this.#fail(error, now)) return undefined
    const next = this.#next(error, now)
    if (next) this.#calls.call(next.candidate.provider.name)
    this.#at = next?.at ?? this.#at
    return next
  }

  /** What `after` would return, without a random wait. Nothing changes. */
  following(error: GatewayError, now: number): NextTry | undefined {
    const copy = new FurtherTries(this.#candidates, this.#calls, this.#rules, () => 0)
    for (const [at, tried] of this.#tried) copy.#tried.set(at, tried)
    copy.#at = this.#at
    copy.number = this.number
    return copy.#fail(error, now) ? copy.#next(error, now) : undefined
  }

  #next(error: GatewayError, now: number): (NextTry & { readonly at: number }) | undefined {
    const count = this.#candidates.length
    // A guard wants another answer of the same model.
    const first = error.tags.includes('guard') && this.#where === 'same' ? 0 : 1
    for (let step = first; step < first + count; step++) {
      const at = (this.#at + step) % count
      const wait = this.#wait(at, now)
      const candidate = this.#candidates[at] as Candidate
      if (wait !== undefined && this.#calls.allows(candidate.provider.name, this.#rules.budget))
        return { candidate, wait, at }
    }
    return undefined
  }

  #pass(): void {
    this.#tried.set(this.#at, { times: 0, ready: Infinity })
    this.#calls.undo((this.#candidates[this.#at] as Candidate).provider.name)
  }

  /** Notes a failed try. Returns whether another one is allowed. */
  #fail(error: GatewayError, now: number): boolean {
    const { tries, waitMax, where } = this.#rules
    this.error = error
    this.#last = this.#at
    this.#where = where(error)
    const asked = (error.failure.retryAfter ?? 0) * 1_000
    const times = (this.#tried.get(this.#at)?.times ?? 0) + 1
    this.#tried.set(this.#at, { times, ready: asked > waitMax ? Infinity : now + asked })
    return this.number++ < tries && this.#where !== 'never'
  }

  /** Milliseconds to wait before a candidate is tried; undefined: it is not tried. */
  #wait(index: number, now: number): number | undefined {
    const before = this.#tried.get(index)
    if (before === undefined) return 0
    if (before.ready === Infinity || (index === this.#last && this.#where !== 'same')) return undefined
    const { wait, waitMax } = this.#rules
    return Math.max(this.#random() * Math.min(waitMax, wait * 2 ** (before.times - 1)), before.ready - now)
  }
}
