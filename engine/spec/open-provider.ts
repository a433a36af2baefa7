import type { JSONSchema } from 'json-schema-to-ts'
import type { Choice } from './pricing.ts'
import type { ErrorCode } from './error-table.ts'
import type { Json, JsonObject } from './json.ts'
import type { Dialed } from './leg.ts'
import type { EventOf, Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Scope, TraceContext } from './scope.ts'
import type { Body, Source } from './source.ts'

/** Traits of an offer that codecs take into account when they print for it; each codec documents its own. */
export type Traits = Readonly<Record<string, Json>>

/** One operation that a provider offers, and its protocol. */
export interface Offer {
  readonly operation: Operation
  /** Name of a codec; absent: the provider answers the neutral form itself (`Provider.answer`). */
  readonly protocol?: string
  readonly traits?: Traits
  /** Fields of its own by which a client chooses a model, a tier or a paid extra, beside those of the protocol. */
  readonly choices?: readonly Choice[]
}

/**
 * An offer as declared by a provider type: with an operation, or with a protocol, whose codec implies the operation.
 */
export type Offering = Offer | (Omit<Offer, 'operation'> & { readonly protocol: string })

/** A request to an upstream, printed and ready to send. */
export interface Call {
  readonly operation: Operation
  readonly protocol: string
  /** The client's protocol; some upstreams have one address per protocol. */
  readonly clientProtocol?: string
  readonly body: Body
  readonly contentType: string
  readonly stream: boolean
  /** The client's headers if the upstream speaks the same protocol, so that the provider can forward some of them. */
  readonly clientHeaders?: Readonly<Record<string, string | string[] | undefined>>
  /** The provider's name of the model; some addresses contain it. */
  readonly model: string
  /** The clients' name of the model, for error messages; default: `model`. */
  readonly publicName?: string
  /** Name of the model's record, for what is told of the call. */
  readonly record?: string
  /** The trace context to send as the headers `traceparent` and `tracestate`. */
  readonly trace?: TraceContext
  /**
   * Whether it is sent at most once, even if the provider refuses the first of several keys, or had closed the
   * connection before.
   */
  readonly once?: boolean
  /** In milliseconds. */
  readonly timeouts: { readonly firstByte: number; readonly idle: number; readonly total: number }
  readonly scope: Scope
}

/** A request for a socket to an upstream. */
export interface Dial extends Pick<
  Call,
  'operation' | 'protocol' | 'clientHeaders' | 'model' | 'publicName' | 'record' | 'scope' | 'trace'
> {
  /** The query of the address, with the model if the protocol names it there. */
  readonly query: URLSearchParams
  /** Milliseconds until the socket must be open. */
  readonly timeout: number
}

/** An upstream's response: status, headers (lower case), and its body as a source. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Source
}

/** The answer of a neutral provider: an iterable of events, or a whole reply. */
export type NeutralAnswer<O extends Operation> = AsyncIterable<EventOf<O>> | Promise<ReplyOf<O>>

/** A key of a provider that has several, and that is not used at present. */
export interface CoolingKey {
  /** Its last four characters; null if it is too short to show any. */
  readonly hint: string | null
  /** Milliseconds since 1970. */
  readonly until: number
  /** The error code of the answer that it got. */
  readonly because: ErrorCode
}

/**
 * An open provider: a provider type with its configuration. Each of its offers is served by either `send` or `answer`.
 */
export interface Provider {
  /**
   * Sends a call. Resolves when the response headers have arrived. Rejects with `upstream_unreachable`,
   * `upstream_timeout` or `upstream_error`. Aborting `call.scope` closes the upstream socket at once. A body that is
   * cut off fails its source.
   */
  send?(call: Call): Promise<Answer>
  /**
   * Opens a socket. Rejects like `send`. The socket closes at the end of the exchange; before a sink is attached,
   * aborting `scope` closes it, too.
   */
  dial?(dial: Dial): Promise<Dialed>
  /** Answers neutral requests, by operation, for offers without a protocol. */
  readonly answer?: {
    readonly [O in Operation]?: (request: RequestOf<O>, model: string, scope: Scope) => NeutralAnswer<O>
  }
  /** Names of the models at the upstream. */
  models?(signal: AbortSignal): Promise<readonly string[]>
  /** Its keys that are not used at present, if it has several. */
  cooling?(): readonly CoolingKey[]
  close?(): Promise<void>
}

/** A preset of a provider type, as it is shown to choose from. */
export interface ProviderPreset {
  /** The word in `preset`. */
  readonly name: string
  readonly base_url: string
  /** The usual environment variable of the key; absent: no key is needed. */
  readonly env?: string
  /** Its name in telemetry, if that is another one. */
  readonly telemetry?: string
}

/** A type of provider, as far as it can be told without opening one. */
export interface ProviderType {
  readonly name: string
  readonly summary: string
  readonly config: JSONSchema
  readonly secrets?: readonly string[]
  readonly destinations?: readonly string[]
  readonly presets?: readonly ProviderPreset[]
  offers(config: JsonObject): readonly Offering[]
}
