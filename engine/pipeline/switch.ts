import type { Bag } from './bag.ts'
import type { Step } from './step.ts'

/** One arm of a switch, ready to run. */
export interface Arm {
  readonly matches: (slots: Bag) => boolean
  readonly run: Step
}

/** Runs the first arm that matches, or nothing. */
export function switchStep(arms: readonly Arm[]): Step {
  return (slots, scope) => {
    for (const arm of arms) if (arm.matches(slots)) return arm.run(slots, scope)
    return undefined
  }
}
