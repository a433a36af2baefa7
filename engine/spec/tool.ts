import type { Json, JsonObject } from './json.ts'
import type { CacheMark } from './part.ts'
import type { SearchWish } from './search.ts'

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
  /** The protocol that finds the tool in an item of the conversation, and to which it is not declared again. */
  readonly loaded?: string
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
  /** As for a function. */
  readonly loaded?: string
  readonly rest?: Rest
}

/** A tool that only one protocol's vendors run (search, code, …). */
export interface OpaqueTool {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
  /** It searches the web, as tools of other protocols do, too. What is said here counts, where `value` says otherwise. */
  readonly search?: SearchWish
}

/** A tool by its name, which may be flattened or stand without its namespace. */
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
      /** Allowed tools that only one protocol's vendors run. */
      readonly own?: { readonly protocol: string; readonly tools: readonly JsonObject[] }
      /** The search of the web is among them. */
      readonly search?: true
    }
  /** `search`: it names the search of the web. */
  | { readonly type: 'opaque'; readonly protocol: string; readonly value: Json; readonly search?: true }
