import type { IncomingHttpHeaders } from 'node:http'
import type { Json, JsonObject } from './json.ts'
import type { Candidate, ModelRecord } from './catalog.ts'
import type { Loss, Restore, Unshown } from './translation.ts'
import type { Failure, GatewayError } from './error.ts'
import type { Job } from './key-value.ts'
import type { Leg, LegSink } from './leg.ts'
import type { Operation, ReplyOf, RequestOf } from './operation.ts'
import type { GenerateEvent } from './generate.ts'
import type { Body, BodyReader, HeldBody, Source } from './source.ts'
import type { Bill, Metered } from './usage.ts'

/**
 * Everything that can stand between two stages, by name. A stage says which slots it needs and which it provides,
 * and the check at load proves that each is there. Plugins add slots by declaration merging, under a prefix of theirs
 * (`'acme.cache'`).
 */
export interface Slots {
  ingress: Ingress
  job: Job
  principal: Principal
  request: Envelope
  target: Target
  candidates: readonly Candidate[]
  model: Candidate
  upstream: Upstream
  answer: UpstreamAnswer
  reply: Reply
  measurement: Measurement
  outcome: Outcome
  bill: Bill
}

export type SlotName = keyof Slots

/** A request as it came in. */
export interface Ingress {
  readonly method: string
  /** The canonical path: aliases and trailing slashes are folded. */
  readonly path: string
  /** What stands in the places of its route: `:id` under `id`, all that a `*` at the end stands for under `*`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly transport: 'http' | 'ws'
  /** Address of the peer. */
  readonly remote: string
  /** The protocol of a body that was made here; absent: that of the pipeline's clients. */
  readonly protocol?: string
  /** What stages keep from one message of a WebSocket to the next; forgotten when it closes. */
  readonly session?: Session
  /** What a message of a WebSocket says beside its request: the fields that its protocol cuts out of it. */
  readonly message?: JsonObject
  /**
   * Reads the body once, and lets `reader` read along. Rejects with `request_too_large` beyond `limit` bytes,
   * `unsupported_media_type` for encoded bodies, `overloaded` where there is no room for it.
   */
  body(limit: number): Promise<HeldBody>
  body(limit: number, reader: BodyReader): Promise<Body>
}

/** Values that live as long as a WebSocket. */
export interface Session {
  get(word: string): unknown
  /** `release` runs once, when the value is replaced or deleted or the socket has closed. */
  set(word: string, value: unknown, release?: () => void): void
  delete(word: string): void
}

/** Who asks: a program with an API key, or a member who has signed in. */
export interface Principal {
  readonly kind: 'key' | 'member'
  /** Id of its record. */
  readonly id: string
  readonly name: string
  /** What it may do, such as `admin`; API keys have none. */
  readonly role?: string
  /** Models it may use; undefined: all. */
  readonly models?: ReadonlySet<string>
}

/** A parsed request of a known protocol. */
export interface Envelope {
  readonly operation: Operation
  readonly protocol: string
  readonly model: string
  readonly stream: boolean
  readonly background: boolean
  /** The client's bytes, or those that a stage has rewritten them to. */
  readonly raw: Body
  readonly contentType: string
  /** The client's headers. */
  readonly headers: IncomingHttpHeaders
  /** Where the model's name stands in `raw`, as the bytes of its token; absent when it cannot be spliced. */
  readonly modelAt?: { readonly start: number; readonly end: number }
  /** The body to serve, as parsed or as a stage has completed it; of a form, its text fields. */
  readonly body: JsonObject
  /** The body as the client sent it, for what an answer repeats of it. */
  readonly sent: JsonObject
  /** Whether `raw` says what `body` and `neutral` say: no stage has completed them. */
  readonly exact: boolean
  /** Whether `raw` holds a seal packed here (`packSeal`), which nobody else can read. Found on first use. */
  readonly sealed: boolean
  /** A provider of this origin (`Candidate.origin`) holds what `body` was completed with: to it, `raw` says the same. */
  readonly heldBy?: string
  /**
   * A part of the conversation that is not here, so that at most a provider of the same protocol knows it: the error to
   * answer with where no such provider is asked, or where it does not know it either.
   */
  readonly missing?: GatewayError
  /** The neutral form, made on first use and kept. Throws `invalid_value` where the body has no meaning. */
  neutral<O extends Operation>(operation: O): RequestOf<O>
  /**
   * The same request, completed by what the client did not say: answers do not repeat it. What is missing stays missing;
   * who holds it has to be said again.
   */
  with(change: Completion): Envelope
  /**
   * The request with another text, as if the client had sent that: `change` is applied to what was sent and to what that
   * was completed to, so that no provider, no store and no answer sees the old one. The client's own bytes go to nobody
   * any more. Throws `invalid_request_error` for a form, whose files it could not change.
   */
  rewrite(change: (body: JsonObject) => JsonObject): Envelope
}

/**
 * What a stage completes a request to: another body; another neutral form, which is printed into the body where that is
 * asked for; the neutral form with the files in it that the body goes on naming; or only what is known of it.
 */
export type Completion =
  | { readonly body: JsonObject; readonly heldBy?: string; readonly missing?: GatewayError }
  | { readonly neutral: RequestOf<Operation> }
  | { readonly inlined: RequestOf<Operation> }
  | { readonly missing: GatewayError }

/** What the requested model name stands for. */
export interface Target {
  readonly name: string
  readonly model?: ModelRecord
}

/** A request ready for the provider of `model`. */
export interface Upstream {
  /** Same protocol on both sides: the client's bytes with the model's name replaced. */
  readonly same: boolean
  readonly body?: Body
  readonly contentType?: string
  readonly restore?: Restore
  /** Stop sequences that the provider was not told of: its answer is to be cut there. */
  readonly cuts?: readonly string[]
  readonly losses: readonly Loss[]
  /** It counts on what the provider holds of the conversation. This makes the same request with all of it. */
  whole?(): Upstream
}

/** The provider has begun to answer. It can be read once. `answering` makes one. */
export type UpstreamAnswer = AnswerContent & Answering

/**
 * `whole`: a JSON answer; `events`: a stream of server-sent events whose first one is no failure; `bytes`: anything else
 * (audio), relayed as it comes; `neutral-events`, `neutral-reply`: an answer in neutral form.
 */
export type AnswerContent =
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly body: Json; readonly type: string }
  | { readonly kind: 'events'; readonly source: Source }
  | { readonly kind: 'bytes'; readonly source: Source; readonly type: string }
  | { readonly kind: 'neutral-events'; readonly events: AsyncIterable<GenerateEvent> }
  | {
      readonly kind: 'neutral-reply'
      readonly reply: ReplyOf<Operation>
      /** No provider was asked for it: whatever usage it tells the client of, it costs nothing. */
      readonly unasked?: boolean
    }

/**
 * What stages do with the events of an answer, whatever it is made of. Only `generate` has events: `map` and `watch`
 * throw `unsupported` for any other operation, so a stage that serves others, too, asks first.
 */
export interface Answering {
  readonly operation: Operation
  /** What stages have asked for, in the order in which the events pass through it. */
  readonly handlers: readonly EventHandler[]
  /**
   * The answer with other events: the client, and whoever keeps or measures what the client gets, sees what `make` gives
   * for each. It is called once, when the answer is read. A whole answer passes as the events of a stream, too. The
   * answer is translated, also between equal protocols.
   */
  map(make: () => EventMap): UpstreamAnswer
  /** The same answer; `look` sees its events on their way. Between equal protocols its bytes stay what they are. */
  watch(look: Look): UpstreamAnswer
}

export type EventHandler = { readonly make: () => EventMap } | { readonly look: Look }

/**
 * Changes the events of one answer. Whatever becomes of it, the last event that comes is `finish` or `failure`, once:
 * also when the provider throws, or the client leaves and nobody reads on. The first of these two that is given ends the
 * answer for the client; where none is given for it, the one that came is.
 */
export interface EventMap {
  /** What takes the place of an event. What it throws ends the answer as a failure. */
  event(event: GenerateEvent): Iterable<GenerateEvent>
}

/** Sees the events of one answer, with the same last one. What it throws is logged, and it sees nothing more. */
export type Look = (event: GenerateEvent) => void

/** What the client gets. A `Source` is streamed; anything else is sent whole. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReplyBody
}

export type ReplyBody =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly type: string }
  | {
      readonly kind: 'stream'
      readonly source: Source
      readonly type: string
      /** What may follow the latest chunk when the stream is silent for long; undefined: nothing, as inside an event. */
      readonly keepalive?: () => Uint8Array | undefined
      /**
       * It belongs to something that outlives the exchange and writes to it when it likes. The headers leave at once, and
       * the exchange is over when they have: it holds no configuration, and a gateway that stops ends it.
       */
      readonly lasting?: boolean
    }
  | {
      readonly kind: 'socket'
      /** Joins the client, whose socket is open, and answers who hears it. For routes that say `socket: relay`. */
      attach(client: Leg): LegSink
    }
  | { readonly kind: 'none' }

/** Tells, once the answer has left, what it turned out to be. Its losses are those of the answer alone. */
export interface Measurement {
  read(): Metered & { readonly complete: boolean; readonly failure?: Failure; readonly losses: readonly Loss[] }
  /** What the client's protocol does not show of the answer, once its last event was written. */
  unshown?(): Unshown | undefined
}

/** How an exchange ended. Made once, when the last byte left or the client went away. */
export interface Outcome {
  /** Status the client saw. */
  readonly status: number
  /** `client_closed`: the client left first; `failed`: an error was answered or the stream broke. */
  readonly result: 'completed' | 'failed' | 'client_closed'
  readonly error?: { readonly code: string; readonly message: string; readonly at?: string }
  /** Milliseconds from the first byte of the request. */
  readonly firstByte?: number
  readonly duration: number
  readonly bytes: number
}
