import type { Json, JsonObject } from '../../../engine/index.ts'

/** The protocol's name in YAML, in `rest` and in opaque parts. */
export const protocol = 'chat'

/** Marks of a cacheable prefix: the common extension, and the protocol's own field. */
export type Cached = {
  readonly cache_control?: { readonly ttl?: string | null } | null
  readonly prompt_cache_breakpoint?: { readonly ttl?: string | null } | null
}

/** A content part of a body; `type` determines its fields. */
export type ContentPart = JsonObject & Cached & { readonly type: string }

export type Content = string | readonly ContentPart[] | null

export type WireCall = Cached & {
  readonly id: string
  readonly type?: string | null
  readonly function?: { readonly name: string; readonly arguments?: Json } | null
  readonly custom?: { readonly name: string; readonly input?: string | null } | null
}

/** A message of a request; `role` determines its fields. */
export type WireMessage = Cached & {
  readonly role: string
  readonly content?: Content
  readonly name?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly WireCall[] | null
  readonly tool_call_id?: string | null
  readonly function_call?: { readonly name: string; readonly arguments?: Json } | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly reasoning_details?: readonly JsonObject[] | null
  readonly annotations?: readonly JsonObject[] | null
  /** Pictures of an answer, as `image_url` parts. */
  readonly images?: readonly Json[] | null
  readonly audio?: JsonObject | null
}

export type WireFunction = JsonObject & {
  readonly name: string
  readonly description?: string | null
  readonly parameters?: JsonObject | null
  readonly strict?: boolean | null
}

export type WireTool = JsonObject &
  Cached & {
    readonly type: string
    readonly function?: WireFunction
    readonly custom?: {
      readonly name: string
      readonly description?: string | null
      readonly format?: JsonObject | null
    }
  }

/** A validated request body. Fields that are only forwarded are not listed. */
export type ChatBody = JsonObject & {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly WireTool[] | null
  readonly functions?: readonly WireFunction[] | null
  readonly tool_choice?: Json
  readonly function_call?: Json
  readonly web_search_options?: JsonObject | null
  readonly parallel_tool_calls?: boolean | null
  readonly max_completion_tokens?: number | null
  readonly max_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly stop?: string | readonly string[] | null
  readonly seed?: number | null
  readonly frequency_penalty?: number | null
  readonly presence_penalty?: number | null
  readonly logprobs?: boolean | null
  readonly top_logprobs?: number | null
  readonly reasoning_effort?: string | null
  readonly verbosity?: string | null
  readonly response_format?: (JsonObject & { readonly type: string }) | null
  readonly user?: string | null
  readonly safety_identifier?: string | null
  readonly prompt_cache_key?: string | null
  readonly service_tier?: string | null
  readonly metadata?: JsonObject | null
  readonly store?: boolean | null
  readonly stream?: boolean | null
  readonly stream_options?: (JsonObject & { readonly include_usage?: boolean | null }) | null
  readonly n?: number | null
}
