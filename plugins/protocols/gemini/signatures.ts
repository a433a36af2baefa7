import type { Reasoning, Seal } from '../../../engine/index.ts'
import { pack, parseThinking } from '../messages/thinking.ts'

/** What the vendor accepts in place of a signature, for calls of other models and calls whose signature is lost. */
export const placeholderSignature = 'skip_thought_signature_validator'

/** Kind and length of each part of the text that a client is shown. */
export type Shape = readonly (readonly [kind: 'summary' | 'text', length: number])[]

/** A seal as the signature of a part. Signatures are bytes here, in base64: official clients decode them. */
export function clientSignature(item: Pick<Reasoning, 'id'>, seal: Seal, shape: Shape, origin: string): string {
  return Buffer.from(pack({ ...item, seal }, shape, origin)).toString('base64')
}

/** Reasoning of a client's history. Only a signature that this gateway packed has an origin. */
export function parseSigned(text: string, signature: string): Reasoning {
  const decoded = Buffer.from(signature, 'base64').toString()
  const packed = parseThinking({ type: 'thinking', thinking: text, signature: decoded })
  if (packed.seal?.origin !== undefined) return packed
  return parseThinking({ type: 'thinking', thinking: text, signature })
}
