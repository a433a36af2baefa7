import type { Outcome, Reply, ReplyBody, Slots } from './slots.ts'

/** How long a sub-exchange may take, and how large its answer may be. */
export interface DispatchOptions {
  /** Milliseconds for its stages and its reply; then its error is `stage_timeout` (504). Default: what its stages may take. */
  readonly deadline?: number
  /** Most bytes of a streamed reply. Default: 64 MiB. */
  readonly limit?: number
}

/** A sub-exchange that is over. */
export interface Dispatched {
  /** Id of its exchange, and of its row in the request log. */
  readonly id: string
  /** Its slots as its stages left them. */
  readonly slots: Readonly<Partial<Slots>>
  /** `outcome.error` says whether it failed. */
  readonly outcome: Outcome
  /** What a client would have got; of one that failed, the error in its protocol. Absent: its pipeline gives no reply. */
  readonly reply?: WholeReply
}

/** A reply that is no stream any more. */
export interface WholeReply extends Omit<Reply, 'body'> {
  readonly body: Extract<ReplyBody, { readonly kind: 'json' | 'bytes' | 'none' }>
}
