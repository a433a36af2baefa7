import type { JsonObject, Tier } from '../../engine/index.ts'

/** Why the judge is asked. */
export interface Consultation {
  /** Nobody waits for the answer, and no request is about it. */
  readonly isWarmUp: boolean
  /** The tier of the signals. */
  readonly ensemble: Tier
  readonly shadow: boolean
  readonly gateFired: boolean
  readonly sampled: boolean
}

/** What the judge has said, and what that has cost. */
export interface Judgement {
  /** Whether the upstream was called. */
  readonly asked: boolean
  /** Absent: there is none, and `error` says why. */
  readonly verdict?: Tier
  /** Probabilities of the tiers, of which the sum is 1; absent: the upstream reported none. */
  readonly distribution?: Readonly<Record<Tier, number>>
  /** Probability of the verdict. */
  readonly mass?: number
  /** Such as `http_500` or `abstained`. */
  readonly error?: string
  readonly inputTokens?: number | undefined
  /** In USD, not rounded; undefined: unknown. */
  readonly cost?: number | undefined
  /** The cost is what the upstream says: the judge has no price. */
  readonly isCostTold?: boolean | undefined
}

/** What comes of the judge for one request. */
export interface Verdict {
  /** Of the judge, instead of those of the signals; absent: the signals stand. */
  readonly tier?: Tier
  readonly complexity?: number
  /** For the reasoning, such as `judge=MEDIUM`. */
  readonly notes: readonly string[]
  /** In a preview, in which nobody is asked: whether the judge would be, and a word that says why. */
  readonly wouldAsk?: { readonly ask: boolean; readonly because: string }
  /** Resolves when the call is over and logged; absent: there was none, or it is over. */
  readonly done?: Promise<void>
  /** What the call has cost in USD; undefined: unknown, or it is not over. */
  readonly cost?: number | undefined
  /** What the row of the request tells of it, complete when the call is over; null: the judge was not asked. */
  block(): JsonObject | null
}

declare module '../../engine/index.ts' {
  interface Slots {
    consultation: Consultation
    judgement: Judgement
    verdict: Verdict
  }
}
