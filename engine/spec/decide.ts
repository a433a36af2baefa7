import type { Json, JsonObject } from './json.ts'
import type { Rest } from './tool.ts'
import type { Usage } from './usage.ts'

/** The neutral form of the operation `decide`: typed questions about common evidence. */
export interface DecideRequest {
  /** Messages in order, each a list of parts. */
  readonly evidence: readonly (readonly Evidence[])[]
  readonly questions: readonly DecideQuestion[]
  /** Fields of the client's body that only its own protocol has, and the name of that protocol. */
  readonly rest?: Rest
}

/** A part of the evidence: text, structured data, or an image as base64. */
export type Evidence =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'data'; readonly value: JsonObject | readonly Json[] }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string; readonly detail?: string }

export type DecideQuestion = PredicateQuestion | ChoiceQuestion | ScoreQuestion

interface Question {
  /** Unique in its request; absent: the answer is identified by its position only. */
  readonly name?: string
  readonly instructions: string
}

/** A yes-or-no question. */
export interface PredicateQuestion extends Question {
  readonly type: 'predicate'
  /** What yes and no mean. */
  readonly rubric?: { readonly yes?: string; readonly no?: string }
}

/** A question with several options. Values stay distinct when booleans are written as text. */
export interface ChoiceQuestion extends Question {
  readonly type: 'choice'
  readonly choices: readonly { readonly value: string | boolean; readonly description?: string }[]
}

/** A question on an ordered scale, lowest level first. */
export interface ScoreQuestion extends Question {
  readonly type: 'score'
  readonly levels: readonly { readonly label: string; readonly description?: string }[]
}

/** The answers to a request. */
export interface DecideReply {
  readonly model?: string
  /** One per question, in the same order. */
  readonly answers: readonly DecideAnswer[]
  /** Absent: the upstream reported none. */
  readonly usage?: Usage
  /** The usage exactly as the upstream reported it. */
  readonly rawUsage?: JsonObject
}

/**
 * Options are identified by their index in the question. Probabilities are from 0 to 1, one per option, in the same
 * order. `assumed`: the upstream reported none, so the chosen option has 1.
 */
export type DecideAnswer =
  | { readonly type: 'predicate'; readonly probability: number }
  | {
      readonly type: 'choice'
      readonly choice: number
      readonly probabilities: readonly number[]
      readonly assumed?: true
      /** Absent: the upstream reported none. */
      readonly confidence?: number
    }
  | {
      readonly type: 'score'
      /** The mean of the indices, weighted by their probabilities; it may lie between two levels. */
      readonly score: number
      readonly probabilities: readonly number[]
      readonly assumed?: true
      readonly confidence?: number
    }
  /** The model declined to answer the question. */
  | { readonly type: 'refusal' }
