import type { Json, JsonObject } from './json.ts'
import type { CacheMark } from './part.ts'
import type { SearchWish } from './search.ts'

/** Fields that only one protocol has; other protocols report them as losses. */
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
  /** JSON Schema of the arguments; only passed on, never compiled or fetched. */
  readonly parameters?: JsonObject
  readonly strict?: boolean
  readonly cache?: CacheMark
  /**
   * The protocol that finds the tool's declaration in an item of the conversation; the tool is not declared to it
   * again.
   */
  readonly loaded?: string
  readonly rest?: Rest
}

/** A tool that takes free text, optionally constrained by a grammar. */
export interface CustomTool {
  readonly type: 'custom'
  readonly name: string
  readonly namespace?: string
  readonly description?: string
  /** `{ type: 'text' }` or `{ type: 'grammar', syntax, definition }`. */
  readonly format?: JsonObject
  readonly cache?: CacheMark
  /** As in `FunctionTool`. */
  readonly loaded?: string
  readonly rest?: Rest
}

/** A built-in tool of one protocol's vendors (search, code, …). */
export interface OpaqueTool {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
  /** Set for a web search tool, which other protocols have, too. Where it contradicts `value`, this counts. */
  readonly search?: SearchWish
}

/** A reference to a tool by its name, which may be flattened or lack its namespace. */
export interface ToolRef {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace?: string
}

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | ({ readonly type: 'tool' } & ToolRef)
  | {
      readonly type: 'allowed'
      readonly mode: 'auto' | 'required'
      readonly tools: readonly ToolRef[]
      /** Allowed built-in tools of one protocol's vendors. */
      readonly own?: { readonly protocol: string; readonly tools: readonly JsonObject[] }
      /** Whether the web search is among them. */
      readonly search?: true
    }
  /** `search`: the choice is the web search. */
  | { readonly type: 'opaque'; readonly protocol: string; readonly value: Json; readonly search?: true }
