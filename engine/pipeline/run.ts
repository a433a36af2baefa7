import type { Logger } from 'pino'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { StagePlace } from '../spec/scope.ts'
import type { SlotName } from '../spec/slots.ts'
import { isPromise, puts } from './bag.ts'
import type { Bag, Put } from './bag.ts'
import { unwatch, waitForStage } from './deadline.ts'
import type { Route } from './nodes.ts'
import type { RunScope, StageRun, Step } from './step.ts'
import type { Unreached } from './unreached.ts'

/** A pipeline ready to run. */
export interface CompiledPipeline {
  readonly name: string
  readonly summary: string
  readonly file: string
  /** Version of its configuration. */
  readonly version?: string
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

/** A stage, ready to run: what it gives is stored, and its time and the source position of its errors are noted. */
export class ReadyStage {
  readonly name: string
  readonly run: StageRun
  readonly timeout: number
  readonly #built: BuiltStage
  readonly #position: string
  readonly #copies: readonly Put[]
  readonly #others: readonly Put[]

  constructor(built: BuiltStage) {
    const { place, at, provides, gives, run, timeout } = built
    this.name = place.name
    this.run = run
    this.timeout = timeout
    this.#built = built
    this.#position = `${at} (${place.name})`
    this.#copies = puts(provides as readonly SlotName[])
    this.#others = puts(gives as readonly SlotName[])
  }

  /** Stores what it gave. Throws if that is not what it declares. */
  take(slots: Bag, given: Bag, scope: RunScope): void {
    const { place, provides, gives, strict } = this.#built
    if (strict) assertGiven(this.name, provides, gives, given)
    for (const copy of this.#copies) if (!copy(slots, given)) throw notGiven(this.name, provides, given)
    for (const copy of this.#others) copy(slots, given)
    const { answer } = given
    if (answer?.handlers) for (const handler of answer.handlers) handler.at ??= this.#position
    scope.lap(place, 'ok')
  }

  /** Notes that it has failed. Returns the error. */
  failed(thrown: unknown, scope: RunScope): GatewayError {
    scope.lap(this.#built.place, 'failed')
    const error = asGatewayError(thrown)
    error.at ??= this.#position
    return error
  }
}

/** A stage as a step. */
export function stageStep(stage: ReadyStage): Step {
  return async (slots, scope) => {
    try {
      const { run } = stage
      const given = run(slots, scope)
      stage.take(slots, isPromise(given) ? await inTime(stage, given, scope) : given, scope)
    } catch (thrown) {
      throw stage.failed(thrown, scope)
    }
  }
}

function inTime({ name, timeout }: ReadyStage, given: PromiseLike<Bag>, scope: RunScope): Promise<Bag> {
  return new Promise((resolve, reject) => {
    const waiting = waitForStage(name, timeout, scope, reject)
    given.then(
      (late) => {
        if (unwatch(waiting)) resolve(late)
      },
      (thrown: unknown) => {
        if (unwatch(waiting)) reject(thrown)
      },
    )
  })
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
