import type { Json } from './json.ts'
import type { Dialed } from './leg.ts'
import type { EventOf, Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Scope } from './scope.ts'
import type { Body, Source } from './source.ts'
import type { TraceContext } from './trace.ts'

/** Traits of an offer that a codec heeds when it prints for it; each codec documents its own. */
export type Traits = Readonly<Record<string, Json>>

/** One thing a provider can be asked, and in which protocol. */
export interface Offer {
  readonly operation: Operation
  /** A codec's name; absent: the provider answers the neutral form itself (`Provider.answer`). */
  readonly protocol?: string
  readonly traits?: Traits
}

/** What a provider type says that it can be asked: an operation, or a protocol, whose codec names the operation. */
export type Offering = Offer | (Omit<Offer, 'operation'> & { readonly protocol: string })

/** A request to an upstream, printed and ready to send. */
export interface Call {
  readonly operation: Operation
  readonly protocol: string
  /** The protocol the client speaks; some upstreams have an address for each. */
  readonly clientProtocol?: string
  readonly body: Body
  readonly contentType: string
  readonly stream: boolean
  /** The client's own headers when its protocol is spoken upstream too, for those a provider chooses to pass on. */
  readonly clientHeaders?: Readonly<Record<string, string | string[] | undefined>>
  /** The provider's name for the model; some addresses contain it. */
  readonly model: string
  /** What clients call the model, for the words of errors; absent: as the provider does. */
  readonly publicName?: string
  /** The trace context to send along, as the headers `traceparent` and `tracestate`. */
  readonly trace?: TraceContext
  /** Milliseconds. */
  readonly timeouts: { readonly firstByte: number; readonly idle: number; readonly total: number }
  readonly scope: Scope
}

/** A socket to be opened to an upstream. */
export interface Dial extends Pick<
  Call,
  'operation' | 'protocol' | 'clientHeaders' | 'model' | 'publicName' | 'scope' | 'trace'
> {
  /** The client's query. */
  readonly query: URLSearchParams
  /** Milliseconds until it is open. */
  readonly timeout: number
}

/** An upstream's answer as it came: status, headers (lower case), and the bytes of its body over time. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Source
}

/** What a neutral provider answers: events, one by one or whole. */
export type NeutralAnswer<O extends Operation> = AsyncIterable<EventOf<O>> | Promise<ReplyOf<O>>

/** An open provider: a provider type with its configuration. One of `send` and `answer` serves each of its offers. */
export interface Provider {
  /**
   * Sends a call and resolves when the answer's headers arrived.
   * Rejects with `upstream_unreachable`, `upstream_timeout` or `upstream_error`; aborting `call.scope` closes the
   * upstream socket at once. A body that stops arriving fails its source.
   */
  send?(call: Call): Promise<Answer>
  /**
   * Opens a socket. Rejects as `send` does; aborting `scope` before somebody has attached to it closes it, as does the
   * end of the exchange.
   */
  dial?(dial: Dial): Promise<Dialed>
  /** Answers neutral requests, per operation, for offers without a protocol. */
  readonly answer?: {
    readonly [O in Operation]?: (request: RequestOf<O>, model: string, scope: Scope) => NeutralAnswer<O>
  }
  /** Names of the models the upstream has. */
  models?(signal: AbortSignal): Promise<readonly string[]>
  close?(): Promise<void>
}
