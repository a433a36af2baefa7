import { defined, isObject, packSeal, unpackSeal } from '../../../engine/kit.ts'
import type { JsonObject, Reasoning, Seal } from '../../../engine/index.ts'

/**
 * The position of a block of reasoning in its turn: the number of characters of content and of calls before it. A chat
 * message keeps content, calls and reasoning apart; the position restores their original order.
 */
export type Offset = readonly [characters: number, calls: number]

export interface Placed {
  readonly reasoning: Reasoning
  readonly place: Offset
}

/** The content of a packed seal: the seal, the number of readable entries of its block, and the block's position. */
interface Sealed {
  readonly seal: Seal
  readonly id?: string
  readonly parts: number
  readonly place: Offset
}

type ReasoningPart = Reasoning['parts'][number]

const start: Offset = [0, 0]

/**
 * A sealed block as entries of `reasoning_details`, numbered from `first`: one entry for each readable part, and the
 * packed seal as `signature` of the last one or as an entry `reasoning.encrypted` of its own. Every entry is whole
 * and has its own `index`, so that clients may append, replace or merge lists by index and send back the same.
 */
export function printDetails(
  { parts, seal, id }: Reasoning,
  place: Offset,
  first: number,
  origin: string,
): JsonObject[] {
  if (!seal) return []
  const entries: JsonObject[] = parts.map(({ kind, text }, at) =>
    kind === 'summary'
      ? { type: 'reasoning.summary', summary: text, index: first + at }
      : { type: 'reasoning.text', text, index: first + at },
  )
  const packed = packSeal(origin, defined({ kind: seal.kind, data: seal.data, id, parts: parts.length, place }))
  if (seal.kind === 'signature' && parts.at(-1)?.kind === 'text') {
    return [...entries.slice(0, -1), { ...entries.at(-1), signature: packed }]
  }
  return [...entries, { type: 'reasoning.encrypted', data: packed, index: first + parts.length }]
}

/**
 * The blocks that a client sends back. A seal of another gateway has no origin. Readable text without a seal is kept.
 */
export function parseDetails(details: readonly JsonObject[]): Placed[] {
  const placed: Placed[] = []
  let loose: ReasoningPart[] = []
  const settle = () => {
    if (loose.length > 0)
      placed.push({ reasoning: { type: 'reasoning', parts: loose }, place: placed.at(-1)?.place ?? start })
    loose = []
  }
  for (const entry of details) {
    const part = readable(entry)
    if (part) loose.push(part)
    const sealed = sealedBy(entry)
    if (!sealed) continue
    const parts = sealed.parts === 0 ? [] : loose.splice(-sealed.parts)
    settle()
    const { id, seal, place } = sealed
    placed.push({ reasoning: defined({ type: 'reasoning' as const, id, parts, seal }), place })
  }
  settle()
  return placed
}

function readable(entry: JsonObject): ReasoningPart | undefined {
  if (typeof entry['summary'] === 'string') return { kind: 'summary', text: entry['summary'] }
  return typeof entry['text'] === 'string' ? { kind: 'text', text: entry['text'] } : undefined
}

function sealedBy({ signature, data, text }: JsonObject): Sealed | undefined {
  const written = typeof signature === 'string' && signature !== '' ? signature : data
  if (typeof written !== 'string') return undefined
  const unpacked = unpackSeal(written)
  if (unpacked) return sealOf(unpacked.origin, unpacked.value)
  if (written === data) return { seal: { kind: 'encrypted', data }, parts: 0, place: start }
  return { seal: { kind: 'signature', data: written }, parts: typeof text === 'string' ? 1 : 0, place: start }
}

/** The packed value, if it has the shape that `printDetails` makes. */
function sealOf(origin: string, value: unknown): Sealed | undefined {
  if (!isObject(value)) return undefined
  const { kind, data, id, parts, place } = value
  if (kind !== 'signature' && kind !== 'redacted' && kind !== 'encrypted') return undefined
  if (typeof data !== 'string' || !Array.isArray(place)) return undefined
  return defined({
    seal: { origin, kind, data } as const,
    id: typeof id === 'string' ? id : undefined,
    parts: Math.max(0, Number(parts) || 0),
    place: [Number(place[0]) || 0, Number(place[1]) || 0] as const,
  })
}
