import type { Lap, Scope, StagePlace } from '../spec/scope.ts'
import type { Settle } from '../spec/stage.ts'
import type { Bag } from './bag.ts'
import type { Pending } from './later.ts'
import type { Settlement } from './settlement.ts'

/** The scope as the engine sees it. */
export interface RunScope extends Scope {
  attempt: number
  tries?: Scope['tries']
  /** A stage has ended. Adds the time since the last call of `lap` or `begin` to its timing. */
  lap(stage: StagePlace, outcome: Lap['outcome']): void
  /** Starts measuring; earlier time is attributed to no stage. */
  begin(): void
  /**
   * Milliseconds on the clock of deadlines, which is paused while the client's body is being read.
   * @param now `performance.now()`, if the caller has it
   */
  clock(now?: number): number
  /** Time on that clock by which the running steps must finish; `Infinity`: no deadline. */
  deadline: number
  /** Aborts whatever the running stage has started, and nothing else. */
  giveUp(reason: Error): void
  /** What has to be settled when the current path ends; undefined until a settling stage runs. */
  settlement: Settlement | undefined
}

/** A step ready to run. Returns something to wait for only if it has to wait. */
export type Step = (slots: Bag, scope: RunScope) => Pending | undefined

/** The function that building a stage returned. */
export type StageRun = (slots: Bag, scope: RunScope, settle?: Settle<Bag>) => Bag | Promise<Bag>
