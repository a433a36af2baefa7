import { defined, parsedObject } from '../../../engine/kit.ts'
import type { JsonObject, Reasoning } from '../../../engine/index.ts'

/**
 * An upstream's entry of `reasoning_details` as the data of a seal: its JSON without the readable text, which is
 * in the reasoning itself. Reasoning that came as bare text has an empty seal, which only states its origin.
 */
export function sealData(entry: JsonObject | undefined): string {
  return entry === undefined ? '' : JSON.stringify(entry)
}

/** The entries that return a block to the upstream that made it; none for bare text, and for blocks without entries. */
export function nativeDetails({ parts, seal }: Reasoning): JsonObject[] {
  if (!seal || seal.data === '') return []
  const entry = entryOf(seal.data)
  const text = parts.map((part) => part.text).join('')
  if (entry?.['type'] === 'reasoning.summary') return [{ ...entry, summary: text }]
  if (entry?.['type'] === 'reasoning.text') return [{ ...entry, text }]
  if (entry) return [entry]
  // Sealed in another protocol of the same provider: as a whole item, or as compatible fields.
  if (seal.data.startsWith('{')) return []
  if (seal.kind === 'signature') return [{ type: 'reasoning.text', text, signature: seal.data }]
  const summary = text === '' ? undefined : { type: 'reasoning.summary', summary: text }
  return [...(summary ? [summary] : []), { type: 'reasoning.encrypted', data: seal.data }]
}

/** An entry without its readable text, and that text. */
export function split(entry: JsonObject): { kind: 'summary' | 'reasoning'; text: string; rest: JsonObject } {
  const { text, summary, ...rest } = entry
  const said = typeof summary === 'string' ? summary : text
  return {
    kind: typeof summary === 'string' ? 'summary' : 'reasoning',
    text: typeof said === 'string' ? said : '',
    rest,
  }
}

/** Merges a later delta of the same entry; null fields are ignored. */
export function merged(before: JsonObject, piece: JsonObject): JsonObject {
  const said = Object.entries(piece).filter(([name, value]) => value !== null || before[name] === undefined)
  return defined({ ...before, ...Object.fromEntries(said) })
}

/** The data of another protocol may be an object, too, but is no entry. */
function entryOf(data: string): JsonObject | undefined {
  const value = parsedObject(data)
  return typeof value?.['type'] === 'string' ? value : undefined
}
