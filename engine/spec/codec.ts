import type { DecideQuestion } from './decide.ts'
import type { Json, JsonObject } from './json.ts'
import type { ErrorDialect, Failure } from './error.ts'
import type { EventOf, Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Frame } from './source.ts'
import type { Envelope } from './slots.ts'
import type { Metered, Units } from './usage.ts'
import type { ModelRecord } from './catalog.ts'
import type { Offer } from './provider.ts'
import type { Part } from './part.ts'

/** A field of a request or an answer that could not be carried over, and why. */
export interface Loss {
  readonly field: string
  readonly because: string
}

/** What a client is not shown of items of its answer, though later turns need it: by the items' ids. */
export type Unshown = ReadonlyMap<string, string>

/** Something printed in a protocol, with what was lost on the way. */
export interface Printed<T> {
  readonly body: T
  readonly losses: readonly Loss[]
  /** Of an answer. */
  readonly unshown?: Unshown
  /** Stop sequences of a request that the upstream cannot be told of: its answer is to be cut there. */
  readonly cuts?: readonly string[]
  /** What the same codec needs to read the answer to this request back in the client's names. */
  readonly restore?: Restore
}

/** Names that were changed on the way to an upstream, by the name the upstream sees. */
export interface Restore {
  /** The questions whose answer it is. */
  readonly questions?: readonly DecideQuestion[]
  readonly tools: ReadonlyMap<
    string,
    { readonly name: string; readonly namespace?: string; readonly kind: 'function' | 'custom' }
  >
}

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

/** Whom a request is printed for. */
export interface PrintTarget {
  /** Whether to mark what may be cached for a client whose protocol has no marks: never, where it names a cache, always. */
  readonly caching?: 'off' | 'asked' | 'auto'
  /** The provider's name for the model. */
  readonly model: string
  readonly record: ModelRecord
  readonly offer: Offer
  /** Provider and model family: seals of any other origin are dropped. */
  readonly origin: string
}

/** What a client asked, as far as printing an answer needs it. */
export interface Asked {
  /** The gateway's id of the exchange; an answer's own id derives from it when a protocol must not show the upstream's. */
  readonly id: string
  /** The model to name in the answer. */
  readonly model: string
  readonly stream: boolean
  /** The client's body, unchanged. */
  readonly body: Json
  /** Origin of the answer, for packing its seals. */
  readonly origin: string
}

/** Turns the frames of an upstream into neutral events. Synchronous: one frame in, its events out. */
export interface EventReader<E> {
  read(frame: Frame): Iterable<E>
  /** The upstream closed: what is still to say. A stream cut before its end yields a `failure`. */
  end(): Iterable<E>
}

/** Turns neutral events into the frames of a client. */
export interface EventWriter<E> {
  write(event: E): Iterable<Frame>
  /** Losses met while printing, complete once the last event was written. */
  readonly losses: readonly Loss[]
  /** Complete once the last event was written. */
  readonly unshown?: Unshown
}

/** What the gateway changes of a request that is passed on as its client wrote it. */
export interface Amendment {
  /** Top-level fields that the upstream gets in place of the client's own. */
  readonly fields: JsonObject
  /** What the client said and the upstream does not hear. */
  readonly losses?: readonly Loss[]
}

/** Frames of a relayed stream that are for the gateway alone, because its client has not asked for them. */
export interface Hidden {
  /** What stands in the bytes of each of them, and nearly never in those of others. */
  readonly sign: Buffer
  is(frame: Frame): boolean
}

/** Keeps one relayed stream legal. What is legal stays what its upstream sent, byte for byte. */
export interface StreamGuard {
  /** What the client gets of whole events whose lines end in LF. */
  pass(events: Buffer): Uint8Array
  /** Whether an event with this beginning may pass that is too large to be looked at as a whole. */
  large(beginning: Buffer): boolean
  /** Frames that the stream lacks, now that its upstream has ended it, or that it broke for the reason given. */
  end(failure?: Failure): readonly Frame[]
}

/** How a protocol speaks over a WebSocket: a message of the client is a request, and its answer one or more messages. */
export interface SocketDialect {
  /** Top-level fields of a message that are no part of its request: cut out of its text, kept as `ingress.message`. */
  readonly fields: readonly string[]
  /** What the request says in their place, given their values. Throws for a message that stands for no request. */
  request(fields: JsonObject): JsonObject
  /** Writes the answer to one message, given the same values, as far as they could be read. */
  writer(fields: JsonObject): SocketWriter
}

/** Writes one answer as messages: JSON text each; undefined where nothing is to be said. */
export interface SocketWriter {
  /** An event of a stream. */
  event(frame: Frame): string | undefined
  /** A whole answer, or an error in the shape of the protocol; `headers` are those it would have over HTTP. */
  whole(status: number, body: Json, headers: Readonly<Record<string, string>>): string | undefined
  /** There is no more to come: what the answer lacks, if it does. */
  end(): string | undefined
  /** The last message was written: the client may send the next request. */
  readonly ended: boolean
}

/**
 * One protocol of one operation: reads and writes its requests, answers, streams and errors.
 * `request`, `reply` and `events` are absent where an operation has no neutral form; such a protocol only meets itself.
 */
export interface Codec<O extends Operation = Operation> {
  /** The word in YAML (`parse: { protocol }`) and in a provider's offers. */
  readonly protocol: string
  readonly operation: O
  readonly summary: string
  /** `json` unless the body is a form with files. */
  readonly content?: 'json' | 'multipart' | 'either'
  /** What a good answer is: `json` (the default), `text` of any type (a transcript), or `bytes` to relay (audio). */
  readonly answers?: 'json' | 'text' | 'bytes'
  /** A header that carries the request id on every answer, beside `x-request-id`. */
  readonly idHeader?: string
  /** A header that its clients send with every request: on routes of no protocol they get errors in its dialect. */
  readonly clientHeader?: string
  /** JSON Schema (draft 2020-12) of a request body; unknown fields are allowed unless the protocol forbids them. */
  readonly schema: JsonObject
  /** What offers may say of their upstreams, by name: a JSON Schema with description and default of each. */
  readonly traits?: Readonly<Record<string, JsonObject>>
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
  readonly error: ErrorDialect
  readonly meter: {
    /** Of a whole answer. */
    reply(body: Json): Metered
    /**
     * Of a streamed answer, given the whole frames at its start and at its end.
     * `complete` is false when the protocol's terminal frame is missing.
     */
    stream(first: readonly Frame[], last: readonly Frame[]): Metered & { readonly complete: boolean }
    /** Of the end of an event that was too large to be kept; undefined when it cannot be the protocol's last one. */
    torn?(end: string): Metered | undefined
    /**
     * What was used beside tokens, as the answer tells it, or else the request: `answer` is the whole answer, or the last
     * event of a streamed one; null where neither could be read.
     */
    units?(request: JsonObject, answer: Json, complete: boolean): Units
    /** Bytes of UTF-8 that the model has said in a frame of a streamed answer, its reasoning and calls included. */
    said?(frame: Frame): number
  }
  /** Where the gateway wants something else than a client whose request and answer are passed on as they are. */
  readonly relay?: {
    /** What else the upstream has to be told, or not to be told. Throws for what must not be passed on to it. */
    amend?(request: Pick<Envelope, 'body' | 'headers'>, offer: Offer): Amendment | undefined
    /** What of the stream the client of this body must not see. */
    hides?(body: JsonObject): Hidden | undefined
  }
  /** The failure that a stream's frame announces, if it does: seen on the first frame, a retry is still possible. */
  failed?(frame: Frame): Failure | undefined
  /** Frames that end a stream which broke after its first byte. */
  fail?(failure: Failure, asked: Asked): readonly Frame[]
  /**
   * Frames that a relayed stream still lacks although its upstream has ended it, or is about to with `[DONE]`; `last` is
   * the latest frame that was passed on.
   */
  close?(asked: Asked, last?: Frame): readonly Frame[]
  /** In place of `fail` and `close`: watches over one relayed stream of a protocol that is strict about how its streams go on and end. */
  guard?(asked: Asked): StreamGuard
  /** What tells the client of a stream that it goes on though nothing has come for long; absent: a comment does. */
  readonly keepalive?: Frame
  /** How it speaks over a WebSocket; a protocol without it takes and sends the JSON of its bodies and events. */
  readonly socket?: SocketDialect
  readonly request?: {
    parse(body: JsonObject): RequestOf<O>
    /**
     * Fields of a model's record that its requests have to know, with what holds for a model that does not name them:
     * the rest of a sentence, which `check` tells.
     */
    readonly assumes?: { readonly [F in keyof ModelRecord]?: string }
    print(request: RequestOf<O>, target: PrintTarget): Printed<JsonObject>
    /** Names of members of a body that hold JSON of the client's own, which prints as it stood: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** Whether a file or sound given by its address is to be fetched first: the offer takes its bytes, but no address. */
    inlines?(part: Part, offer: Offer): boolean
    /** Whether a body asks for the provider's search of the web. */
    searches?(body: JsonObject): boolean
  }
  readonly reply?: {
    /** Names of members of an answer that hold JSON of the model's own, which prints as it stood: `Verbatim`. */
    readonly verbatim?: ReadonlySet<string>
    /** `offer`: whose answer it is; its traits may say how it is to be read. */
    parse(body: Json, restore?: Restore, offer?: Offer): ReplyOf<O>
    print(reply: ReplyOf<O>, asked: Asked): Printed<JsonObject>
  }
  readonly events?: {
    reader(restore?: Restore, offer?: Offer): EventReader<EventOf<O>>
    writer(asked: Asked): EventWriter<EventOf<O>>
  }
}

// A registry holds codecs of every operation; each is used only with its own operation's forms.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyCodec = Codec<any>

/** Declares a codec; the type parameter follows from `operation`. */
export function defineCodec<O extends Operation>(codec: Codec<O>): Codec<O> {
  return codec
}
