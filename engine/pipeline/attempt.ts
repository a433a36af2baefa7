import type { Candidate } from '../spec/catalog.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import { defined } from '../spec/json.ts'
import type { Retry } from '../spec/error-table.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { SlotName } from '../spec/slots.ts'
import { puts } from './bag.ts'
import type { Bag, Put } from './bag.ts'
import { FurtherTries } from './further-tries.ts'
import type { NextTry, TryRules, Waits } from './further-tries.ts'
import { usualFailures } from '../config/format.ts'
import { milliseconds } from './options.ts'
import type { RequestRetries, RetryBudget, RetryShare } from './retry-budget.ts'
import type { RunScope, Step } from './step.ts'

/** What an `attempt` says. */
export interface AttemptOptions extends Waits {
  readonly tries: number
  /** Values of `error.tags`, upstream statuses, and the classes `4xx` and `5xx`. */
  readonly on: readonly string[]
  readonly over: string
  /** `file:line:column`. */
  readonly at: string
  /** Slots that its steps provide. */
  readonly gives: readonly string[]
  /** The retries of all attempts of this process. */
  readonly retries: RetryBudget
  readonly budget: RetryShare
}

/** The options of an `attempt` as its schema accepts them. */
export function triesOf(options: JsonObject): Waits & Pick<AttemptOptions, 'tries' | 'on' | 'budget'> {
  const { tries, on, wait, wait_max: waitMax, budget, budget_floor: floor } = options
  return {
    tries: Number(tries),
    on: Array.isArray(on) ? on.map(String) : [],
    wait: milliseconds(wait),
    waitMax: milliseconds(waitMax),
    budget: { share: Number(budget), floor: Number(floor) },
  }
}

/** An `attempt`, ready to run. */
export class Attempt {
  readonly options: AttemptOptions
  readonly rules: TryRules
  readonly #copies: readonly Put[]
  readonly #matches: (error: GatewayError) => boolean

  constructor(options: AttemptOptions) {
    this.options = options
    this.rules = { ...options, where: placed(options.on) }
    this.#copies = puts(['model', ...options.gives] as SlotName[])
    this.#matches = matcher(options.on)
  }

  /** Takes the slots of the try that succeeded. */
  take(slots: Bag, own: Bag): void {
    for (const copy of this.#copies) copy(slots, own)
  }

  /**
   * Whether `otherwise` runs after the last try failed: if the error matches `on`, whether or not another try could have
   * helped.
   */
  rescues(thrown: unknown, scope: RunScope): boolean {
    return this.#matches(asGatewayError(thrown)) && !over(scope)
  }
}

/** The tries of one exchange, which are those of its scope until they end. */
export class Tries {
  readonly #attempt: Attempt
  readonly #scope: RunScope
  readonly #around: RunScope['tries']
  readonly #candidates: readonly Candidate[]
  readonly #calls: RequestRetries
  /** In most exchanges the first try succeeds. */
  #further: FurtherTries | undefined
  #candidate: Candidate | undefined

  constructor(attempt: Attempt, slots: Bag, scope: RunScope) {
    const { over: from, retries } = attempt.options
    this.#attempt = attempt
    this.#scope = scope
    this.#around = scope.tries
    scope.tries = this
    this.#candidates = (slots[from as SlotName] ?? []) as readonly Candidate[]
    this.#calls = retries.request()
  }

  /** The number of the present try, from 1. */
  get number(): number {
    return this.#further?.number ?? 1
  }

  /** The candidate of the first try. */
  first(): Candidate {
    const [candidate] = this.#candidates
    if (candidate === undefined) {
      const error = new GatewayError('internal_error', {}, { cause: new Error('there is no candidate to try') })
      error.at = `${this.#attempt.options.at} (attempt)`
      this.end()
      throw error
    }
    this.#calls.call(candidate.provider.name)
    return (this.#candidate = candidate)
  }

  /** Whether another try would follow if this one failed with an error. */
  follows(error: GatewayError): boolean {
    return begins(this.#more.following(error, this.#scope.clock()), this.#scope)
  }

  /** The candidate of the next try after one has failed. Rejects with the error of the attempt if there is none. */
  async next(thrown: unknown): Promise<Candidate> {
    // There was no candidate at all.
    if (this.#candidate === undefined) throw thrown
    try {
      const error = asGatewayError(thrown)
      noteFailure(this.#scope, this.#candidate, error)
      return (this.#candidate = await following(this.#more, error, this.#scope))
    } catch (last) {
      this.end()
      throw last
    }
  }

  /** No further candidate is tried. */
  end(): void {
    this.#calls.end()
    this.#scope.tries = this.#around
  }

  get #more(): FurtherTries {
    return (this.#further ??= new FurtherTries(this.#candidates, this.#calls, this.#attempt.rules))
  }
}

/**
 * Tries candidates until one succeeds. Each try starts from the same slots, with the next candidate as `model`; after
 * the last candidate it starts over. A candidate whose error allows another try only elsewhere is not tried twice in a
 * row, and one that asked for a longer wait than `waitMax` is not tried again. Neither is one whose provider has used up its retries.
 * A candidate that a stage passes over (tag `passed-over`) counts as no try and is not tried again. Rejects with the
 * last error of a try.
 */
export function attemptStep(attempt: Attempt, run: Step, otherwise?: Step): Step {
  return async (slots, scope) => {
    const tries = new Tries(attempt, slots, scope)
    try {
      let next = tries.first()
      for (;;) {
        const own: Bag = { ...slots, model: next }
        scope.attempt = tries.number
        try {
          await run(own, scope)
        } catch (thrown) {
          next = await tries.next(thrown)
          continue
        }
        tries.end()
        return attempt.take(slots, own)
      }
    } catch (thrown) {
      if (otherwise === undefined || !attempt.rescues(thrown, scope)) throw thrown
    }
    // A try works on a copy, so these are the slots from before it.
    await otherwise(slots, scope)
  }
}

/** The candidate to try after a failure, when it may be tried. Rejects when no try can help. */
async function following(further: FurtherTries, error: GatewayError, scope: RunScope): Promise<Candidate> {
  const next = further.after(error, scope.clock())
  if (!begins(next, scope)) throw further.error ?? error
  if (next.wait > 0) await pause(next.wait, scope)
  if (over(scope)) throw further.error ?? error
  scope.begin()
  return next.candidate
}

/** Whether a further try begins. One that could only begin after the deadline is not waited for. */
function begins(next: NextTry | undefined, scope: RunScope): next is NextTry {
  return next !== undefined && !over(scope) && scope.clock() + next.wait < scope.deadline
}

/** Whether an error matches one of the words in `on`. */
function matcher(on: readonly string[]): (error: GatewayError) => boolean {
  const words = new Set(on)
  return ({ tags }) => tags.some((tag) => words.has(tag) || (/^\d{3}$/.test(tag) && words.has(`${tag.slice(0, 1)}xx`)))
}

/**
 * Where another try is allowed after an error: the words in `on` decide. The usual words leave it to the error whether
 * the same candidate may be asked again, because a try after a timeout costs twice; a guard always says it itself.
 */
function placed(on: readonly string[]): (error: GatewayError) => Retry {
  const matches = matcher(on)
  const isUsual = new Set(on).symmetricDifference(usualFailures).size === 0
  return (error) => (matches(error) ? (isUsual || error.tags.includes('guard') ? error.retry : 'same') : 'never')
}

/** Whether the exchange was aborted, or its deadline has passed. */
function over(scope: RunScope): boolean {
  return scope.signal.aborted || scope.clock() >= scope.deadline
}

function noteFailure(scope: RunScope, { model, provider }: Candidate, { code, tags, facts }: GatewayError): void {
  const before = (scope.notes.get('tries') ?? []) as readonly Json[]
  const status = tags.find((tag) => /^\d{3}$/.test(tag))
  const answered = defined({ status: status && Number(status), refusal: facts['refusal'], told: facts['told'] })
  scope.note('tries', [...before, { model: model.name, provider: provider.name, code, ...answered }])
}

/** Waits, at most until the exchange is aborted. */
function pause(milliseconds: number, scope: RunScope): Promise<void> {
  return new Promise((resolve) => {
    let forget: (() => void) | undefined
    const end = () => {
      clearTimeout(timer)
      forget?.()
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    forget = scope.onAbort(end)
  })
}
