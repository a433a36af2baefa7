import type { Requester, TableQueries, Tier } from '../../engine/index.ts'
import type { Incumbency, Incumbent } from './continuity.ts'
import type { MeasuredAnswer, Origin, Outcomes } from './measured.ts'
import type { Place } from './place.ts'
import type { Pull, Spent } from './pulls.ts'
import type { Turn } from './turns.ts'
import type { WindowRules } from './windows.ts'

/** What a person says about an answer: it was good enough; a better model was needed; a cheaper one would have done. */
export type Signal = 'ok' | 'weak' | 'strong'

/** What is believed of a model before anything was observed, and what counts of the observations. */
export interface Prior extends WindowRules {
  /** The probability that its answer is good enough. */
  readonly mean: number
}

/** A model's answer is good enough with a probability from Beta(a, b). */
export interface Belief {
  readonly a: number
  readonly b: number
}

/** What is known of a model in a mode and tier. */
export interface Posterior extends Belief {
  /** What the gate of quality takes it for: without what too few API keys or conversations showed. Absent: the same. */
  readonly gate?: Belief
  /** Rows of evidence that count. */
  readonly observations: number
  /** How often it was chosen. */
  readonly pulls: number
}

/** A decision that was answered. */
export interface Decision extends Place {
  /** Id of the request. `model` is the one that served it. */
  readonly id: string
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  /** Id of the API key. */
  readonly key: string | null
  /** The next cheaper model that passed the same gates; null: there was none. */
  readonly cheaper: string | null
}

/** A decision of a turn in a conversation. */
export interface Answered extends Decision {
  /** Id of the conversation; null: there is none. */
  readonly conversation: string | null
  /** User turns so far. */
  readonly turn: number
  /** Hash of what was asked; null: nothing was, in words. */
  readonly ask: string | null
}

/** What an exchange taught, once it is over. */
export interface Seen {
  /** Whose exchange it was; absent: nobody else's. */
  readonly from?: Origin
  /** Each model that was asked, and whether it answered. */
  readonly tries: readonly { readonly model: string; readonly isAnswered: boolean }[]
  /** Absent: there was no complete answer. */
  readonly answer?: MeasuredAnswer
  /** Absent: the request belongs to no conversation. */
  readonly turn?: Turn<Answered>
}

/** A model in a mode and tier of which something is known. */
export interface Known extends Place {
  /** When something was last learned, in milliseconds since 1970. */
  readonly updatedAt: number
  /** How often people said what, and it counted. */
  readonly feedback: Readonly<Record<Signal, number>>
}

/** What the gateway has learned of its models. What it reads in memory agrees with other processes within 5 seconds. */
export interface Experience {
  posterior(place: Place, prior: Prior): Posterior
  /**
   * How a model does now; `hour`: medians, ratios and shares are those of the last full hour.
   * @param key id of the API key that decides, null: none; absent: it is for nobody's decision
   */
  outcomes(model: string, tier: Tier, of: 'now' | 'hour', key?: string | null): Outcomes
  /** Of all processes. */
  readonly spent: Spent
  /** Notes a decision. */
  pulled(pull: Pull): void
  /** Notes how an exchange ended. Never waits. */
  seen(seen: Seen): void
  /** Notes what an answer shows by itself, from 0 to 1. Never waits. */
  observed(decision: Answered, source: 'implicit:schema', reward: 0 | 1): void
  /**
   * Notes what a person said about an answer; at most once per decision. It counts for the next decision, after the
   * commit of the transaction if one is given. Resolves to whether it counts: it does not later than 7 days after the
   * decision.
   */
  reward(decision: Decision, signal: Signal, transaction?: TableQueries): Promise<boolean>
  /** What served a conversation last, within 50 milliseconds. Never rejects. */
  incumbent(conversation: string): Promise<Incumbency>
  /** Notes what served a conversation, for 30 minutes. Never waits. */
  keep(conversation: string, incumbent: Incumbent): void
  /** Where anything is known. */
  known(): Promise<readonly Known[]>
  /**
   * Forgets what was learned of a model, or of all (undefined), in every process.
   * @returns of how many modes and tiers something was known
   */
  reset(model: string | undefined, by: Requester): Promise<number>
}

declare module '../../engine/index.ts' {
  interface Services {
    experience: Experience
  }
}
