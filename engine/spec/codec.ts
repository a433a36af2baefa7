import type { ModelRecord } from './catalog.ts'
import type { ErrorDialect, ErrorParser, ErrorPrinter, Failure } from './error.ts'
import type { Json, JsonObject } from './json.ts'
import type { EventOf, Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Part } from './part.ts'
import type { Offer } from './open-provider.ts'
import type { Relaying } from './relaying.ts'
import type { Frame } from './source.ts'
import type { Asked, EventParser, EventPrinter, PrintTarget, Printed, Restore } from './translation.ts'

/** What is wrong with a body: the place, such as `questions[2].name`, and what is the matter there. */
export interface Flaw {
  readonly param: string
  /** Goes on after "Invalid value at …: "; no full stop. */
  readonly reason: string
}

/** What every body says, whatever its protocol. */
export interface Head {
  readonly model: string
  readonly stream: boolean
  readonly background: boolean
}

/** How a protocol speaks over a WebSocket: a message of the client is a request, and its answer one or more messages. */
export interface SocketDialect {
  /** Top-level fields of a message that are no part of its request: cut out of its text, kept as `ingress.message`. */
  readonly fields: readonly string[]
  /** What the request says in their place, given their values. Throws for a message that stands for no request. */
  request(fields: JsonObject): JsonObject
  /** Writes the answer to one message, given the same values, as far as they could be read. */
  printer(fields: JsonObject): SocketPrinter
}

/** Writes one answer as messages: JSON text each; undefined where nothing is to be said. */
export interface SocketPrinter {
  /** An event of a stream. */
  event(frame: Frame): string | undefined
  /** A whole answer, or an error in the shape of the protocol; `headers` are those it would have over HTTP. */
  whole(status: number, body: Json, headers: Readonly<Record<string, string>>): string | undefined
  /** There is no more to come: what the answer lacks, if it does. */
  end(): string | undefined
  /** The last message was written: the client may send the next request. */
  readonly ended: boolean
}

/** What every codec says of itself. */
export interface Protocol<O extends Operation = Operation> {
  /** The word in YAML (`parse: { protocol }`) and in a provider's offers. */
  readonly protocol: string
  readonly operation: O
  readonly summary: string
}

/** The half of a codec that speaks with clients: reads their requests, writes answers, streams and errors for them. */
export interface ClientCodec<O extends Operation = Operation> extends Protocol<O>, Partial<Relaying> {
  /** `json` unless the body is a form with files. */
  readonly content?: 'json' | 'multipart' | 'either'
  /** A header that carries the request id on every answer, beside `x-request-id`. */
  readonly idHeader?: string
  /** A header that its clients send with every request: on routes of no protocol they get errors in its dialect. */
  readonly clientHeader?: string
  /**
   * Further headers that its clients send, `*` at the end for any rest: pages of other sites that may ask
   * (`server_config.cors`) may send them.
   */
  readonly headers?: readonly string[]
  /** JSON Schema (draft 2020-12) of a request body; unknown fields are allowed unless the protocol forbids them. */
  readonly schema: JsonObject
  /** What no schema can say of a body: the first thing wrong with one that the schema accepts. */
  check?(body: JsonObject): Flaw | undefined
  /** What else a body that is refused seems to be, as a sentence that says where it belongs. */
  mistaken?(body: JsonObject): string | undefined
  /**
   * The body with an instruction before or after those it has; absent: the protocol has none. Where a body that nobody has
   * checked yet holds something else in their place, it stays as it is.
   */
  instruct?(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject
  /** Reads what the gateway needs of any valid body. */
  head(body: JsonObject): Head
  readonly error: ErrorPrinter
  /** What tells the client of a stream that it goes on though nothing has come for long; absent: a comment does. */
  readonly keepalive?: Frame
  /** How it speaks over a WebSocket; a protocol without it takes and sends the JSON of its bodies and events. */
  readonly socket?: SocketDialect
  /** Absent, like `reply` and `events`, where an operation has no neutral form: such a protocol only meets itself. */
  readonly request?: {
    parse(body: JsonObject): RequestOf<O>
    /** Writes one that a stage has completed, as its client would have. */
    print(request: RequestOf<O>, target: PrintTarget): Printed<JsonObject>
    /** Names of members of a body that hold JSON of the client's own, which prints as it stood: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** Names of members of a body that speak to the gateway: a completed request has them as the client sent them. */
    readonly asSent?: readonly string[]
    /** Whether a body asks for the provider's search of the web. */
    searches?(body: JsonObject): boolean
  }
  readonly reply?: {
    print(reply: ReplyOf<O>, asked: Asked): Printed<JsonObject>
  }
  readonly events?: {
    printer(asked: Asked): EventPrinter<EventOf<O>>
  }
}

/** The half of a codec that speaks with upstreams: writes requests for them, reads their answers, streams and errors. */
export interface UpstreamCodec<O extends Operation = Operation> extends Protocol<O> {
  /** Where upstreams serve it; absent: each provider that offers it knows where. */
  readonly address?: UpstreamAddress
  /** How the events of a stream stand in its bytes. Unset: `sse`. */
  readonly framing?: Framing
  /** What a good answer is: `json` (the default), `text` of any type (a transcript), or `bytes` to relay (audio). */
  readonly answers?: 'json' | 'text' | 'bytes'
  /** What offers may say of their upstreams, by name: a JSON Schema with description and default of each. */
  readonly traits?: Readonly<Record<string, JsonObject>>
  readonly error: ErrorParser
  /** The failure that a stream's frame announces, if it does: seen on the first frame, a retry is still possible. */
  failed?(frame: Frame): Failure | undefined
  readonly request?: {
    /**
     * Fields of a model's record that its requests have to know, with what holds for a model that does not name them:
     * the rest of a sentence, which `check` tells.
     */
    readonly assumes?: { readonly [F in keyof ModelRecord]?: string }
    print(request: RequestOf<O>, target: PrintTarget): Printed<JsonObject>
    /** Whether a file or sound given by its address is to be fetched first: the offer takes its bytes, but no address. */
    inlines?(part: Part, offer: Offer): boolean
  }
  readonly reply?: {
    /** Names of members of an answer that hold JSON of the model's own, which prints as it stood: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** `offer`: whose answer it is; its traits may say how it is to be read. */
    parse(body: Json, restore?: Restore, offer?: Offer): ReplyOf<O>
  }
  readonly events?: {
    parser(restore?: Restore, offer?: Offer): EventParser<EventOf<O>>
  }
}

/** How the events of a stream stand in its bytes: server-sent events, or messages of `application/vnd.amazon.eventstream`. */
export type Framing = 'sse' | 'aws-event-stream'

/** Where an upstream serves a protocol, below its base address. */
export interface UpstreamAddress {
  /** The word in `endpoint_base_urls` under which a provider's settings can move it; unset: the name of the protocol. */
  readonly key?: string
  /** What a base address without a path gets before it. Unset: `/v1`. */
  readonly prefix?: string
  /** Such as `/completions`. `{model}` stands for the provider's name for the model. */
  readonly path: string
  /** Where streams are asked for, if elsewhere. */
  readonly streamed?: string
  /** What follows even where the settings give a full address. */
  readonly below?: string
}

/**
 * One protocol of one operation, spoken on both sides: reads and writes its requests, answers, streams and errors.
 * `request`, `reply` and `events` are absent where an operation has no neutral form; such a protocol only meets itself.
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

/** Declares a codec that speaks with clients alone. */
export function defineClientCodec<O extends Operation>(codec: ClientCodec<O>): ClientCodec<O> {
  return codec
}

/** Declares a codec that speaks with upstreams alone. */
export function defineUpstreamCodec<O extends Operation>(codec: UpstreamCodec<O>): UpstreamCodec<O> {
  return codec
}
