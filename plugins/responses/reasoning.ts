import { defined, isObject, packSeal, parsedObject, unpackSeal } from '../../engine/kit.ts'
import type { Asked, Json, JsonObject, Reasoning, Seal } from '../../engine/index.ts'
import { object, objects, text } from './values.ts'

/** The value of `include` for sealed reasoning. */
export const ciphertext = 'reasoning.encrypted_content'

type Parts = Reasoning['parts']

/** Fields of a `reasoning` item that its origin requires unchanged. */
const native = ['id', 'summary', 'content', 'encrypted_content'] as const

/** Parses a `reasoning` item of an upstream. Its seal is the item itself, so that a later turn returns it unchanged. */
export function parseNative(item: JsonObject): Reasoning {
  return defined({ type: 'reasoning' as const, id: text(item['id']), parts: shown(item), seal: nativeSeal(item) })
}

/**
 * Parses a `reasoning` item that a client sends back. `encrypted_content` that this gateway packed contains the
 * original reasoning and its origin. Any other text becomes a seal without an origin.
 */
export function parseReplayed(item: JsonObject): Reasoning {
  const packed = unpackSeal(text(item['encrypted_content']) ?? '')
  const value = object(packed?.value)
  const data = text(value?.['data'])
  const kind = sealKind(value?.['kind'])
  if (!packed || data === undefined || kind === undefined) return parseNative(item)
  return defined({
    type: 'reasoning' as const,
    id: text(item['id']),
    parts: packedParts(value?.['parts']) ?? shown(item),
    seal: { origin: packed.origin, kind, data },
  })
}

/** Whether an item of a client carries a seal that this gateway packed. */
export function isSealed(item: JsonObject): boolean {
  return unpackSeal(text(item['encrypted_content']) ?? '') !== undefined
}

/** The seal of an item that can be replayed: one with ciphertext, or with readable reasoning. */
export function nativeSeal(item: JsonObject): Seal | undefined {
  return isReplayable(item) ? { kind: 'encrypted', data: JSON.stringify(picked(item)) } : undefined
}

function isReplayable(item: JsonObject): boolean {
  return Boolean(text(item['encrypted_content'])) || objects(item['content']).length > 0
}

/** The item of a seal of `nativeSeal`. Only an upstream that stores the conversation knows its id. */
export function printNative(seal: Seal, stored: boolean): JsonObject | undefined {
  const item = seal.kind === 'encrypted' ? parsedObject(seal.data) : undefined
  // The same provider may have sealed it in another of its protocols.
  if (!item || !isReplayable(item)) return undefined
  const { id, ...fields } = picked(item)
  return defined({ type: 'reasoning', id: stored ? id : undefined, ...fields, summary: fields['summary'] ?? [] })
}

/** `encrypted_content` of an item: its seal, and the sealed text of readable reasoning. */
export function packReasoning({ origin, kind, data }: Seal, parts: Parts, asked: Asked): string {
  return packSeal(
    origin ?? asked.origin,
    kind === 'signature' ? { kind, data, parts: parts.map((part) => ({ ...part })) } : { kind, data },
  )
}

/**
 * Whether a client sees `encrypted_content`. Proofs of readable text are always sent. Ciphertext, and seals that only
 * state an origin, are sent if the client includes them or stores nothing at the gateway (`store: false`).
 */
export function showsSeal(seal: Seal, { body }: Asked): boolean {
  return isProof(seal) || wantsCiphertext(body)
}

function isProof({ kind, data }: Seal): boolean {
  return kind === 'redacted' || (kind === 'signature' && data !== '')
}

/** Whether a client has requested the ciphertext of reasoning, or keeps its conversation itself. */
export function wantsCiphertext(body: Json): boolean {
  if (!isObject(body)) return false
  const include = body['include']
  return body['store'] === false || (Array.isArray(include) && include.includes(ciphertext))
}

function picked(item: JsonObject): JsonObject {
  const entries = native.map((key) => [key, item[key]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null))
}

function shown(item: JsonObject): Parts {
  const read = (list: Json | undefined, kind: 'summary' | 'text') =>
    objects(list).map((part) => ({ kind, text: text(part['text']) ?? '' }))
  return [...read(item['summary'], 'summary'), ...read(item['content'], 'text')]
}

function packedParts(value: Json | undefined): Parts | undefined {
  if (!Array.isArray(value)) return undefined
  return objects(value).map((part) => ({
    kind: part['kind'] === 'summary' ? ('summary' as const) : ('text' as const),
    text: text(part['text']) ?? '',
  }))
}

function sealKind(value: Json | undefined): Seal['kind'] | undefined {
  return value === 'signature' || value === 'redacted' || value === 'encrypted' ? value : undefined
}
