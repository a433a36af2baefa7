import type { Json, JsonObject } from './json.ts'
import type { CacheMark } from './part.ts'

/** Fields that only one protocol understands; other protocols report them as losses. */
export interface Rest {
  readonly protocol: string
  readonly fields: JsonObject
}

/** A tool that the model may call. */
export type Tool = FunctionTool | CustomTool | OpaqueTool

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly namespace?: string
  readonly description?: string
  /** JSON Schema of the arguments; never compiled or fetched, only passed on. */
  readonly parameters?: JsonObject
  readonly strict?: boolean
  readonly cache?: CacheMark
  readonly rest?: Rest
}

/** A tool that takes free text, perhaps held to a grammar. */
export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly namespace?: string
  readonly description?: string
  /** `{ type: 'text' }` or `{ type: 'grammar', syntax, definition }`. */
  readonly format?: JsonObject
  readonly cache?: CacheMark
}

/** A tool that only one protocol's vendors run (search, code, …). */
export interface OpaqueTool {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
}

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly kind: 'function' | 'custom'; readonly name: string }
  | {
      readonly type: 'allowed'
      readonly mode: 'auto' | 'required'
      readonly tools: readonly { readonly kind: 'function' | 'custom'; readonly name: string }[]
    }
  | { readonly type: 'opaque'; readonly protocol: string; readonly value: Json }
