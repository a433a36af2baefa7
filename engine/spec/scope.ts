import type { GatewayError } from './error.ts'
import type { Json } from './json.ts'
import type { ExchangeFacts, TellingCall } from './call-facts.ts'

/** The part of an exchange that is in no slot: its id, its abort and end, and notes of stages. */
export interface Scope {
  /** The exchange id: the log row's id and the client's `x-request-id`. */
  readonly id: string
  /** Id of the parent exchange, whose stage started this one by `host.dispatch`. */
  readonly parent?: string | undefined
  /** The validated trace context of the request; it is passed on to providers. */
  readonly trace?: TraceContext | undefined
  /**
   * Aborted when the client disconnects or a deadline passes. Created on first use: prefer `onAbort` if a callback
   * suffices.
   */
  readonly signal: AbortSignal
  /**
   * Calls the listener once when the exchange is aborted, or at once if it already is. Returns a function that removes
   * it.
   */
  onAbort(listener: (reason: Error) => void): () => void
  /** Calls the listener once when the exchange has ended in any way, to release resources. */
  onEnd?(listener: () => void): void
  /** Number of the current try, from 1. */
  readonly attempt: number
  /** Says whether another try would follow if this one failed with an error; absent: it is part of no `attempt`. */
  readonly tries?: { follows(error: GatewayError): boolean } | undefined
  /** Milliseconds since the request arrived. */
  elapsed(): number
  /** Adds a fact to the metadata of the log row. Never a secret, never prompt text. */
  note(key: string, value: Json): void
  readonly notes: ReadonlyMap<string, Json>
  /** Adds a header to the answer, whatever that will be: the reply of any stage, or an error. A header of the reply with the same name wins. */
  header(name: string, value: string): void
  /** Adds to the time reported under `name` in `server-timing` and in the log row, beside those of the stages. */
  time(name: string, milliseconds: number): void
  /** What `time` added, in the order of first use. */
  readonly times: readonly Timing[]
  /** The stages that have run so far, in the order of their ends. */
  readonly laps: readonly Lap[]
  /** The call of a provider that began last, for facts about it; absent: nobody listens. */
  readonly call?: TellingCall | undefined
  /** Facts about the exchange itself; absent: nobody listens. */
  readonly told?: ExchangeFacts | undefined
}

/** A run of a stage. */
export interface Lap {
  readonly stage: StagePlace
  /** Milliseconds from the arrival of the request to its start. */
  readonly at: number
  readonly milliseconds: number
  /** Number of the try that it belongs to, from 1; absent: it is part of no try. */
  readonly attempt?: number
  /** `skipped`: a stage of `finally` that needs a slot of a failed one. */
  readonly outcome: 'ok' | 'failed' | 'skipped'
}

/** The place of a stage in a pipeline. */
export interface StagePlace {
  readonly name: string
  /**
   * Words of the steps that lead to it, stable within the pipeline: `generate/attempt/call`. Arms of a `switch` are
   * numbered from 1, and equal neighbours from the second on: `set:2`.
   */
  readonly path: string
  /** Whether it runs once per try of an `attempt`. */
  readonly inTry: boolean
}

/** The time that one operation took. */
export interface Timing {
  readonly name: string
  readonly milliseconds: number
}

/**
 * The parent of an exchange according to its client (W3C Trace Context, sections 3.2 and 3.3): the values of the two
 * headers.
 */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
  /** What a job is told of the trace that it goes on with. Nobody else gets it. */
  readonly labels?: Readonly<Record<string, string>>
}
