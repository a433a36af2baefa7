import type { Scope } from '../spec/scope.ts'
import type { Settle } from '../spec/stage.ts'
import type { Bag } from './bag.ts'
import type { Settlement } from './settlement.ts'

/** The scope as the engine holds it. */
export interface RunScope extends Scope {
  attempt: number
  /** Adds the time since the last call of `lap` or `begin` to what is reported under `name`. */
  lap(name: string): void
  /** What has passed by now belongs to no stage. */
  begin(): void
  /**
   * Milliseconds on the clock that deadlines go by; it stands still while the client's body is being read.
   * @param now `performance.now()`, where it is known
   */
  clock(now?: number): number
  /** When, on that clock, the steps under way must be done; `Infinity`: whenever they are. */
  deadline: number
  /** Aborts what the stage under way has begun, and nothing else. */
  giveUp(reason: Error): void
  /** What has to be done when the way under way has ended; undefined until a stage is run that settles. */
  settlement: Settlement | undefined
}

/** A step ready to run. It answers a promise only when it has to wait. */
export type Step = (slots: Bag, scope: RunScope) => Promise<void> | undefined

/** What a stage was built to. */
export type StageRun = (slots: Bag, scope: RunScope, settle?: Settle<Bag>) => Bag | Promise<Bag>
