import type { Json, JsonObject } from './json.ts'
import type { Rest } from './tool.ts'
import type { Usage } from './usage.ts'

/** The neutral form of the operation `decide`: typed questions about evidence that all of them share. */
export interface DecideRequest {
  /** Messages in the order they were said, each a list of parts. */
  readonly evidence: readonly (readonly Evidence[])[]
  readonly questions: readonly DecideQuestion[]
  /** Fields of the client's body that only its own protocol knows, and that protocol's name. */
  readonly rest?: Rest
}

/** A part of the evidence: text, structured data, or an image as base64. */
export type Evidence =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'data'; readonly value: JsonObject | readonly Json[] }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string; readonly detail?: string }

export type DecideQuestion = PredicateQuestion | ChoiceQuestion | ScoreQuestion

interface Question {
  /** Unique in its request; absent: the answer is told apart by its position alone. */
  readonly name?: string
  readonly instructions: string
}

/** Is it so? */
export interface PredicateQuestion extends Question {
  readonly type: 'predicate'
  /** What yes and no mean. */
  readonly rubric?: { readonly yes?: string; readonly no?: string }
}

/** Which one is it? Values stay distinct when a boolean is written as its word. */
export interface ChoiceQuestion extends Question {
  readonly type: 'choice'
  readonly choices: readonly { readonly value: string | boolean; readonly description?: string }[]
}

/** How much is it? Levels are ordered, lowest first. */
export interface ScoreQuestion extends Question {
  readonly type: 'score'
  readonly levels: readonly { readonly label: string; readonly description?: string }[]
}

/** The answers to a request. */
export interface DecideReply {
  readonly model?: string
  /** One per question, in their order. */
  readonly answers: readonly DecideAnswer[]
  /** Absent: the upstream reported none. */
  readonly usage?: Usage
  /** The upstream's own report. */
  readonly rawUsage?: JsonObject
}

/** Options are named by their index in the question; probabilities are from 0 to 1, one per option in that order. */
export type DecideAnswer =
  | { readonly type: 'predicate'; readonly probability: number }
  | {
      readonly type: 'choice'
      readonly choice: number
      readonly probabilities: readonly number[]
      /** Absent: the upstream reported none. */
      readonly confidence?: number
    }
  | {
      readonly type: 'score'
      /** The average of the indices, weighted by their probabilities; may lie between two levels. */
      readonly score: number
      readonly probabilities: readonly number[]
      readonly confidence?: number
    }
  /** The question was declined. */
  | { readonly type: 'refusal' }
