import type { Logger } from 'pino'
import { asGatewayError } from '../spec/error.ts'
import type { GatewayError } from '../spec/error.ts'
import type { SlotName } from '../spec/slots.ts'
import type { End } from '../spec/stage.ts'
import type { Bag } from './bag.ts'
import type { CompiledPipeline } from './run.ts'
import type { RunScope, Step } from './step.ts'

type Failures = readonly GatewayError[]

/**
 * Ends an exchange that has its `outcome`. First settle the stages that need nothing of `finally`, then the stages of
 * `finally` run, each of them even when another fails, then the other stages settle. What fails of `finally` is logged and
 * answered. It answers a promise, which never rejects, only when it has to wait.
 * @param error what went wrong in the exchange
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
  const failures = runEach(pipeline.finally, pipeline.log, slots, scope)
  return failures instanceof Promise
    ? failures.then((late) => settleRest(late, pipeline, slots, scope, error))
    : settleRest(failures, pipeline, slots, scope, error)
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
  const settling = settlement.end(slots, error)
  if (settling !== undefined) return settling.then(() => settlement.late(log)).then(() => failures)
  return settlement.late(log)?.then(() => failures) ?? failures
}

/** Runs steps one after the other, each even when another fails. Failures are logged and answered. */
function runEach(steps: readonly Step[], log: Logger, slots: Bag, scope: RunScope): Failures | Promise<Failures> {
  const failures: GatewayError[] = []
  const fail = (thrown: unknown) => {
    if (thrown instanceof Unfinished) return void failures.push(...thrown.failures)
    if (thrown instanceof PassedOver) return log.error({ id: scope.id, at: thrown.at }, thrown.message)
    const error = asGatewayError(thrown)
    log.error({ err: error.cause ?? error, id: scope.id, at: error.at }, 'a stage failed after the exchange')
    failures.push(error)
  }
  const run = (step: Step): Promise<void> | undefined => {
    try {
      return step(slots, scope)?.catch(fail)
    } catch (thrown) {
      fail(thrown)
      return undefined
    }
  }
  let last: Promise<void> | undefined
  for (const step of steps) last = last === undefined ? run(step) : last.then(() => run(step))
  return last === undefined ? failures : last.then(() => failures)
}

/** Steps below one of `finally`: each runs even when another fails, and what failed is told at their end. */
export function eachStep(steps: readonly Step[], log: Logger): Step {
  if (steps.length === 1) return steps[0] as Step
  return (slots, scope) => {
    const failures = runEach(steps, log, slots, scope)
    if (failures instanceof Promise) return failures.then(refuse)
    refuse(failures)
    return undefined
  }
}

/** Steps of `finally` that have failed, and were logged. */
class Unfinished extends Error {
  readonly failures: Failures

  constructor(failures: Failures) {
    super('steps failed after the exchange')
    this.failures = failures
  }
}

function refuse(failures: Failures): void {
  if (failures.length > 0) throw new Unfinished(failures)
}

/** A stage of `finally` that lacks what another one should have given. */
class PassedOver extends Error {
  readonly at: string

  constructor(slot: string, at: string) {
    super(`a stage after the exchange is passed over: what gives it "${slot}" has failed`)
    this.at = at
  }
}

/** A stage of `finally` that needs what others in it give: without that it is passed over. */
export function dependentStep(step: Step, needs: readonly SlotName[], at: string): Step {
  return (slots, scope) => {
    const missing = needs.find((slot) => slots[slot] === undefined)
    if (missing !== undefined) throw new PassedOver(missing, at)
    return step(slots, scope)
  }
}
