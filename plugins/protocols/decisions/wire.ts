import type { Evidence } from '../../../engine/index.ts'

/** The protocol's name in pipelines and offers. */
export const protocol = 'decisions'

/** A validated request body. */
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

/** The media type and the base64 of an inline image; undefined for any other URL. */
export function inlineImage(
  address: string,
): Pick<Extract<Evidence, { type: 'image' }>, 'mediaType' | 'data'> | undefined {
  // Only the head is matched: the rest may be megabytes.
  const head = /^data:(image\/[a-z0-9.+-]+);base64,/i.exec(address.slice(0, 100))
  if (!head || head[0].length === address.length) return undefined
  return { mediaType: String(head[1]).toLowerCase(), data: address.slice(head[0].length) }
}

/** Characters that are decoded at a time, a multiple of four. The decoded bytes are discarded. */
const piece = 64 * 1024
const scratch = Buffer.allocUnsafe((piece / 4) * 3)

/** Whether a text is base64 (RFC 4648, section 4), with or without its padding. Takes 0.4 ms for a megabyte. */
export function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - padding
  if (length === 0 || length % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return false
  // The decoder skips characters outside base64, and accepts those of base64url.
  if (text.includes('-') || text.includes('_')) return false
  for (let at = 0; at < length; at += piece) {
    const part = text.slice(at, Math.min(at + piece, length))
    if (scratch.write(part, 'base64') !== Math.floor((part.length * 3) / 4)) return false
  }
  return true
}
