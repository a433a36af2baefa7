import type { JsonObject } from './json.ts'
import type { Annotation, CacheMark, Logprob, Part } from './part.ts'
import type { Rest, Tool, ToolChoice } from './tool.ts'
import type { Search } from './search.ts'
import type { Usage } from './usage.ts'
import type { Failure } from './error.ts'

/**
 * The neutral form of the operation `generate`: a conversation as a flat list of items.
 * A field stands here only when two protocols read it; everything else a client sent rides in `rest`
 * (or in an `opaque` part, item or tool) and is printed by its own protocol alone.
 */
export interface GenerateRequest {
  /** System text, messages, reasoning, calls and results in the order they were said. */
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
  /** Log probabilities are wanted; the number is how many alternatives (0 to 20) come with each token. */
  readonly logprobs?: number
  readonly reasoning?: ReasoningWish
  readonly format?: Format
  readonly verbosity?: string
  /** Stands for the end user, for abuse tracing. */
  readonly user?: string
  /** Requests with the same key share a prompt cache. */
  readonly cacheKey?: string
  readonly serviceTier?: string
  readonly metadata?: JsonObject
  readonly store?: boolean
  /** The client asked for a stream. */
  readonly stream: boolean
  /** The client asked that the stream reports usage at its end. */
  readonly streamUsage?: boolean
  /** Fields of the client's body that only its own protocol knows, and that protocol's name. */
  readonly rest?: Rest
}

export interface ReasoningWish {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  readonly effort?: string
  /** Most tokens to reason with. */
  readonly budget?: number
  /** `auto`, `concise`, `detailed`; `none`: the client does not want to see a summary. */
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
  /** `commentary` or `final_answer`, where a model tells them apart. */
  readonly phase?: string
}

/** One block of a model's reasoning. Blocks keep their order among calls and messages. */
export interface Reasoning {
  readonly type: 'reasoning'
  readonly id?: string
  /** Readable text: `summary` is written for readers, `text` is the reasoning itself. May be empty. */
  readonly parts: readonly { readonly kind: 'summary' | 'text'; readonly text: string }[]
  /** The upstream's proof or ciphertext, to be returned unchanged to the same origin and to no other. */
  readonly seal?: Seal
}

export interface Seal {
  /** Which provider and model family made it (`Candidate.origin`); absent: the client's own protocol did, unpacked. */
  readonly origin?: string
  /** `signature` proves the readable text; `redacted` and `encrypted` stand instead of it. */
  readonly kind: 'signature' | 'redacted' | 'encrypted'
  readonly data: string
}

/** A call of a tool by the model. */
export interface ToolCall {
  readonly type: 'call'
  /** `custom` tools take free text, `function` tools take JSON text. */
  readonly kind: 'function' | 'custom'
  /** Ties the result to the call. */
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
  /** The tool failed; the content says how. */
  readonly error?: boolean
  readonly id?: string
  readonly cache?: CacheMark
}

/** An item of one protocol that has no neutral meaning; kept in its place for that protocol. */
export interface OpaqueItem {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
  /** Who said it, where the protocol nests items in messages. */
  readonly role?: 'user' | 'assistant'
  /** What it tells of a search of the web, for protocols that tell of searches in items of their own. */
  readonly search?: Search
  /** What other protocols are told in its place. */
  readonly instead?: Message
}

/**
 * Why a model stopped. `end`: it was done; `stop`: a stop sequence; `length`: the output limit; `context`: the
 * context window is full; `tool`: it waits for results; `refusal`: it declined; `filter`: a content filter cut in;
 * `pause`: the provider wants the same request again to go on.
 */
export type StopReason = 'end' | 'stop' | 'length' | 'context' | 'tool' | 'refusal' | 'filter' | 'pause'

/** A whole answer. */
export interface GenerateReply {
  readonly id?: string
  readonly model?: string
  /** Seconds since 1970. */
  readonly created?: number
  readonly items: readonly Item[]
  readonly stop: StopReason
  /** The sequence that stopped it, for `stop`. */
  readonly stopSequence?: string
  /** Absent: the upstream reported none. */
  readonly usage?: Usage
  readonly serviceTier?: string
  /** Fields of the answer that only the upstream's protocol knows. */
  readonly rest?: Rest
}

/**
 * A streamed answer: `start`, then items, then `finish` or `failure`, which is last.
 * Items are numbered from 0 in the order they open; several may be open at once (parallel calls).
 * `item` opens one with empty text; text arrives as deltas to its open part; `item-end` closes it.
 * An opaque item that comes again before its end takes the place of what was there.
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
  /** Opens an item. A message opens with `content: []`, reasoning with `parts: []`, a call with `input: ''`; opaque items and results come whole. */
  | { readonly type: 'item'; readonly index: number; readonly item: Item }
  /** Opens the next part of a message (`text`, `refusal`) or of reasoning (`summary`, `reasoning`); the part before it is closed. */
  | { readonly type: 'part'; readonly index: number; readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning' }
  /** Text for the open part, or input for the call. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string; readonly logprobs?: readonly Logprob[] }
  | { readonly type: 'annotation'; readonly index: number; readonly annotation: Annotation }
  | { readonly type: 'seal'; readonly index: number; readonly seal: Seal }
  /**
   * What only one protocol tells of an opaque item that is under way: an event of its streams. `piece`: it brings a piece
   * of a text which the item has as a whole when it ends.
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
      readonly rest?: Rest
    }
  | { readonly type: 'failure'; readonly failure: Failure }
