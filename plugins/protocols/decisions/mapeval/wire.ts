import type { Json, JsonObject } from '../../../../engine/index.ts'

/** The protocol's name in pipelines and offers. */
export const protocol = 'mapeval'

/** Fields that only providers of this protocol have. They are forwarded only to these. */
export const passedOn = ['provider', 'session_id', 'trace', 'user', 'keep_alive'] as const

/** A validated request body. */
export interface Body {
  readonly model: string
  readonly state: string | JsonObject | readonly Json[]
  /** By id, in the order of the questions. */
  readonly questions: Readonly<Record<string, Question>>
  /** Bare base64, without a prefix. */
  readonly images?: readonly string[] | null
}

export type Question = { readonly instructions: string } & (
  | {
      readonly type: 'noul'
      readonly criteria?: { readonly true?: string | null; readonly false?: string | null } | null
    }
  | { readonly type: 'choice'; readonly criteria: Readonly<Record<string, string | null>> }
  | { readonly type: 'score'; readonly criteria: readonly string[] }
)
