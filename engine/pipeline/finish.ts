import type { Logger } from 'pino'
import { asGatewayError } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import type { End } from '../spec/stage.ts'
import type { Bag } from './bag.ts'
import type { BuiltStep } from './built.ts'
import type { CompiledPipeline } from './run.ts'
import type { Pending } from './later.ts'
import type { RunScope, Step } from './step.ts'

type Failures = readonly GatewayError[]

/**
 * Ends an exchange once its `outcome` is set. First, the stages settle that need nothing from `finally`. Then all
 * stages of `finally` run, even if some fail. Last, the other stages settle. Failures of `finally` are logged and
 * returned. Returns a promise, which never rejects, only if it has to wait.
 * @param error the failure of the exchange
 */
export function finish(
  pipeline: CompiledPipeline,
  slots: Bag,
  scope: RunScope,
  error?: End['error'],
): Failures | Promise<Failures> {
  const settling = scope.settlement?.endBeforeFinally(slots, error)
  return settling === undefined
    ? runFinally(pipeline, slots, scope, error)
    : settling.then(() => runFinally(pipeline, slots, scope, error))
}

function runFinally(
  pipeline: CompiledPipeline,
  slots: Bag,
  scope: RunScope,
  error: End['error'],
): Failures | Promise<Failures> {
  scope.begin()
  const failed = runEach(pipeline.finally, slots, scope, new Failed(pipeline.log, scope.id))
  return failed instanceof Promise
    ? failed.then(({ all }) => settleRest(all, pipeline, slots, scope, error))
    : settleRest(failed.all, pipeline, slots, scope, error)
}

function settleRest(
  failures: Failures,
  { log }: CompiledPipeline,
  slots: Bag,
  scope: RunScope,
  error: End['error'],
): Failures | Promise<Failures> {
  const { settlement } = scope
  if (settlement === undefined) return failures
  // Whatever still holds the scope must not hold its slots, too. Stages that are late hold the settlement themselves.
  scope.settlement = undefined
  const settling = settlement.end(slots, error)
  if (settling !== undefined) return settling.then(() => settlement.late(log)).then(() => failures)
  return settlement.late(log)?.then(() => failures) ?? failures
}

/** Runs all steps in order, even if some fail. */
function runEach(
  steps: readonly Step[],
  slots: Bag,
  scope: RunScope,
  failed: Failed,
  first = 0,
): Failed | Promise<Failed> {
  for (let index = first; index < steps.length; index++)
    try {
      const pending = (steps[index] as Step)(slots, scope)
      if (pending !== undefined) return runOthers(pending, steps, slots, scope, failed, index + 1)
    } catch (thrown) {
      failed.add(thrown)
    }
  return failed
}

/** Runs the steps after one that waits. */
async function runOthers(pending: Pending, ...others: Parameters<typeof runEach>): Promise<Failed> {
  try {
    await pending
  } catch (thrown) {
    others[3].add(thrown)
  }
  return runEach(...others)
}

/** The nested steps of a step of `finally`: all of them run even if some fail, and failures are thrown at the end. */
export function eachStep(steps: readonly Step[], log: Logger): Step {
  return async (slots, scope) => (await runEach(steps, slots, scope, new Failed(log, scope.id))).refuse()
}

/** The failures of steps that all run even if some fail. */
export class Failed {
  readonly all: GatewayError[] = []
  readonly #log: Logger
  /** The exchange id. */
  readonly #id: string

  constructor(log: Logger, id: string) {
    this.#log = log
    this.#id = id
  }

  /** Logs and keeps a failure. */
  add(thrown: unknown): void {
    if (thrown instanceof Unfinished) return void this.all.push(...thrown.failures)
    if (thrown instanceof PassedOver) return this.#log.error({ id: this.#id, at: thrown.at }, thrown.message)
    const error = asGatewayError(thrown)
    this.#log.error({ err: error.cause ?? error, id: this.#id, at: error.at }, 'a stage failed after the exchange')
    this.all.push(error)
  }

  /** Throws at the end of the steps if some failed. */
  refuse(): void {
    if (this.all.length > 0) throw new Unfinished(this.all)
  }
}

/** Failures of `finally` steps that were already logged. */
class Unfinished extends Error {
  readonly failures: Failures

  constructor(failures: Failures) {
    super('steps failed after the exchange')
    this.failures = failures
  }
}

/** A stage of `finally` was skipped because a slot from a failed stage is missing. */
class PassedOver extends Error {
  readonly at: string

  constructor(slot: string, at: string) {
    super(`a stage after the exchange is skipped: the stage that gives it "${slot}" has failed`)
    this.at = at
  }
}

/** Skips a stage of `finally` by throwing when it lacks a slot that another stage of it should have given. */
export function passOver({ needs, place, at }: BuiltStep, slots: Bag, scope: RunScope): void {
  for (const slot of needs)
    if (slots[slot] === undefined) {
      scope.lap(place, 'skipped')
      throw new PassedOver(slot, `${at} (${place.name})`)
    }
}
