import type { Json, JsonObject, Mode } from '../../engine/index.ts'
import type { Tier } from './settings.ts'

/** How a request for a virtual model was decided. Costs are predicted, in USD; null: unknown. */
export interface Decision {
  readonly mode: Mode
  /** After the judge, floors and caps. */
  readonly tier: Tier
  readonly complexity: number
  /** That of the signals. */
  readonly confidence: number
  /** Name of the model that is asked first. */
  readonly chosen: string
  /** All models in the order in which they are asked. */
  readonly candidates: readonly string[]
  /** Whether the choice is a trial, or differs from the best one by means. */
  readonly explored: boolean
  readonly estimate: {
    readonly input: number
    readonly output: number
    readonly cost: number | null
    readonly baseline: string | null
    readonly baseline_cost: number | null
  }
  /** What the probability of the choice follows from. */
  readonly propensity: JsonObject
  readonly scorecards: readonly Json[]
  /** Parts of the reasoning, in their order. */
  readonly notes: readonly string[]
}

declare module '../../engine/index.ts' {
  interface Slots {
    /** How a request for a virtual model was decided. */
    decision: Decision
  }
}
