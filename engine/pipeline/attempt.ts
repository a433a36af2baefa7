import type { Candidate } from '../spec/catalog.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import { defined } from '../spec/json.ts'
import type { Retry } from '../spec/error-table.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { SlotName } from '../spec/slots.ts'
import { puts } from './bag.ts'
import type { Bag } from './bag.ts'
import { FurtherTries } from './further-tries.ts'
import type { Waits } from './further-tries.ts'
import { usualFailures } from './format.ts'
import { followed } from './later.ts'
import { milliseconds } from './options.ts'
import type { RequestRetries, RetryBudget, RetryShare } from './retry-budget.ts'
import type { RunScope, Step } from './step.ts'

/** An `attempt` step, ready to run. */
export interface Attempt extends Waits {
  readonly tries: number
  /** Values of `error.tags`, upstream statuses, and the classes `4xx` and `5xx`. */
  readonly on: readonly string[]
  readonly over: string
  /** `file:line:column`. */
  readonly at: string
  /** Slots that its steps provide. */
  readonly gives: readonly string[]
  readonly run: Step
  /** Runs when the last try failed with an error that matches `on`, whether or not another try could have helped. */
  readonly otherwise?: Step
  /** The retries of all attempts of this process. */
  readonly retries: RetryBudget
  readonly budget: RetryShare
}

/** The options of an `attempt` as its schema accepts them. */
export function triesOf(options: JsonObject): Waits & Pick<Attempt, 'tries' | 'on' | 'budget'> {
  const { tries, on, wait, wait_max: waitMax, budget, budget_floor: floor } = options
  return {
    tries: Number(tries),
    on: Array.isArray(on) ? on.map(String) : [],
    wait: milliseconds(wait),
    waitMax: milliseconds(waitMax),
    budget: { share: Number(budget), floor: Number(floor) },
  }
}

/**
 * Tries candidates until one succeeds. Each try starts from the same slots, with the next candidate as `model`; after
 * the last candidate it starts over. A candidate whose error allows another try only elsewhere is not tried twice in a
 * row, and one that asked for a longer wait than `waitMax` is not tried again. Neither is one whose provider has used up its retries.
 * A candidate that a stage passes over (tag `passed-over`) counts as no try and is not tried again. Rejects with the
 * last error of a try.
 */
export function attemptStep(attempt: Attempt): Step {
  const tries = triesStep(attempt)
  const { otherwise } = attempt
  if (otherwise === undefined) return tries
  const matches = matcher(attempt.on)
  return (slots, scope) => {
    const rescue = (thrown: unknown) => {
      if (!matches(asGatewayError(thrown)) || over(scope)) throw thrown
      // A try works on a copy, so these are the slots from before it.
      return otherwise(slots, scope)
    }
    try {
      const pending = tries(slots, scope)
      return pending && followed(pending, () => undefined, rescue)
    } catch (thrown) {
      return rescue(thrown)
    }
  }
}

function triesStep(attempt: Attempt): Step {
  const copies = puts(['model', ...attempt.gives] as SlotName[])
  const where = placed(attempt.on)
  return (slots, scope) => {
    const candidates = (slots[attempt.over as SlotName] ?? []) as readonly Candidate[]
    const calls = attempt.retries.request()
    const ended = (own: Bag) => {
      calls.end()
      for (const copy of copies) copy(slots, own)
    }
    const begin = (own: Bag, number: number) => {
      scope.attempt = number
      return attempt.run(own, scope)
    }
    /** The further tries: in most exchanges the first one succeeds. */
    const others = async (candidate: Candidate, thrown: unknown) => {
      try {
        const further = new FurtherTries(candidates, calls, { ...attempt, where })
        for (let [failed, error] = [candidate, asGatewayError(thrown)]; ;) {
          noteFailure(scope, failed, error)
          const next = await following(further, error, scope)
          const own: Bag = { ...slots, model: next }
          try {
            await begin(own, further.number)
          } catch (again) {
            ;[failed, error] = [next, asGatewayError(again)]
            continue
          }
          return ended(own)
        }
      } catch (last) {
        calls.end()
        throw last
      }
    }
    const candidate = first(candidates, calls, attempt)
    const own: Bag = { ...slots, model: candidate }
    try {
      const pending = begin(own, 1)
      if (pending !== undefined)
        return followed(
          pending,
          () => ended(own),
          (thrown) => others(candidate, thrown),
        )
    } catch (thrown) {
      return others(candidate, thrown)
    }
    ended(own)
    return undefined
  }
}

function first([candidate]: readonly Candidate[], calls: RequestRetries, { at }: Attempt): Candidate {
  if (candidate === undefined) {
    calls.end()
    throw atPlace(new GatewayError('internal_error', {}, { cause: new Error('there is no candidate to try') }), at)
  }
  calls.call(candidate.provider.name)
  return candidate
}

/** The candidate to try after a failure, when it may be tried. Rejects when no try can help. */
async function following(further: FurtherTries, error: GatewayError, scope: RunScope): Promise<Candidate> {
  const next = further.after(error, scope.clock())
  // A try that could only begin after the deadline is not waited for.
  if (next === undefined || over(scope) || scope.clock() + next.wait >= scope.deadline) throw further.error ?? error
  if (next.wait > 0) await pause(next.wait, scope)
  if (over(scope)) throw further.error ?? error
  scope.begin()
  return next.candidate
}

/** Whether an error matches one of the words in `on`. */
function matcher(on: readonly string[]): (error: GatewayError) => boolean {
  const words = new Set(on)
  return ({ tags }) => tags.some((tag) => words.has(tag) || (/^\d{3}$/.test(tag) && words.has(`${tag.slice(0, 1)}xx`)))
}

/**
 * Where another try is allowed after an error: the words in `on` decide. The usual words leave it to the error table
 * whether the same candidate may be asked again, because a try after a timeout costs its time and its tokens twice.
 */
function placed(on: readonly string[]): (error: GatewayError) => Retry {
  const matches = matcher(on)
  const isUsual = new Set(on).symmetricDifference(usualFailures).size === 0
  return (error) => (matches(error) ? (isUsual ? error.retry : 'same') : 'never')
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

function atPlace(error: GatewayError, at: string): GatewayError {
  error.at = `${at} (attempt)`
  return error
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
