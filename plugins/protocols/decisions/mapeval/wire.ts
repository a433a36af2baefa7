import type { Json, JsonObject } from '../../../../engine/index.ts'

/** The protocol's name in pipelines and offers. */
export const protocol = 'mapeval'

/** Fields that only providers of this protocol know; they are passed on to them and to no other. */
export const passedOn = ['provider', 'session_id', 'trace', 'user', 'keep_alive'] as const

/** A request body that the schema has accepted. */
export interface Body {
  readonly model: string
  readonly state: string | JsonObject | readonly Json[]
  /** By id; the order of the questions is that of the keys. */
  readonly questions: Readonly<Record<string, Question>>
  /** Base64 without anything before it. */
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
