import type { JsonObject } from '../../../engine/index.ts'

/** The protocol's name in YAML, in `rest` and in opaque parts. */
export const protocol = 'gemini'

/** Members with JSON of the client or the model: arguments and results of functions, and schemas. */
export const verbatim = {
  request: new Set([
    'args',
    'response',
    'parameters',
    'parametersJsonSchema',
    'responseSchema',
    'responseJsonSchema',
    '_responseJsonSchema',
  ]),
  reply: new Set(['args']),
}

/** A piece of content: its other fields, of which one is usually set, say what it is. */
export type Part = JsonObject & {
  readonly text?: string
  /** Whether `text` is a summary of the model's thoughts. */
  readonly thought?: boolean | null
  /** Base64. To be sent back at the same part. */
  readonly thoughtSignature?: string | null
}

export type FunctionCall = { readonly id?: string | null; readonly name: string; readonly args?: JsonObject | null }

export type FunctionResponse = {
  readonly id?: string | null
  readonly name: string
  readonly response?: JsonObject | null
  readonly parts?: readonly Part[] | null
}

/** One turn. Without a role it is the user's. */
export type Content = { readonly role?: string | null; readonly parts?: readonly Part[] | null }
