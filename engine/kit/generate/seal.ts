import { parsedObject } from '../../json/parse.ts'
import type { Json } from '../../spec/json.ts'
import { isObject } from '../../spec/json.ts'

/** The prefix of every seal packed by this gateway. */
export const sealPrefix = 'gw1.'

/**
 * Packs content sealed by one origin (a signature, a ciphertext, whole blocks) into a text that any client can send
 * back. `origin` names the provider and model family, the only ones that can read it.
 */
export function packSeal(origin: string, value: Json): string {
  return sealPrefix + Buffer.from(JSON.stringify({ origin, value })).toString('base64url')
}

/** The reverse of `packSeal`; undefined for a text that this gateway did not pack. */
export function unpackSeal(text: string): { origin: string; value: Json } | undefined {
  if (!text.startsWith(sealPrefix)) return undefined
  const packed = parsedObject(Buffer.from(text.slice(sealPrefix.length), 'base64url').toString())
  if (!isObject(packed) || typeof packed['origin'] !== 'string' || packed['value'] === undefined) return undefined
  return { origin: packed['origin'], value: packed['value'] }
}
