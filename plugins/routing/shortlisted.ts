import type { Tier } from '../../engine/index.ts'
import type { Pooled } from './pool.ts'

/** The model that served a conversation last. It can be stored as JSON. */
export type Incumbent = {
  /** Name of its record. */
  readonly model: string
  /** Of the request that it was chosen for; without `benefit`, that was the complexity. */
  readonly complexity: number
  readonly benefit?: number
  readonly tier: Tier
  /** Share of the input of its last answer that it read from its cache. */
  readonly cached: number
  readonly turns: number
}

/** What is known of a request before it is served. */
export interface Expected {
  /** Estimated tokens of the input. */
  readonly input: number
  /** Most tokens of output that the client allows; undefined: it does not say. */
  readonly maxOutput: number | undefined
  readonly incumbent: Incumbent | undefined
}

/** A model that may serve the request. */
export interface ShortlistEntry extends Pooled {
  /** Whether the circuits of all its places are open. */
  readonly isBroken: boolean
  /** Predicted cost in USD for the tier of the ensemble; null: it has no price. */
  readonly cost: number | null
}

/** How many models a gate has left, and the names of those that it removed. */
export interface GateCount {
  readonly gate: string
  readonly left: number
  readonly removed?: readonly string[]
}

/** The models that may serve a request for a virtual model. */
export interface Shortlist extends Expected {
  /** In the order of the configuration; largest context first if none has enough. Never empty. */
  readonly entries: readonly ShortlistEntry[]
  readonly gates: readonly GateCount[]
  /** Such as `degraded=context`. */
  readonly notes: readonly string[]
  /** Identifies the conversation, beyond this request and without its text; undefined: it is none. */
  readonly conversation: string | undefined
}

declare module '../../engine/index.ts' {
  interface Slots {
    /** The models that may serve a request for a virtual model. */
    shortlist: Shortlist
  }
}
