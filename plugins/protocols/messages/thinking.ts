import type { JsonObject, Reasoning, Seal } from '../../../engine/index.ts'
import { isObject, packSeal, unpackSeal } from '../../../engine/kit.ts'
import type { RedactedThinkingBlock, ThinkingBlock } from './wire.ts'

/** Separator between the parts of a reasoning item, which is a single text in this protocol. */
export const partBreak = '\n\n'

/** The content of a packed seal: the fields of its item that a thinking block lacks. */
interface Packed {
  readonly seal: Seal
  readonly id?: string
  /** Kind and length of each part of the readable text; absent for a single summary. */
  readonly shape?: readonly (readonly [kind: 'summary' | 'text', length: number])[]
}

/** Parses a thinking block of a client's history. Only a seal that this gateway packed has an origin. */
export function parseThinking(block: ThinkingBlock | RedactedThinkingBlock): Reasoning {
  const redacted = block.type === 'redacted_thinking'
  const text = redacted ? '' : block.thinking
  const proof = (redacted ? block.data : block.signature) ?? ''
  if (proof === '') return { type: 'reasoning', parts: parts(text) }
  const packed = unpack(proof)
  if (!packed)
    return { type: 'reasoning', parts: parts(text), seal: { kind: redacted ? 'redacted' : 'signature', data: proof } }
  return {
    type: 'reasoning',
    parts: parts(text, packed.shape),
    seal: packed.seal,
    ...(packed.id === undefined ? {} : { id: packed.id }),
  }
}

/** States an origin, and proves nothing: some clients drop thinking blocks without a signature. */
const unproven: Seal = { kind: 'signature', data: '' }

/** Reasoning as a block for a client; undefined if there is neither text nor a seal. */
export function clientThinking(item: Reasoning, origin: string): ThinkingBlock | RedactedThinkingBlock | undefined {
  const thinking = joined(item)
  const signature = pack(
    item,
    item.parts.map(({ kind, text }) => [kind, text.length] as const),
    origin,
  )
  if (thinking === '' && !item.seal) return undefined
  if (thinking === '' && item.seal?.kind !== 'signature') return { type: 'redacted_thinking', data: signature }
  return { type: 'thinking', thinking, signature }
}

/** The seal of a message, for which the protocol has no place in texts, as the block after it. */
export function messageSeal(seal: Seal | undefined, origin: string): RedactedThinkingBlock | undefined {
  return seal && { type: 'redacted_thinking', data: pack({ seal }, [], origin) }
}

/** Reasoning as a block for its `origin`; undefined if another origin made it or it has no proof. */
export function upstreamThinking(item: Reasoning, origin: string): ThinkingBlock | RedactedThinkingBlock | undefined {
  const { seal } = item
  if (!seal || seal.origin !== origin || seal.data === '') return undefined
  if (seal.kind === 'signature') return { type: 'thinking', thinking: joined(item), signature: seal.data }
  return seal.kind === 'redacted' ? { type: 'redacted_thinking', data: seal.data } : undefined
}

/** The seal of an item as text that a client sends back. Without a seal, it only states the origin. */
export function pack(
  { id, seal = unproven }: Pick<Reasoning, 'id' | 'seal'>,
  shape: NonNullable<Packed['shape']>,
  origin: string,
): string {
  const single = shape.length === 0 || (shape.length === 1 && shape[0]?.[0] === 'summary')
  const value: JsonObject = {
    kind: seal.kind,
    data: seal.data,
    ...(id === undefined ? {} : { id }),
    ...(single ? {} : { shape }),
  }
  return packSeal(seal.origin ?? origin, value)
}

function unpack(text: string): Packed | undefined {
  const packed = unpackSeal(text)
  if (!packed || !isObject(packed.value)) return undefined
  const { kind, data, id, shape } = packed.value
  if ((kind !== 'signature' && kind !== 'redacted' && kind !== 'encrypted') || typeof data !== 'string')
    return undefined
  return {
    seal: { origin: packed.origin, kind, data },
    ...(typeof id === 'string' ? { id } : {}),
    ...(isShape(shape) ? { shape } : {}),
  }
}

/** Checks the shape. Packed texts are not signed, so a client may have made one. */
function isShape(value: unknown): value is NonNullable<Packed['shape']> {
  if (!Array.isArray(value)) return false
  return value.every((part: unknown) => {
    if (!Array.isArray(part)) return false
    const [kind, length] = part as unknown[]
    return (kind === 'summary' || kind === 'text') && Number.isSafeInteger(length) && Number(length) >= 0
  })
}

function joined(item: Reasoning): string {
  return item.parts.map((part) => part.text).join(partBreak)
}

/** Splits a text into its original parts. A text that a client has changed stays whole. */
function parts(text: string, shape: Packed['shape'] = []): Reasoning['parts'] {
  const cut: { kind: 'summary' | 'text'; text: string }[] = []
  let at = 0
  for (const [kind, length] of shape) {
    cut.push({ kind, text: text.slice(at, at + length) })
    at += length + partBreak.length
  }
  if (cut.length > 0 && at - partBreak.length === text.length) return cut
  return text === '' ? [] : [{ kind: 'summary', text }]
}
