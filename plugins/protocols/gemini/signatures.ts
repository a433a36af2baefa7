import type { Json, JsonObject, Reasoning, Seal } from '../../../engine/index.ts'
import { defined, isObject, packSeal, unpackSeal } from '../../../engine/kit.ts'
import { parseThinking } from '../messages/thinking.ts'

/** What the vendor accepts in place of a signature, for calls of other models and calls whose signature is lost. */
export const placeholderSignature = 'skip_thought_signature_validator'

/** What a signature of a client's history seals. */
export interface Signed {
  readonly blocks: readonly Reasoning[]
  /** Where they stand: before the part that has the signature, before the text before that part, or after the part. */
  readonly place: 'before' | 'ahead' | 'after'
}

type Sealed = Reasoning & { readonly seal: Seal }

/**
 * The signatures of an answer for a client. That of reasoning stands on the call that follows, as the vendor's do, else
 * on the text: official clients drop thoughts from their history, so it holds the text that its seal vouches for.
 */
export class Signatures {
  readonly #origin: string
  /** Reasoning that no call has followed. */
  #waiting: readonly Sealed[] = []
  /** Whether the text after it has its signature. */
  #said = false

  constructor(origin: string) {
    this.#origin = origin
  }

  add(block: Sealed): void {
    this.#waiting = this.#said ? [block] : [...this.#waiting, block]
    this.#said = false
  }

  ofCall(): JsonObject {
    const blocks = this.#waiting
    this.#waiting = []
    return blocks.length === 0 ? {} : this.#signed(blocks, this.#said ? { ahead: true } : {})
  }

  /**
   * For the first text after reasoning. Whether a call follows is not known yet, and official clients keep the signature
   * of the first text alone, so a call has it, too.
   */
  ofText(): JsonObject {
    if (this.#said || this.#waiting.length === 0) return {}
    this.#said = true
    return this.#signed(this.#waiting)
  }

  /** What no call and no text has, as a part of its own. */
  rest(): readonly JsonObject[] {
    const signed = this.ofText()
    this.#waiting = []
    return Object.keys(signed).length > 0 ? [{ text: '', ...signed }] : []
  }

  /** The part that ends a sealed message. */
  ofMessage({ kind, data, origin = this.#origin }: Seal): JsonObject {
    return { text: '', thoughtSignature: encoded(packSeal(origin, { kind, data })) }
  }

  /** @param place `ahead`: text stands between the blocks and the part */
  #signed(blocks: readonly Sealed[], place: { readonly ahead?: true } = {}): JsonObject {
    const packed = blocks.map(({ id, parts, seal: { kind, data } }) =>
      defined({ kind, data, id, parts: kind === 'signature' ? parts.map((part) => ({ ...part })) : undefined }),
    )
    const origin = blocks[0]?.seal.origin ?? this.#origin
    return { thoughtSignature: encoded(packSeal(origin, { blocks: packed, ...place })) }
  }
}

/** Signatures are bytes here, in base64: official clients decode them. */
function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Reads a signature; `text` is that of the thought before it. Only one that this gateway packed has an origin. */
export function parseSigned(text: string, signature: string): Signed {
  const decoded = Buffer.from(signature, 'base64').toString()
  const own = unpacked(decoded)
  if (own)
    return { ...own, blocks: own.blocks.length === 1 ? own.blocks.map((block) => shown(block, text)) : own.blocks }
  const packed = parseThinking({ type: 'thinking', thinking: text, signature: decoded })
  if (packed.seal?.origin !== undefined) return { blocks: [packed], place: 'after' }
  return { blocks: [parseThinking({ type: 'thinking', thinking: text, signature })], place: 'after' }
}

/** A block with the text that its client was shown, unless it holds its own. */
function shown(block: Reasoning, text: string): Reasoning {
  return block.parts.length > 0 || text === '' ? block : { ...block, parts: [{ kind: 'summary', text }] }
}

/** What `Signatures` packed. It is not signed, so a client may have made it. */
function unpacked(text: string): Signed | undefined {
  const packed = unpackSeal(text)
  if (!packed || !isObject(packed.value) || !Array.isArray(packed.value.blocks)) return undefined
  const { blocks, ahead } = packed.value
  return {
    blocks: blocks.flatMap((block) => blockOf(block, packed.origin)),
    place: ahead === true ? 'ahead' : 'before',
  }
}

function blockOf(block: Json, origin: string): readonly Reasoning[] {
  if (!isObject(block)) return []
  const { kind, data, id, parts } = block
  if ((kind !== 'signature' && kind !== 'redacted' && kind !== 'encrypted') || typeof data !== 'string') return []
  const read = Array.isArray(parts) ? parts.flatMap(partOf) : []
  return [{ type: 'reasoning', parts: read, seal: { origin, kind, data }, ...(typeof id === 'string' ? { id } : {}) }]
}

function partOf(part: Json): Reasoning['parts'] {
  if (!isObject(part) || typeof part.text !== 'string') return []
  return [{ kind: part.kind === 'text' ? 'text' : 'summary', text: part.text }]
}
