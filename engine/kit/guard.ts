import type { ConfigOf, Stability } from '../spec/config.ts'
import type { GenerateRequest } from '../spec/generate.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { Host } from '../spec/host.ts'
import type { Json } from '../spec/json.ts'
import type { AllRecords, RecordReport } from '../spec/record.ts'
import type { Scope } from '../spec/scope.ts'
import type { ServiceName, Views } from '../spec/service.ts'

/** A text that a guard judges. */
export interface JudgedText {
  /** Its place in the request, such as `messages[2].content`, or in the answer, such as `output[0]`. */
  readonly at: string
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  /** UTF-16 index at which what is new begins; what stands before it was judged already. */
  readonly from: number
}

/** A call of a tool by the model. */
export interface JudgedCall {
  readonly id: string
  readonly name: string
  /** JSON text or free text, as the model wrote it. */
  readonly arguments: string
}

/** What a guard judges at a time. */
export interface Judged {
  readonly texts: readonly JudgedText[]
  readonly tool_calls: readonly JudgedCall[]
  /** The tools of a request, in the form of its protocol. */
  readonly tools: readonly Json[]
  readonly side: 'input' | 'output'
  /** Whether nothing follows: a request, a whole answer, or the last window of a stream. */
  readonly final: boolean
  /** Number of the window of a stream, from 0; null: all of it. */
  readonly window: number | null
  readonly request: JudgedRequest
}

/** The request whose texts, or whose answer, a guard judges. */
export interface JudgedRequest {
  readonly id: string
  readonly protocol: string
  readonly operation: string
  readonly model: string
  readonly stream: boolean
  readonly key?: { readonly id: string; readonly name: string; readonly owner?: string }
  readonly tags: Readonly<Record<string, string>>
  readonly end_user: string | null
  /** The client's headers. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The client's body, with what guards have masked; for an answer, the request that it answers. */
  readonly body: Json
  /** Its neutral form, made when it is called. Operation `generate`. */
  neutral?(): GenerateRequest
}

/** A place that a guard has found: UTF-16 indexes into the text of this number. */
export interface Span {
  readonly text: number
  readonly start: number
  readonly end: number
  /** What it is, such as `email`. */
  readonly entity?: string
}

/** What a guard has found. The record decides what follows from it. */
export interface Found {
  readonly hit: boolean
  /** The places, if the kind finds places. */
  readonly spans?: readonly Span[]
  /** Whole texts that take the place of judged ones, by their number. */
  readonly texts?: readonly { readonly text: number; readonly with: string }[]
  readonly category?: string
  /** From 0 to 1. */
  readonly score?: number
  /** For the row of the request, never for the client. Never a part of a text. */
  readonly reason?: string
  /** What the client reads instead of the `message` of the record. */
  readonly message?: string
  /** `flag`: it is only told, whatever the action of the record. */
  readonly action?: 'flag'
}

/** What surrounds a judgement. */
export interface JudgeScope extends Pick<Scope, 'id' | 'trace' | 'onAbort'> {
  /** Aborted when the time of the judgement is over, or the client has left. */
  readonly signal: AbortSignal
  /** Milliseconds that the judgement may take. */
  readonly timeout: number
  /** Whether the record masks, so that places are wanted: otherwise, whether there is one suffices. */
  readonly places: boolean
}

/** Finds something in texts. A throw is a failure of the guard, never a pass. */
export type Judge = (judged: Judged, scope: JudgeScope) => Found | Promise<Found>

/** A kind of guard: its name is the `kind` of records. */
export interface GuardParts<S, U extends ServiceName = never> {
  readonly name: string
  readonly summary: string
  /** Default: `beta`. */
  readonly stability?: Stability
  /** JSON Schema of the fields that its records have beside those of every guard; each has a description. */
  readonly config: S
  /** Fields with a secret value: never shown, and redacted in all output. */
  readonly secrets?: readonly string[]
  /** Fields that decide where secrets are sent, beside addresses. */
  readonly destinations?: readonly string[]
  /** Services whose views it gets. */
  readonly uses?: readonly U[]
  /** Whether it can judge whole answers alone. */
  readonly whole?: boolean
  /** Checks what the schema cannot express. It also runs while services are closed. */
  check?(config: ConfigOf<S>, all: AllRecords, report: RecordReport): void
  /**
   * Most characters of a text that it finds, with the surroundings that it looks at: answers are then streamed without
   * windows. Absent or undefined: it needs windows.
   */
  longest?(config: ConfigOf<S>): number | undefined
  /** Makes the judge of one record, once per configuration. `config` also has the fields of every guard. */
  build(config: ConfigOf<S>, host: Host, services: Views<U>): Judge
}

/** Declares a kind of guard. */
export function defineGuard<const S, const U extends ServiceName = never>(guard: GuardParts<S, U>): AnyGuard {
  return { kind: 'guard', ...guard } as unknown as AnyGuard
}
