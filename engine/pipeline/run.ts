import type { Logger } from 'pino'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { SlotName, Slots } from '../spec/slots.ts'
import type { Scope } from '../spec/stage.ts'
import type { Route } from './nodes.ts'

/** The slots of one exchange. Steps add to it; stages see it as read-only. */
export type Bag = { -readonly [K in SlotName]?: Slots[K] }

/** The scope as the engine holds it. */
export interface RunScope extends Scope {
  attempt: number
}

/** A step ready to run. It answers a promise only when it has to wait. */
export type Step = (slots: Bag, scope: RunScope) => Promise<void> | undefined

/** A pipeline ready to run. */
export interface CompiledPipeline {
  readonly name: string
  readonly summary: string
  readonly file: string
  /** Protocol that the clients of its routes speak. */
  readonly protocol?: string
  readonly public: boolean
  readonly routes: readonly Route[]
  readonly inputs: readonly string[]
  readonly run: Step
  /** Its leading steps alone, up to the one that finds out who asks; of a pipeline that asks nobody, none. */
  readonly access: Step
  readonly finally: readonly Step[]
  readonly log: Logger
}

/**
 * Runs the stages of a pipeline; what they provide is added to `slots`, also when a later one fails.
 * Rejects with the `GatewayError` of the stage that failed, its `at` set.
 */
export async function execute(pipeline: CompiledPipeline, slots: Bag, scope: RunScope): Promise<void> {
  await pipeline.run(slots, scope)
}

/** Runs the `finally` stages, each of them even when another fails; failures are logged and answered. Never rejects. */
export async function finish(
  pipeline: CompiledPipeline,
  slots: Bag,
  scope: RunScope,
): Promise<readonly GatewayError[]> {
  const failures: GatewayError[] = []
  for (const step of pipeline.finally) {
    try {
      const pending = step(slots, scope)
      if (pending !== undefined) await pending
    } catch (thrown) {
      const error = asGatewayError(thrown)
      pipeline.log.error({ err: error.cause ?? error, id: scope.id, at: error.at }, 'a stage failed after the exchange')
      failures.push(error)
    }
  }
  return failures
}

/** Steps one after the other. */
export function sequence(steps: readonly Step[]): Step {
  if (steps.length === 1) return steps[0] as Step
  return (slots, scope) => {
    for (let index = 0; index < steps.length; index++) {
      const pending = (steps[index] as Step)(slots, scope)
      if (pending !== undefined) return rest(steps, index + 1, pending, slots, scope)
    }
    return undefined
  }
}

async function rest(
  steps: readonly Step[],
  from: number,
  first: Promise<void>,
  slots: Bag,
  scope: RunScope,
): Promise<void> {
  await first
  for (let index = from; index < steps.length; index++) {
    const pending = (steps[index] as Step)(slots, scope)
    if (pending !== undefined) await pending
  }
}

/** A built stage with what the engine needs to know of it. */
export interface BuiltStage {
  readonly name: string
  /** `file:line:column`. */
  readonly at: string
  readonly provides: readonly string[]
  readonly run: (slots: Bag, scope: Scope) => Bag | Promise<Bag>
  /** Refuse a stage that gives anything but what it provides. */
  readonly strict: boolean
}

/** A stage as a step: keeps what it provides, its time, and the place of its errors. */
export function stageStep({ name, at, provides, run, strict }: BuiltStage): Step {
  const place = `${at} (${name})`
  const slotNames = provides as readonly SlotName[]
  const keep = (slots: Bag, given: Bag) => {
    if (strict) assertGiven(name, provides, given)
    for (const slot of slotNames) put(slots, slot, given)
  }
  const settle = async (pending: Promise<Bag>, started: number, slots: Bag, scope: RunScope) => {
    try {
      keep(slots, await pending)
    } catch (thrown) {
      throw placed(thrown, place)
    } finally {
      scope.time(name, performance.now() - started)
    }
  }
  return (slots, scope) => {
    const started = performance.now()
    let given: Bag | Promise<Bag>
    try {
      given = run(slots, scope)
      if (!isPromise(given)) keep(slots, given)
    } catch (thrown) {
      scope.time(name, performance.now() - started)
      throw placed(thrown, place)
    }
    if (isPromise(given)) return settle(given, started, slots, scope)
    scope.time(name, performance.now() - started)
    return undefined
  }
}

/** Copies one slot that is there. */
export function put(into: Bag, slot: SlotName, from: Bag): void {
  const value = from[slot]
  if (value !== undefined) (into as Record<string, unknown>)[slot] = value
}

function placed(thrown: unknown, place: string): GatewayError {
  const error = asGatewayError(thrown)
  error.at ??= place
  return error
}

function isPromise(value: Bag | Promise<Bag>): value is Promise<Bag> {
  return typeof (value as Promise<Bag>).then === 'function'
}

function assertGiven(name: string, provides: readonly string[], given: Bag): void {
  const extra = Object.keys(given).filter((slot) => !provides.includes(slot))
  const lacking = provides.filter((slot) => given[slot as SlotName] === undefined)
  if (extra.length + lacking.length === 0) return
  const cause = new Error(
    `stage "${name}" gave [${Object.keys(given).join(', ')}] but provides [${provides.join(', ')}]`,
  )
  throw new GatewayError('internal_error', {}, { cause })
}
