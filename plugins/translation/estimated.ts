import type { AnyCodec, Usage } from '../../engine/index.ts'
import type { HeadAndTail } from './head-and-tail.ts'
import type { AnswerContext } from './answer-context.ts'

/** A usage that was estimated locally, marked as such. */
export interface Estimated {
  readonly usage: Usage
  readonly estimated: true
}

/**
 * The usage of an answer whose end did not arrive: the numbers that the provider reported; otherwise the output is
 * estimated from the bytes of text that arrived, and the input from the texts and media of the request.
 */
export function estimated(
  { request: { protocol, body }, tokens }: Pick<AnswerContext, 'request' | 'tokens'>,
  told: Usage | undefined,
  said: number,
): Estimated {
  const { reasoning = 0 } = told ?? {}
  const output = Math.max(told?.output ?? 0, tokens.ofBytes(said) - reasoning)
  const read = told ?? { input: tokens.ofRequest(protocol, body), cacheRead: 0, cacheWrite: 0 }
  return { usage: { ...read, output, reasoning }, estimated: true }
}

/** Bytes of text in a relayed stream: those of the kept tail, scaled to the whole stream. */
export function saidIn({ meter }: AnyCodec, ends: HeadAndTail): number {
  if (ends.kept === 0) return 0
  const kept = ends.last(Infinity).reduce((sum, frame) => sum + (meter.said?.(frame) ?? 0), 0)
  return Math.round((kept * ends.total) / ends.kept)
}
