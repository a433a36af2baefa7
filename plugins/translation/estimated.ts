import type { AnyCodec, Usage } from '../../engine/index.ts'
import type { HeadAndTail } from '../../engine/kit.ts'
import type { AnswerContext } from './answer-context.ts'

/** A usage that is counted here, and that it is. */
export interface Estimated {
  readonly usage: Usage
  readonly estimated: true
}

/**
 * The usage of an answer whose end nobody saw: what its provider has told of it, the output by the bytes of text that
 * arrived, and an input that was not told by the request's own texts and media.
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

/** Bytes of text that a relayed stream has brought: those of the kept end, in proportion to the whole of it. */
export function saidIn({ meter }: AnyCodec, ends: HeadAndTail): number {
  if (ends.kept === 0) return 0
  const kept = ends.last(Infinity).reduce((sum, frame) => sum + (meter.said?.(frame) ?? 0), 0)
  return Math.round((kept * ends.total) / ends.kept)
}
