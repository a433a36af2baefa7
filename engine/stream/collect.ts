import { GatewayError } from '../spec/error.ts'
import type { Flow, Source } from '../spec/source.ts'
import { joinedBytes } from './buffer-of.ts'
import { byteBudgetSpent } from './byte-budget.ts'
import type { Hold } from './byte-budget.ts'

/**
 * Collects all bytes of a source. Their reservation in `hold` stays; it is released when the bytes are refused.
 * Rejects, and cancels the source, as soon as there are more than `limit` bytes (`upstream_invalid_response`) or the
 * budget is exhausted (`overloaded`).
 */
export function collect(source: Source, limit: number, hold?: Hold): Promise<Buffer> {
  return new Promise((end, fail) => collecting(source, limit, hold, { end, fail }))
}

/** Like `collect`, without a promise. */
export function collecting(source: Source, limit: number, hold: Hold | undefined, { end, fail }: Collected): void {
  const parts: Uint8Array[] = []
  let size = 0
  const refuse = (error: Error) => {
    parts.length = 0
    hold?.release()
    fail(error)
  }
  const flow: Flow = source.open({
    data(chunk) {
      size += chunk.length
      const error = size > limit ? tooLarge(limit) : hold?.take(chunk.length) === false ? byteBudgetSpent() : undefined
      if (!error) {
        parts.push(chunk)
        return
      }
      flow.cancel(error)
      refuse(error)
    },
    end: () => end(joinedBytes(parts)),
    fail: refuse,
  })
}

/** Receives what was collected, or why it was not; one of both, once. */
export interface Collected {
  readonly end: (bytes: Buffer) => void
  readonly fail: (error: Error) => void
}

/** The error for a body beyond the limit. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: `its body is larger than ${limit} bytes` },
    { tags: ['invalid'], retry: 'other' },
  )
}
