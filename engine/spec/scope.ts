import type { Json } from './json.ts'
import type { TraceContext } from './trace.ts'

/** The part of an exchange that belongs to no slot: its id, its end, and what stages want remembered. */
export interface Scope {
  /** Id of the exchange: the log row's id and the client's `x-request-id`. */
  readonly id: string
  /** Id of the exchange that this one is a part of: of the one whose stage began it by `host.dispatch`. */
  readonly parent?: string | undefined
  /** The trace context that came in with the request, checked; it goes on to providers. */
  readonly trace?: TraceContext | undefined
  /** Aborted when the client leaves or a deadline passes. Made on first use: prefer `onAbort` where a callback does. */
  readonly signal: AbortSignal
  /** Calls back once when the exchange is aborted, at once if it is already; the answer removes the callback. */
  onAbort(listener: (reason: Error) => void): () => void
  /** Calls back once when the exchange is over, however it ended: what it holds can be let go. */
  onEnd?(listener: () => void): void
  /** Number of the current try, from 1. */
  readonly attempt: number
  /** Milliseconds since the request arrived. */
  elapsed(): number
  /** Keeps a fact for the log row's metadata. Never a secret, never prompt text. */
  note(key: string, value: Json): void
  readonly notes: ReadonlyMap<string, Json>
  /** Adds to the time reported under `name` in `server-timing` and in the log row. */
  time(name: string, milliseconds: number): void
  /** In the order in which they were first added to. */
  readonly times: readonly Timing[]
}

/** What took how long. */
export interface Timing {
  readonly name: string
  readonly milliseconds: number
}
