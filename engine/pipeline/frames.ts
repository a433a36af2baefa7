import type { Candidate } from '../spec/catalog.ts'
import { Tries } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import type { Bag } from './bag.ts'
import type { Frame, Running } from './running.ts'
import { settleTry } from './settle.ts'
import { Settlement } from './settlement.ts'

/** Steps with a common timeout. */
export class Limited implements Frame {
  readonly around: Frame | undefined
  readonly at: number
  /** The deadline around it. */
  readonly #outer: number

  constructor({ frame, scope }: Running, at: number, limit: number) {
    this.around = frame
    this.at = at
    this.#outer = scope.deadline
    scope.deadline = Math.min(scope.deadline, scope.clock() + limit)
  }

  leave(run: Running): void {
    run.scope.deadline = this.#outer
    run.frame = this.around
  }

  failed(run: Running, thrown: unknown): never {
    this.leave(run)
    throw thrown
  }
}

/** An `attempt` among the instructions of a program. */
export interface AttemptAt {
  readonly attempt: Attempt
  /** Whether a try has stages that settle. */
  readonly settles: boolean
  /** Its instruction, and the first one of a try. */
  readonly at: number
  readonly start: number
  /** The first one of `otherwise`. */
  readonly otherwise: number | undefined
}

/** The tries of an `attempt`. */
export class Trying implements Frame {
  readonly around: Frame | undefined
  readonly at: number
  readonly #given: AttemptAt
  readonly #tries: Tries
  /** The slots, and what has to be settled, around it. */
  readonly #slots: Bag
  readonly #outer: Settlement | undefined

  constructor({ frame, slots, scope }: Running, given: AttemptAt) {
    this.around = frame
    this.at = given.at
    this.#given = given
    this.#tries = new Tries(given.attempt, slots, scope)
    this.#slots = slots
    this.#outer = given.settles ? (scope.settlement ??= new Settlement(scope.id)) : undefined
  }

  /** Begins the first try. */
  begin(run: Running): number {
    return this.#try(run, this.#tries.first())
  }

  /** A try has succeeded. */
  end(run: Running): void {
    const { scope, slots } = run
    if (this.#outer) {
      scope.settlement?.join(this.#outer)
      scope.settlement = this.#outer
    }
    this.#tries.end()
    this.#given.attempt.take(this.#slots, slots)
    this.#leave(run)
  }

  failed(run: Running, thrown: unknown): number {
    return run.find(this.#next(run, thrown))
  }

  /** Begins a try with a candidate. */
  #try(run: Running, model: Candidate): number {
    const { scope } = run
    run.slots = { ...this.#slots, model }
    if (this.#outer) scope.settlement = new Settlement(scope.id)
    scope.attempt = this.#tries.number
    return this.#given.start
  }

  /** The first instruction of the next try, or of `otherwise`. */
  async #next(run: Running, thrown: unknown): Promise<number> {
    const { scope, slots } = run
    try {
      const own = scope.settlement
      if (this.#outer && own && own !== this.#outer) await settleTry(own, this.#outer, slots, scope, thrown)
      return this.#try(run, await this.#tries.next(thrown))
    } catch (last) {
      const { attempt, otherwise } = this.#given
      this.#leave(run)
      if (otherwise === undefined || !attempt.rescues(last, scope)) throw last
      return otherwise
    }
  }

  #leave(run: Running): void {
    run.slots = this.#slots
    run.frame = this.around
  }
}
