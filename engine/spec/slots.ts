import type { IncomingHttpHeaders } from 'node:http'
import type { Json, JsonObject } from './json.ts'
import type { Candidate, Mode, ModelRecord } from './catalog.ts'
import type { Loss, Restore, Unshown } from './translation.ts'
import type { Failure, GatewayError } from './error.ts'
import type { Job } from './key-value.ts'
import type { Leg, LegSink } from './leg.ts'
import type { Principal } from './principal.ts'
import type { Operation, ReplyOf, RequestOf } from './operation.ts'
import type { GenerateEvent, GenerateRequest } from './generate.ts'
import type { Body, BodyReader, Frame, HeldBody, Source } from './source.ts'
import type { Bill, Metered } from './usage.ts'

/**
 * All values that stages can pass on, by name. A stage declares the slots it needs and provides, and loading a
 * pipeline proves that each needed slot is set. Plugins add slots by declaration merging, with a prefix of their own
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

/** A request as it arrived. */
export interface Ingress {
  readonly method: string
  /** The canonical path: without alias and trailing slash. */
  readonly path: string
  /** Values of the route's parameters: `:id` under `id`, the rest matched by a final `*` under `*`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly transport: 'http' | 'ws'
  /** IP address of the peer. */
  readonly remote: string
  /** `1.1`; absent: it did not come by HTTP of its own. */
  readonly httpVersion?: string
  /** The protocol of a body created by the gateway; absent: that of the pipeline's clients. */
  readonly protocol?: string
  /** State that stages keep between the messages of a WebSocket; discarded when it closes. */
  readonly session?: Session
  /** Fields of a WebSocket message that its protocol cuts out because they are not part of the request. */
  readonly message?: JsonObject
  /**
   * Reads the body once; `reader` sees each chunk. Rejects with `request_too_large` beyond `limit` bytes,
   * `unsupported_media_type` for encoded bodies, and `overloaded` when the byte budget is exhausted.
   */
  body(limit: number): Promise<HeldBody>
  body(limit: number, reader: BodyReader): Promise<Body>
}

/** Values with the lifetime of a WebSocket. */
export interface Session {
  get(word: string): unknown
  /** `release` runs once, when the value is replaced or deleted or the socket closes. */
  set(word: string, value: unknown, release?: () => void): void
  delete(word: string): void
}

/** A parsed request of a known protocol. */
export interface Envelope {
  readonly operation: Operation
  readonly protocol: string
  readonly model: string
  readonly stream: boolean
  readonly background: boolean
  /** The client's bytes, or the bytes of a stage that rewrote them. */
  readonly raw: Body
  readonly contentType: string
  /** The client's headers. */
  readonly headers: IncomingHttpHeaders
  /** Byte range of the model name's token in `raw`; absent when it cannot be replaced in place. */
  readonly modelAt?: { readonly start: number; readonly end: number }
  /** The body to serve, as parsed or as changed by a stage; for a form, its text fields. */
  readonly body: JsonObject
  /** The body as the client sent it, from which answers repeat fields. */
  readonly sent: JsonObject
  /** Whether `raw` is equivalent to `body` and `neutral`, that is, no stage has changed them. */
  readonly exact: boolean
  /** Whether `raw` contains a seal of this gateway (`packSeal`), unreadable for providers. Computed on first use. */
  readonly sealed: boolean
  /** The origin (`Candidate.origin`) that stores the content added to `body`: for its provider, `raw` is equivalent. */
  readonly heldBy?: string
  /** What stages took away from the request before its translation. */
  readonly losses: readonly Loss[]
  /**
   * Set if a part of the conversation is stored elsewhere, possibly at a provider of the same protocol: the error to
   * return if no such provider is tried, or if it does not have that part either.
   */
  readonly missing?: GatewayError
  /** The neutral form, created on first use. Throws `invalid_value` for a body without a valid meaning. */
  neutral<O extends Operation>(operation: O): RequestOf<O>
  /**
   * The same request with content that the client left out; answers do not repeat it. `missing` stays; `heldBy` must
   * be given again.
   */
  with(change: Completion): Envelope
  /**
   * The request with other texts, as if the client had sent them. `change` is applied both to the sent body and to
   * the completed one, so that no provider, store or answer sees the original. The client's own bytes are not used
   * any more. `losses` are what the change takes away from the client. Throws `invalid_request_error` for a form, whose
   * files cannot be changed.
   */
  rewrite(change: (body: JsonObject) => JsonObject, losses?: readonly Loss[]): Envelope
}

/**
 * A completion of a request: another body; another neutral form, printed into the body on demand; a function that puts
 * files into the neutral form of this body and of each that replaces it (bodies keep the addresses); or only facts.
 */
export type Completion =
  | { readonly body: JsonObject; readonly heldBy?: string; readonly missing?: GatewayError }
  | { readonly neutral: RequestOf<Operation> }
  | { readonly inlined: (request: GenerateRequest) => GenerateRequest }
  | { readonly missing: GatewayError }

/** The model or models that the requested name resolves to. */
export interface Target {
  readonly name: string
  /** Absent: a virtual model. */
  readonly model?: ModelRecord
  /** Whether it is a virtual model, for which `mode` is set. */
  readonly virtual?: boolean
  readonly mode?: Mode
}

/** A request ready for the provider of `model`. */
export interface Upstream {
  /** Whether both sides speak the same protocol: then the client's bytes are sent with the model's name replaced. */
  readonly same: boolean
  readonly body?: Body
  readonly contentType?: string
  readonly restore?: Restore
  /** Stop sequences that the provider's protocol cannot express; the gateway cuts the answer there. */
  readonly cuts?: readonly string[]
  readonly losses: readonly Loss[]
  /** Set if the request relies on content stored at the provider: makes it with the whole conversation. */
  whole?(): Upstream
  /** Set if the gateway added fields that the provider may refuse: whether a failure says so, and the request without. */
  readonly added?: { refused(failure: Failure): boolean; without(): Upstream }
}

/** An answer that a provider has begun to send. It can be read once. `answering` creates it. */
export type UpstreamAnswer = AnswerContent & Answering

/**
 * `whole`: a JSON answer; `events`: a stream of server-sent events whose first event is not a failure; `bytes`: any
 * other body (audio), relayed unchanged; `neutral-events`, `neutral-reply`: an answer in neutral form.
 */
export type AnswerContent =
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly body: Json; readonly type: string }
  | { readonly kind: 'events'; readonly source: Source }
  | { readonly kind: 'bytes'; readonly source: Source; readonly type: string }
  | { readonly kind: 'neutral-events'; readonly events: AsyncIterable<GenerateEvent> }
  | {
      readonly kind: 'neutral-reply'
      readonly reply: ReplyOf<Operation>
      /** No provider was called, so the answer costs nothing, whatever usage it reports. */
      readonly unasked?: boolean
    }

/**
 * Access to the events of an answer, in whatever form it is. Only `generate` has events: for other operations `map`
 * and `watch` throw `unsupported`, so a stage that serves several operations must check first.
 */
export interface Answering {
  readonly operation: Operation
  /** The handlers of stages, in the order in which events pass through them. */
  readonly handlers: readonly EventHandler[]
  /**
   * The answer with changed events. The client, and every stage that stores or measures the answer, sees the events
   * that `make` returns. `make` is called once, when the answer is read. A whole answer passes as events, too. The
   * answer is translated even between equal protocols.
   */
  map(make: () => EventMap): UpstreamAnswer
  /** The same answer; `look` observes its events. Between equal protocols its bytes stay unchanged. */
  watch(look: Look): UpstreamAnswer
  /**
   * The answer whose events pass a gate. `make` is called once, when the answer is read; the answer is translated even
   * between equal protocols. `before: 'reply'`: the reply waits for the first verdict, so that `fail` fails the try.
   */
  gate(make: () => Gate, options?: { readonly before?: 'reply' }): UpstreamAnswer
  /** Like `map`, after all other handlers: stages that store or measure the answer do not see what it changes. */
  shown(make: () => EventMap): UpstreamAnswer
}

export type EventHandler = (
  | { readonly make: () => EventMap; readonly shown?: true }
  | { readonly look: Look }
  | { readonly gate: () => Gate; readonly before?: 'reply' }
) & {
  /** The stage that added it, as `file:line:column (name)`; set by the engine. */
  at?: string
}

/**
 * Changes the events of one answer. The last event it receives is always a single `finish` or `failure`, even when
 * the provider throws or the client disconnects. The first of these two that it returns ends the answer for the
 * client; if it returns neither for the last event, the received one does.
 */
export interface EventMap {
  /**
   * The events that replace one event. An error thrown here ends the answer as a failure, and so does an event that
   * breaks the rules of `GenerateEvent`.
   */
  event(event: GenerateEvent): Iterable<GenerateEvent>
}

/**
 * Observes the events of one answer, with the same last event. If it throws, the error is logged and it receives no
 * further events.
 */
export type Look = (event: GenerateEvent) => void

/** Holds the events of one answer back until it has judged them. A whole answer is one final window. */
export interface Gate {
  /**
   * A window ends after so many characters of new text (0: with each event), so many milliseconds after its first
   * event, or with the answer; earlier, if 256 KiB are held or the byte budget is exhausted. `Infinity`: not by this.
   * With both of them it is the whole answer, never a part: beyond 64 MiB, or the budget, the answer fails.
   */
  readonly window: { readonly characters: number; readonly time: number }
  /** Characters of judged text that the next window shows again, as `before`. */
  readonly overlap?: number
  /** Whether calls of tools are held until they are whole. Other events pass them; one that breaks off is dropped. */
  readonly calls?: boolean
  /** With `characters: 0`: whether the events of one read of the upstream, or of one judgement's time, are one window. */
  readonly together?: boolean
  /**
   * Judges a window; later events wait meanwhile. An error thrown here ends the answer as a failure. `signal` is aborted
   * when the exchange or the try ends, or the client disconnects.
   */
  judge(held: HeldEvents, signal: AbortSignal): Verdict | Promise<Verdict>
}

/** One window of a gate. */
export interface HeldEvents {
  readonly events: readonly GenerateEvent[]
  /** Texts of messages, reasoning, refusals and calls in these events, one per part; opaque items have none. */
  readonly texts: readonly {
    readonly index: number
    readonly part: 'text' | 'reasoning' | 'refusal' | 'call'
    readonly before: string
    readonly text: string
  }[]
  /** Characters of text in earlier windows. */
  readonly from: number
  /** Whether it is the last window. Its last event is then a `finish` or `failure`, as `last` says. */
  readonly final: boolean
  readonly last?: 'finish' | 'failure'
}

/**
 * `replace`: these events instead. `stop`: nothing of the window; open items are closed, and this `finish` or `failure`
 * ends the answer with the usage so far. `fail`: nothing of it; the answer fails.
 */
export type Verdict =
  | 'pass'
  | { readonly replace: readonly GenerateEvent[] }
  | { readonly stop: GenerateEvent }
  | { readonly fail: GatewayError }

/** The reply to the client. A `Source` is streamed; any other body is sent whole. */
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
      /** Bytes that may follow the latest chunk of a silent stream; undefined: none, as inside an event. */
      readonly keepalive?: () => Uint8Array | undefined
      /**
       * Whether the stream belongs to something that outlives the exchange and writes to it at any time. The headers
       * are sent at once, and the exchange ends then: the stream holds no configuration, and a stopping gateway ends
       * it.
       */
      readonly lasting?: boolean
      /** Whether its headers are sent at once, although its first bytes may be late. */
      readonly held?: boolean
    }
  | {
      readonly kind: 'socket'
      /** Attaches the client's open socket, and returns the sink for its events. For routes with `socket: relay`. */
      attach(client: Leg): LegSink
    }
  | { readonly kind: 'none' }

/** Reports facts about an answer once it was sent. Its losses are those of the answer only. */
export interface Measurement {
  read(): Metered & { readonly complete: boolean; readonly failure?: Failure; readonly losses: readonly Loss[] }
  /** Parts of the answer that the client's protocol does not show; complete after its last event was written. */
  unshown?(): Unshown | undefined
  /** For stages that store what `shown` changes: the last frames, or a whole body as one; complete as `unshown` is. */
  stored?(): readonly Frame[]
  /** For a log of bodies, which holds nothing that `shown` changes: gives it the text that they store, as it comes. */
  recorded?(take: (text: string) => void): void
}

/** How an exchange ended. Created once, when the last byte was sent or the client disconnected. */
export interface Outcome {
  /** The status that the client saw. */
  readonly status: number
  /** `client_closed`: the client disconnected first; `failed`: an error was returned or the stream failed. */
  readonly result: 'completed' | 'failed' | 'client_closed'
  readonly error?: { readonly code: string; readonly message: string; readonly at?: string }
  /** Milliseconds from the first byte of the request. */
  readonly firstByte?: number
  readonly duration: number
  readonly bytes: number
}
