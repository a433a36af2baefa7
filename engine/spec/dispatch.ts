import type { Json } from './json.ts'
import type { Outcome, Reply, ReplyBody, Slots } from './slots.ts'

/** Limits for a sub-exchange. */
export interface DispatchOptions {
  /**
   * Milliseconds for its stages and its reply, after which it fails with `stage_timeout` (504). Default: the timeouts
   * of its stages.
   */
  readonly deadline?: number
  /** Maximum bytes of a streamed reply. Default: 64 MiB. */
  readonly limit?: number
}

/** A finished sub-exchange. */
export interface Dispatched {
  /** The id of its exchange, and of its row in the request log. */
  readonly id: string
  /** Its slots at the end. */
  readonly slots: Readonly<Partial<Slots>>
  /** The notes of its stages. */
  readonly notes: ReadonlyMap<string, Json>
  /** `outcome.error` is set if it failed. */
  readonly outcome: Outcome
  /**
   * The reply as a client would have received it; after a failure, the error in its protocol. Absent: its pipeline
   * gives no reply.
   */
  readonly reply?: WholeReply
}

/** A reply read to its end. */
export interface WholeReply extends Omit<Reply, 'body'> {
  readonly body: Extract<ReplyBody, { readonly kind: 'json' | 'bytes' | 'none' }>
}
