import type { Evidence } from '../../../engine/index.ts'

/** The protocol's name in pipelines and offers. */
export const protocol = 'decisions'

/** A request body that the schema has accepted. */
export interface Body {
  readonly model: string
  readonly input: string | readonly Message[]
  readonly questions: readonly Question[]
  readonly safety_identifier?: string | null
}

export interface Message {
  readonly type?: 'message'
  readonly role: 'user'
  readonly content: string | readonly Part[]
}

export type Part =
  | { readonly type: 'input_text'; readonly text: string }
  | {
      readonly type: 'input_image'
      readonly image_url?: string | null
      readonly file_id?: string | null
      readonly detail?: string | null
    }

export type Question = { readonly name?: string; readonly instructions: string } & (
  | { readonly type: 'predicate' }
  | { readonly type: 'choice'; readonly choices: readonly Choice[] }
  | { readonly type: 'score'; readonly levels: readonly Level[] }
)

export interface Choice {
  readonly value: string | boolean
  readonly description?: string
}

export interface Level {
  readonly label: string
  readonly description?: string
}

/** The media type and the base64 of an inline image; undefined for any other address. */
export function inlineImage(
  address: string,
): Pick<Extract<Evidence, { type: 'image' }>, 'mediaType' | 'data'> | undefined {
  // Only the head is matched: what follows it may be megabytes.
  const head = /^data:(image\/[a-z0-9.+-]+);base64,/i.exec(address.slice(0, 100))
  if (!head || head[0].length === address.length) return undefined
  return { mediaType: String(head[1]).toLowerCase(), data: address.slice(head[0].length) }
}
