import type { Logger } from 'pino'
import { isPromise } from './bag.ts'
import type { Bag } from './bag.ts'
import { stopLate, unwatch, watch } from './deadline.ts'
import type { Waiting } from './deadline.ts'
import { Failed } from './finish.ts'
import { Later } from './later.ts'
import type { Pending } from './later.ts'
import type { ReadyStage } from './run.ts'
import type { RunScope } from './step.ts'

/** Returned by an instruction that waits: the run goes on later, elsewhere. */
export const waits = -1

/** One act of a run. Returns the index of the next one, or `waits`. */
export type Instruction = (run: Running) => number

/** The place of an instruction, once it is known. */
export interface Label {
  at: number
}

/**
 * Built steps in one row of instructions. What the operator wrote reaches them as values; none of it becomes code.
 */
export interface Program {
  readonly instructions: readonly Instruction[]
  /** By instruction: where the run goes on when it fails; absent: what is around it fails. */
  readonly onwards: readonly (Label | undefined)[]
  /** Whether all steps run even if some fail, as in `finally`. */
  readonly each: boolean
  readonly log: Logger
}

/** Steps around the present instruction that have to act when it fails. */
export interface Frame {
  /** The frame around it. */
  readonly around: Frame | undefined
  /** The instruction that began it. */
  readonly at: number
  /** Leaves the frame. Returns the instruction to go on with, or throws. */
  failed(run: Running, thrown: unknown): number
}

/**
 * One run of a program: a single object holds all that the interpreter keeps in closures. It is what its caller waits
 * for, and what is checked while a stage waits.
 */
export class Running extends Later implements Waiting {
  readonly #program: Program
  readonly scope: RunScope
  /** The slots of the present path. */
  slots: Bag
  frame: Frame | undefined
  /** The present instruction. */
  #at = 0
  readonly #failed: Failed | undefined
  /** The stage that is waited for, until when, and the instruction after it. */
  #stage: ReadyStage | undefined
  #deadline = 0
  #next = 0
  #ears: Ears | undefined
  before: Waiting | undefined
  after: Waiting | undefined

  constructor(program: Program, slots: Bag, scope: RunScope) {
    super()
    this.#program = program
    this.slots = slots
    this.scope = scope
    this.#failed = program.each ? new Failed(program.log, scope.id) : undefined
  }

  /** Runs the program. Returns and throws as a `Step` does. */
  start(): Pending | undefined {
    return this.#run(0) ? undefined : this
  }

  /** Runs a stage. */
  stage(stage: ReadyStage, next: number): number {
    const { slots, scope } = this
    try {
      const { run } = stage
      const given = run(slots, scope)
      if (isPromise(given)) return this.#wait(stage, given, next)
      stage.take(slots, given, scope)
    } catch (thrown) {
      throw stage.failed(thrown, scope)
    }
    return next
  }

  /** Goes on with the instruction that is found later. */
  find(next: Promise<number>): number {
    next.then(
      (found) => this.#go(found),
      (thrown: unknown) => this.#fall(thrown),
    )
    return waits
  }

  look(now: number): void {
    const { scope } = this
    if (scope.clock(now) < this.#deadline) return
    // What the stage answers now is too late, and it may hold its listeners for long.
    if (this.#ears) this.#ears.run = undefined
    this.#ears = undefined
    this.refuse(stopLate((this.#stage as ReadyStage).name, scope))
  }

  /** What the stage gave that was waited for. */
  give(given: Bag): void {
    unwatch(this)
    const stage = this.#stage as ReadyStage
    try {
      stage.take(this.slots, given, this.scope)
    } catch (thrown) {
      return this.#fall(stage.failed(thrown, this.scope))
    }
    this.#go(this.#next)
  }

  /** The failure of the stage that was waited for. */
  refuse(thrown: unknown): void {
    unwatch(this)
    this.#fall((this.#stage as ReadyStage).failed(thrown, this.scope))
  }

  #wait(stage: ReadyStage, given: PromiseLike<Bag>, next: number): number {
    const { scope } = this
    this.#stage = stage
    this.#next = next
    this.#deadline = Math.min(scope.clock() + stage.timeout, scope.deadline)
    watch(this)
    const ears = (this.#ears ??= new Ears(this))
    // Any other thenable may call back twice, or throw.
    const sure = given instanceof Promise || given instanceof Later ? given : Promise.resolve(given)
    sure.then(ears.given, ears.failed)
    return waits
  }

  /** Runs until a stage waits. Returns whether the end is reached, and throws the failure that ends the program. */
  #run(from: number): boolean {
    const { instructions } = this.#program
    for (let next = from; next < instructions.length;) {
      if (next === waits) return false
      this.#at = next
      try {
        next = (instructions[next] as Instruction)(this)
      } catch (thrown) {
        next = this.#caught(thrown)
      }
    }
    this.#failed?.refuse()
    return true
  }

  /** Goes on after a wait. */
  #go(next: number): void {
    try {
      if (!this.#run(next)) return
    } catch (thrown) {
      return this.fail(thrown)
    }
    this.end()
  }

  /** Goes on after a failure, wherever something around it does. */
  #fall(thrown: unknown): void {
    let next: number
    try {
      next = this.#caught(thrown)
    } catch (last) {
      return this.fail(last)
    }
    this.#go(next)
  }

  /** The instruction to go on with after a failure. Throws if nothing around the failed one goes on. */
  #caught(thrown: unknown): number {
    for (let failure = thrown; ;) {
      const onwards = this.#program.onwards[this.#at]
      if (onwards !== undefined) {
        this.#failed?.add(failure)
        return onwards.at
      }
      const { frame } = this
      if (frame === undefined) throw failure
      this.#at = frame.at
      try {
        return frame.failed(this, failure)
      } catch (again) {
        failure = again
      }
    }
  }
}

/** The listeners of the stages that a run waits for. */
class Ears {
  /** Absent: the stage is late, and must not hold the exchange. */
  run: Running | undefined
  readonly given = (given: Bag) => this.run?.give(given)
  readonly failed = (thrown: unknown) => this.run?.refuse(thrown)

  constructor(run: Running) {
    this.run = run
  }
}
