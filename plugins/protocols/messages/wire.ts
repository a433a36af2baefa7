import type { Json, JsonObject } from '../../../engine/index.ts'

/** The protocol's name in YAML, in `rest` and in opaque parts. */
export const protocol = 'messages'

/** Members with JSON of the client or the model: inputs of tools, and schemas. */
export const verbatim = { request: new Set(['input', 'input_schema', 'schema']), reply: new Set(['input']) }

export type CacheControl = { readonly type: 'ephemeral'; readonly ttl?: string | null }
type Cached = { readonly cache_control?: CacheControl | null }

export type TextBlock = Cached & {
  readonly type: 'text'
  readonly text: string
  readonly citations?: readonly JsonObject[] | null
}

export type MediaSource =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'text'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly file_id: string }
  | { readonly type: 'content'; readonly content: string | readonly (TextBlock | ImageBlock)[] }

export type ImageBlock = Cached & { readonly type: 'image'; readonly source: MediaSource }

export type DocumentBlock = Cached & {
  readonly type: 'document'
  readonly source: MediaSource
  readonly title?: string | null
  readonly context?: string | null
  readonly citations?: { readonly enabled?: boolean } | null
}

export type SearchResultBlock = Cached & {
  readonly type: 'search_result'
  readonly source: string
  readonly title: string
  readonly content: readonly TextBlock[]
}

/** Clients leave an empty signature out when they send the block back. */
export type ThinkingBlock = {
  readonly type: 'thinking'
  readonly thinking: string
  readonly signature?: string | null
}
export type RedactedThinkingBlock = { readonly type: 'redacted_thinking'; readonly data?: string | null }

export type ToolUseBlock = Cached & {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

export type ToolResultBlock = Cached & {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: string | readonly Block[] | null
  readonly is_error?: boolean | null
}

/** A content block of a body. Its `type` determines which of the shapes above it has, or is unknown. */
export type Block = JsonObject & { readonly type: string }

export type Turn = { readonly role: 'user' | 'assistant' | 'system'; readonly content: string | readonly Block[] }

export type WireTool = Cached & {
  readonly type?: string | null
  readonly name: string
  readonly description?: string | null
  readonly input_schema?: JsonObject | null
  readonly strict?: boolean | null
}

export type WireToolChoice = {
  readonly type: string
  readonly name?: string
  readonly disable_parallel_tool_use?: boolean | null
}

export type Thinking = {
  readonly type: string
  readonly budget_tokens?: number
  readonly display?: string | null
}

/** A validated request body. */
export type MessagesBody = {
  readonly model: string
  readonly messages: readonly Turn[]
  readonly max_tokens: number
  readonly system?: string | readonly TextBlock[] | null
  readonly stream?: boolean | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly stop_sequences?: readonly string[] | null
  readonly tools?: readonly WireTool[] | null
  readonly tool_choice?: WireToolChoice | null
  readonly thinking?: Thinking | null
  readonly output_config?: { readonly effort?: string | null; readonly format?: JsonObject | null } | null
  readonly metadata?: { readonly user_id?: string | null } | null
  readonly service_tier?: string | null
  readonly thread?: Json
}
