import type { Logger } from 'pino'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { StagePlace } from '../spec/scope.ts'
import type { SlotName } from '../spec/slots.ts'
import { isPromise, puts } from './bag.ts'
import type { Bag } from './bag.ts'
import { unwatch, waitForStage } from './deadline.ts'
import { Later } from './later.ts'
import type { Pending } from './later.ts'
import type { Route } from './nodes.ts'
import type { RunScope, StageRun, Step } from './step.ts'
import type { Unreached } from './unreached.ts'

/** A pipeline ready to run. */
export interface CompiledPipeline {
  readonly name: string
  readonly summary: string
  readonly file: string
  /** The protocol that clients of its routes speak. */
  readonly protocol?: string
  /** Whether a WebSocket is one exchange. */
  readonly relays: boolean
  readonly public: boolean
  readonly routes: readonly Route[]
  readonly inputs: readonly string[]
  readonly run: Step
  /** Its leading steps up to the one that authenticates the client; empty if the pipeline authenticates no one. */
  readonly access: Step
  readonly finally: readonly Step[]
  /** What its stages do when the exchange failed before they were reached. */
  readonly unreached: readonly Unreached[]
  readonly log: Logger
  /** Returns `text` with all known secrets redacted. */
  readonly scrub: (text: string) => string
}

/**
 * Runs the stages of a pipeline. The slots they provide are added to `slots`, even if a later stage fails. Rejects
 * with the `GatewayError` of the stage that failed; its `at` is set.
 */
export async function execute(pipeline: CompiledPipeline, slots: Bag, scope: RunScope): Promise<void> {
  await pipeline.run(slots, scope)
}

/** Runs steps in order. */
export function sequence(steps: readonly Step[]): Step {
  if (steps.length === 1) return steps[0] as Step
  return (slots, scope) => {
    for (let index = 0; index < steps.length; index++) {
      const pending = (steps[index] as Step)(slots, scope)
      if (pending !== undefined) return new Rest(steps, index, slots, scope).after(pending)
    }
    return undefined
  }
}

/** The steps after one that waits. */
class Rest extends Later {
  readonly #steps: readonly Step[]
  #index: number
  readonly #slots: Bag
  readonly #scope: RunScope
  readonly #next = () => this.#run()
  readonly #broken = (error: unknown) => this.fail(error)

  constructor(steps: readonly Step[], index: number, slots: Bag, scope: RunScope) {
    super()
    this.#steps = steps
    this.#index = index
    this.#slots = slots
    this.#scope = scope
  }

  after(pending: Pending): this {
    pending.then(this.#next, this.#broken)
    return this
  }

  #run(): void {
    try {
      while (++this.#index < this.#steps.length) {
        const pending = (this.#steps[this.#index] as Step)(this.#slots, this.#scope)
        if (pending !== undefined) return void this.after(pending)
      }
    } catch (error) {
      return this.fail(error)
    }
    this.end()
  }
}

/** A built stage with the data that the engine needs to run it. */
export interface BuiltStage {
  readonly place: StagePlace
  /** `file:line:column`. */
  readonly at: string
  readonly provides: readonly string[]
  /** Slots that it may give in addition. */
  readonly gives: readonly string[]
  readonly run: StageRun
  /** Timeout in milliseconds. */
  readonly timeout: number
  /** Fails a stage that gives slots it does not declare. */
  readonly strict: boolean
}

/** A stage as a step: stores the slots it gives, its time, and the source position of its errors. */
export function stageStep({ place, at, provides, gives, run, timeout, strict }: BuiltStage): Step {
  const { name } = place
  const position = `${at} (${name})`
  const copies = puts(provides as readonly SlotName[])
  const others = puts(gives as readonly SlotName[])
  const failed = (thrown: unknown, scope: RunScope): GatewayError => {
    scope.lap(place, 'failed')
    return placed(thrown, position)
  }
  const assign = (slots: Bag, given: Bag, scope: RunScope) => {
    if (strict) assertGiven(name, provides, gives, given)
    for (const copy of copies) if (!copy(slots, given)) throw notGiven(name, provides, given)
    for (const copy of others) copy(slots, given)
    for (const handler of given.answer?.handlers ?? []) handler.at ??= position
    scope.lap(place, 'ok')
  }
  const wait = (slots: Bag, given: PromiseLike<Bag>, scope: RunScope) => {
    const later = new Later()
    const refuse = (thrown: unknown) => later.fail(failed(thrown, scope))
    const waiting = waitForStage(name, timeout, scope, refuse)
    given.then(
      (late) => {
        if (!unwatch(waiting)) return
        try {
          assign(slots, late, scope)
        } catch (thrown) {
          return refuse(thrown)
        }
        later.end()
      },
      (thrown: unknown) => {
        if (unwatch(waiting)) refuse(thrown)
      },
    )
    return later
  }
  return (slots, scope) => {
    try {
      const given = run(slots, scope)
      if (isPromise(given)) return wait(slots, given, scope)
      assign(slots, given, scope)
    } catch (thrown) {
      throw failed(thrown, scope)
    }
    return undefined
  }
}

function placed(thrown: unknown, position: string): GatewayError {
  const error = asGatewayError(thrown)
  error.at ??= position
  return error
}

function assertGiven(name: string, provides: readonly string[], gives: readonly string[], given: Bag): void {
  if (Object.keys(given).some((slot) => !provides.includes(slot) && !gives.includes(slot)))
    throw notGiven(name, provides, given)
}

/** Reported at the stage that failed to give the slot, not at a later one that needs it. */
function notGiven(name: string, provides: readonly string[], given: Bag): GatewayError {
  const gave = Object.keys(given).filter((slot) => given[slot as SlotName] !== undefined)
  const cause = new Error(`stage "${name}" gave [${gave.join(', ')}] but provides [${provides.join(', ')}]`)
  return new GatewayError('internal_error', {}, { cause })
}
