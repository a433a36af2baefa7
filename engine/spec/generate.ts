import type { JsonObject } from './json.ts'
import type { Annotation, CacheMark, Logprob, Part } from './part.ts'
import type { Rest, Tool, ToolChoice } from './tool.ts'
import type { Search } from './search.ts'
import type { Metered, Usage } from './usage.ts'
import type { Failure } from './error.ts'

/**
 * The neutral form of the operation `generate`: a conversation as a flat list of items. A field exists here only if
 * at least two protocols have it. All other fields of a client are kept in `rest` (or in an `opaque` part, item or
 * tool) and printed by its own protocol only.
 */
export interface GenerateRequest {
  /** System text, messages, reasoning, calls and results in conversation order. */
  readonly items: readonly Item[]
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
  /** False: at most one call per turn. */
  readonly parallelTools?: boolean
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  /** Requests log probabilities: the number of alternatives (0 to 20) per token. */
  readonly logprobs?: number
  readonly reasoning?: ReasoningWish
  readonly format?: Format
  readonly verbosity?: string
  /** Identifies the end user, for abuse detection. */
  readonly user?: string
  /** Requests with the same key share a prompt cache. */
  readonly cacheKey?: string
  readonly serviceTier?: string
  readonly metadata?: JsonObject
  readonly store?: boolean
  /** Whether the client requested a stream. */
  readonly stream: boolean
  /** Whether the client requested usage at the end of the stream. */
  readonly streamUsage?: boolean
  /** Fields of the client's body that only its own protocol has, and the name of that protocol. */
  readonly rest?: Rest
}

export interface ReasoningWish {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort?: string
  /** Maximum reasoning tokens. */
  readonly budget?: number
  /** `auto`, `concise`, `detailed`; `none`: the client wants no summary. */
  readonly summary?: string
}

export type Format =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'schema'
      readonly name?: string
      readonly description?: string
      readonly schema: JsonObject
      readonly strict?: boolean
    }

export type Item = Message | Reasoning | ToolCall | ToolResult | OpaqueItem

export interface Message {
  readonly type: 'message'
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly content: readonly Part[]
  readonly id?: string
  /** The participant's name. */
  readonly name?: string
  /** `commentary` or `final_answer`, if the model distinguishes them. */
  readonly phase?: string
  /** What the upstream sealed together with an answer's text (`redacted`), to be sent back to the same origin only. */
  readonly seal?: Seal
}

/** One block of a model's reasoning. Blocks keep their position among calls and messages. */
export interface Reasoning {
  readonly type: 'reasoning'
  readonly id?: string
  /** Readable text: `summary` is written for the reader, `text` is the reasoning itself. May be empty. */
  readonly parts: readonly { readonly kind: 'summary' | 'text'; readonly text: string }[]
  /** The upstream's signature or ciphertext, to be sent back unchanged to the same origin only. */
  readonly seal?: Seal
}

export interface Seal {
  /**
   * The provider and model family that made it (`Candidate.origin`); absent: it is in the form of the client's own
   * protocol.
   */
  readonly origin?: string
  /** `signature` authenticates the readable text; `redacted` and `encrypted` replace it. */
  readonly kind: 'signature' | 'redacted' | 'encrypted'
  readonly data: string
}

/** A call of a tool by the model. */
export interface ToolCall {
  readonly type: 'call'
  /** `custom` tools take free text, `function` tools take JSON text. */
  readonly kind: 'function' | 'custom'
  /** Links the result to the call. */
  readonly callId: string
  readonly name: string
  /** Groups tools; a protocol without namespaces sees `namespace__name`. */
  readonly namespace?: string
  /** JSON text or free text, exactly as the model wrote it. */
  readonly input: string
  readonly id?: string
  readonly cache?: CacheMark
}

export interface ToolResult {
  readonly type: 'result'
  readonly kind: 'function' | 'custom'
  readonly callId: string
  readonly content: readonly Part[]
  /** Whether the tool failed; the content then describes the error. */
  readonly error?: boolean
  readonly id?: string
  readonly cache?: CacheMark
}

/** An item that only one protocol has; kept at its position for that protocol. */
export interface OpaqueItem {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
  /** Role of the message that contains it, if the protocol nests items in messages. */
  readonly role?: 'user' | 'assistant'
  /** A web search that the item describes, for protocols with search items of their own. */
  readonly search?: Search
  /** A message for other protocols in its place. */
  readonly instead?: Message
}

/**
 * Why a model stopped. `end`: it had finished; `stop`: a stop sequence; `length`: the output limit; `context`: the
 * context window is full; `tool`: it waits for tool results; `refusal`: it declined; `filter`: a content filter;
 * `pause`: the provider needs the same request again to continue.
 */
export type StopReason = 'end' | 'stop' | 'length' | 'context' | 'tool' | 'refusal' | 'filter' | 'pause'

/** A whole answer. */
export interface GenerateReply {
  readonly id?: string
  readonly model?: string
  /** Unix time in seconds. */
  readonly created?: number
  readonly items: readonly Item[]
  readonly stop: StopReason
  /** The stop sequence that ended the answer, for `stop`. */
  readonly stopSequence?: string
  /** Absent: the upstream reported none. */
  readonly usage?: Usage
  /** Usage of further models that the provider used for the answer. */
  readonly further?: Metered['further']
  readonly serviceTier?: string
  /** Fields of the answer that only the upstream's protocol has. */
  readonly rest?: Rest
}

/**
 * A streamed answer: `start`, then items, then `finish` or `failure` as the last event. Items are numbered from 0 in
 * the order in which they open; several may be open at once (parallel calls). `item` opens an item with empty text,
 * deltas add text to its open part, and `item-end` closes it. An opaque item that is sent again before its end
 * replaces the earlier one.
 */
export type GenerateEvent =
  | {
      readonly type: 'start'
      readonly id?: string
      readonly model?: string
      readonly created?: number
      readonly usage?: Usage
      readonly serviceTier?: string
    }
  /**
   * Opens an item. A message opens with `content: []`, reasoning with `parts: []`, a call with `input: ''`; opaque
   * items and results are complete.
   */
  | { readonly type: 'item'; readonly index: number; readonly item: Item }
  /**
   * Opens the next part of a message (`text`, `refusal`) or of reasoning (`summary`, `reasoning`), and closes the
   * previous part.
   */
  | { readonly type: 'part'; readonly index: number; readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning' }
  /** Text for the open part, or input for the call. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string; readonly logprobs?: readonly Logprob[] }
  | { readonly type: 'annotation'; readonly index: number; readonly annotation: Annotation }
  /** Of reasoning, or of a message. */
  | { readonly type: 'seal'; readonly index: number; readonly seal: Seal }
  /**
   * A stream event about an open opaque item that only one protocol has. `piece`: the event carries a piece of a text
   * that the item will contain in full when it ends.
   */
  | {
      readonly type: 'progress'
      readonly index: number
      readonly protocol: string
      readonly value: JsonObject
      readonly piece?: boolean
    }
  | { readonly type: 'item-end'; readonly index: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish'
      readonly stop: StopReason
      readonly stopSequence?: string
      readonly usage?: Usage
      readonly further?: Metered['further']
      readonly rest?: Rest
    }
  | { readonly type: 'failure'; readonly failure: Failure }
