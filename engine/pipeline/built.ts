import type { StagePlace } from '../spec/scope.ts'
import type { SlotName } from '../spec/slots.ts'
import type { Attempt } from './attempt.ts'
import type { Bag } from './bag.ts'
import type { ReadyStage } from './run.ts'

/** A step whose stages are built. A `Program` runs it; with listeners, the interpreter does (`interpret.ts`). */
export type Built =
  | BuiltStep
  /** The stage that a request needs. */
  | { readonly kind: 'found'; readonly find: (slots: Bag) => BuiltStep }
  | { readonly kind: 'steps'; readonly steps: readonly Built[] }
  | { readonly kind: 'limited'; readonly step: Built; readonly limit: number }
  | { readonly kind: 'switch'; readonly arms: readonly BuiltArm[] }
  | BuiltAttempt

/** A stage at its place. */
export interface BuiltStep {
  readonly kind: 'stage'
  readonly stage: ReadyStage
  readonly place: StagePlace
  /** `file:line:column`. */
  readonly at: string
  /** In `finally`: the slots that other stages of it give. Without one of them it is skipped. */
  readonly needs: readonly SlotName[]
}

export interface BuiltArm {
  readonly matches: (slots: Bag) => boolean
  readonly run: Built
}

export interface BuiltAttempt {
  readonly kind: 'attempt'
  readonly attempt: Attempt
  /** The steps of a try. It ends with the first stage that fails, also inside `finally`. */
  readonly run: Built
  /** Whether a try has stages that settle. */
  readonly settles: boolean
  readonly otherwise?: Built
}
