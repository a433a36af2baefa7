import type { Json } from './json.ts'
import type { Rest } from './tool.ts'
import type { Usage } from './usage.ts'

/** The neutral form of the operation `embed`: texts in, a vector for each. */
export interface EmbedRequest {
  readonly input: readonly EmbedInput[]
  /** Length of each vector; absent: that of the model. */
  readonly dimensions?: number
  /** Identifies the end user, for abuse detection. */
  readonly user?: string
  /** Fields of the client's body that only its own protocol has, and the name of that protocol. */
  readonly rest?: Rest
}

/** What one vector is made of: a text, its tokens, or what only one protocol knows. */
export type EmbedInput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tokens'; readonly tokens: readonly number[] }
  | { readonly type: 'opaque'; readonly protocol: string; readonly value: Json }

/** The vectors, in the order of the input. */
export interface EmbedReply {
  readonly model?: string
  readonly vectors: readonly (readonly number[])[]
  /** Absent: the upstream reported none. */
  readonly usage?: Usage
}
