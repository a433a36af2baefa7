import type { ModelRecord } from './catalog.ts'
import type { Choice } from './pricing.ts'
import type { ErrorDialect, ErrorParser, ErrorPrinter, Failure } from './error.ts'
import type { Json, JsonObject } from './json.ts'
import type { EventOf, Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Part } from './part.ts'
import type { Offer } from './open-provider.ts'
import type { Relaying } from './relaying.ts'
import type { Ingress } from './slots.ts'
import type { Frame } from './source.ts'
import type { Asked, EventParser, EventPrinter, PrintTarget, Printed, Restore } from './translation.ts'

/** A mistake in a body: the place, such as `questions[2].name`, and the reason. */
export interface Flaw {
  readonly param: string
  /** Continues the sentence "Invalid value at …: "; no full stop. */
  readonly reason: string
}

/** The facts that every body states, in any protocol. */
export interface Head {
  readonly model: string
  readonly stream: boolean
  readonly background: boolean
}

/** Fields of a request that its address says. Stages and codecs see them in the body; its bytes never have them. */
export interface Located {
  readonly fields: readonly string[]
  /**
   * Reads them; undefined where the address says none, as in a request that the gateway itself makes: then they are
   * fields of its body. Throws for an address that asks for what is not served.
   */
  read(address: Pick<Ingress, 'path' | 'params' | 'query'>): JsonObject | undefined
  /** Whether a body that has such a field says the same as the address. Absent: a body may not have it. */
  repeats?(stated: Json, located: Json): boolean
}

/** The protocol over a WebSocket: each message of the client is a request, answered by one or more messages. */
export interface SocketDialect {
  /**
   * Top-level fields of a message that are not part of the request. They are cut out of its text and kept as
   * `ingress.message`.
   */
  readonly fields: readonly string[]
  /** Fields to put into the request in their place. Throws when the message is not a request. */
  request(fields: JsonObject): JsonObject
  /** The printer for the answer to one message; gets the same fields, as far as they could be read. */
  printer(fields: JsonObject): SocketPrinter
}

/** Prints one answer as messages. Each method returns a JSON text, or undefined to send nothing. */
export interface SocketPrinter {
  /** An event of a stream. */
  event(frame: Frame): string | undefined
  /** A whole answer, or an error in the form of the protocol; `headers` are those it would have over HTTP. */
  whole(status: number, body: Json, headers: Readonly<Record<string, string>>): string | undefined
  /** The end of the stream: returns the final message if the protocol still requires one. */
  end(): string | undefined
  /** Whether the last message was written, after which the client may send the next request. */
  readonly ended: boolean
}

/** The fields common to all codecs. */
export interface Protocol<O extends Operation = Operation> {
  /** The name used in YAML (`parse: { protocol }`) and in the offers of providers. */
  readonly protocol: string
  readonly operation: O
  readonly summary: string
}

/** The client side of a codec: parses requests, and prints answers, streams and errors. */
export interface ClientCodec<O extends Operation = Operation> extends Protocol<O>, Partial<Relaying> {
  /** Default: `json`; the others are for bodies that are forms with files. */
  readonly content?: 'json' | 'multipart' | 'either'
  /** A response header for the request id, in addition to `x-request-id`. */
  readonly idHeader?: string
  /** Further headers of answers in its protocol, which pages of other origins may read. */
  readonly answerHeaders?: readonly string[]
  /**
   * A header that its clients send with every request: on routes without a protocol, errors are then printed in this
   * protocol.
   */
  readonly clientHeader?: string
  /** Further request headers of its clients; a final `*` matches any rest. Pages with access by CORS (`server_config.cors`) may send them. */
  readonly headers?: readonly string[]
  /** For a protocol whose requests say in their address what others say in fields of the body, as `model`. */
  readonly located?: Located
  /** JSON Schema (draft 2020-12) of a request body; unknown fields are allowed unless the protocol forbids them. */
  readonly schema: JsonObject
  /** Finds the first mistake that a schema cannot express, in a body that the schema accepts. */
  check?(body: JsonObject): Flaw | undefined
  /** For a refused body that looks like another kind of request: a sentence that says where to send it. */
  mistaken?(body: JsonObject): string | undefined
  /**
   * The body with an instruction before or after its own instructions; absent: the protocol has none. Gets
   * unvalidated bodies, too: a body with an unexpected value in that place is returned unchanged.
   */
  instruct?(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject
  /**
   * Fields of a body that limit the tokens of an answer, with dots where they stand in others; the first is the one to
   * set where a client sets none.
   */
  readonly outputLimits?: readonly string[]
  /** Fields of a body by which a client asks for several answers, with dots where they stand in others. */
  readonly answerCounts?: readonly string[]
  /** Fields of a body by which a client chooses a model, a tier or a paid extra. */
  readonly choices?: readonly Choice[]
  /** The facts that the gateway needs of any valid body. */
  head(body: JsonObject): Head
  readonly error: ErrorPrinter
  /** A frame that keeps a silent stream alive; absent: a comment is sent. */
  readonly keepalive?: Frame
  /** The dialect for WebSockets; absent: messages are the JSON of bodies and events. */
  readonly socket?: SocketDialect
  /** The only WebSocket subprotocol to select where clients offer some; absent: the first that is one word. */
  readonly subprotocol?: string
  /**
   * Absent, like `reply` and `events`, if the operation has no neutral form; the protocol can then only be relayed to
   * itself.
   */
  readonly request?: {
    parse(body: JsonObject): RequestOf<O>
    /** Prints a request that a stage has changed, as its client would have written it. */
    print(request: RequestOf<O>, target: PrintTarget): Printed<JsonObject>
    /** Members of a body that hold the client's own JSON, which prints as it was written: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** Members of a body addressed to the gateway: a changed request keeps them as the client sent them. */
    readonly asSent?: readonly string[]
    /** Whether a body requests the provider's web search. */
    searches?(body: JsonObject): boolean
  }
  readonly reply?: {
    print(reply: ReplyOf<O>, asked: Asked): Printed<JsonObject>
  }
  readonly events?: {
    printer(asked: Asked): EventPrinter<EventOf<O>>
  }
}

/** The upstream side of a codec: prints requests, and parses answers, streams and errors. */
export interface UpstreamCodec<O extends Operation = Operation> extends Protocol<O> {
  /** The address at which upstreams serve it; absent: each provider that offers it has its own. */
  readonly address?: UpstreamAddress
  /** The framing of a stream's events. Default: `sse`. */
  readonly framing?: Framing
  /**
   * The body of a successful answer: `json` (default), `text` of any media type (a transcript), or `bytes` to relay
   * (audio).
   */
  readonly answers?: 'json' | 'text' | 'bytes'
  /** Traits that offers may set, by name: a JSON Schema with description and default each. */
  readonly traits?: Readonly<Record<string, JsonObject>>
  readonly error: ErrorParser
  /**
   * The failure that a frame of a stream reports, if any. If the first frame reports it, the request can still be
   * retried.
   */
  failed?(frame: Frame): Failure | undefined
  readonly request?: {
    /**
     * Fields of a model's record that its requests need. The value completes a sentence that `check` prints for a
     * model without that field.
     */
    readonly assumes?: { readonly [F in keyof ModelRecord]?: string }
    /** Maximum of output tokens that it requests where neither the client nor the model's record names one; absent: none. */
    readonly usualOutput?: number
    print(request: RequestOf<O>, target: PrintTarget): Printed<JsonObject>
    /** Whether the gateway must fetch an image, file or sound given by URL first, because the offer takes bytes but no URLs. */
    inlines?(part: Part, offer: Offer): boolean
  }
  readonly reply?: {
    /** Members of an answer that hold the model's own JSON, which prints as it was written: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** @param offer the offer that answered; its traits may matter for parsing */
    parse(body: Json, restore?: Restore, offer?: Offer): ReplyOf<O>
  }
  readonly events?: {
    parser(restore?: Restore, offer?: Offer): EventParser<EventOf<O>>
  }
}

/**
 * Framing of a stream's events: server-sent events, messages of `application/vnd.amazon.eventstream`, or lines of JSON
 * (`application/x-ndjson`), whose events have no name.
 */
export type Framing = 'sse' | 'aws-event-stream' | 'ndjson'

/** The address of an operation below a provider's base address. */
export interface UpstreamAddress {
  /** The key in `endpoint_base_urls` that moves it to another address; default: the name of the protocol. */
  readonly key?: string
  /** Path inserted after a base address without a path. Default: `/v1`. */
  readonly prefix?: string
  /** Such as `/completions`, with a query if it has one. `{model}` stands for the provider's name of the model. */
  readonly path: string
  /** Path for streams, if different. */
  readonly streamed?: string
  /** Path appended even if the settings give a full address. */
  readonly below?: string
  /** Whether it is opened as a WebSocket, by `Provider.dial`. */
  readonly socket?: boolean
}

/**
 * One protocol of one operation, on both sides: parses and prints its requests, answers, streams and errors.
 * `request`, `reply` and `events` are absent if the operation has no neutral form; such a protocol can only be
 * relayed to itself.
 */
export interface Codec<O extends Operation = Operation> extends ClientCodec<O>, UpstreamCodec<O>, Relaying {
  readonly error: ErrorDialect
  readonly request?: NonNullable<ClientCodec<O>['request']> & NonNullable<UpstreamCodec<O>['request']>
  readonly reply?: NonNullable<ClientCodec<O>['reply']> & NonNullable<UpstreamCodec<O>['reply']>
  readonly events?: NonNullable<ClientCodec<O>['events']> & NonNullable<UpstreamCodec<O>['events']>
  readonly meter: Relaying['meter']
}

// A registry holds codecs of every operation; each is used only with its own operation's forms.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyClientCodec = ClientCodec<any>
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyUpstreamCodec = UpstreamCodec<any>
/** A codec of both sides. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyCodec = Codec<any>
/** A codec of both sides, or of one. */
export type EitherCodec = AnyClientCodec | AnyUpstreamCodec

/** Declares a codec; the type parameter follows from `operation`. */
export function defineCodec<O extends Operation>(codec: Codec<O>): Codec<O> {
  return codec
}

/** Declares a codec for the client side only. */
export function defineClientCodec<O extends Operation>(codec: ClientCodec<O>): ClientCodec<O> {
  return codec
}

/** Declares a codec for the upstream side only. */
export function defineUpstreamCodec<O extends Operation>(codec: UpstreamCodec<O>): UpstreamCodec<O> {
  return codec
}
