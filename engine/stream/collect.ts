import { GatewayError } from '../spec/error.ts'
import type { Flow, Source } from '../spec/source.ts'
import { joinedBytes } from './buffer-of.ts'
import { byteBudgetSpent } from './byte-budget.ts'
import type { Hold } from './byte-budget.ts'

/**
 * All bytes of a source. What they take from `hold` stays taken; it is released when they are refused.
 * Rejects, and closes its feed, as soon as they are more than `limit` (`upstream_invalid_response`) or than there is
 * room for (`overloaded`).
 */
export function collect(source: Source, limit: number, hold?: Hold): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = []
    let size = 0
    const refuse = (error: Error) => {
      parts.length = 0
      hold?.release()
      reject(error)
    }
    const flow: Flow = source.open({
      data(chunk) {
        size += chunk.length
        const error =
          size > limit ? tooLarge(limit) : hold?.take(chunk.length) === false ? byteBudgetSpent() : undefined
        if (!error) {
          parts.push(chunk)
          return
        }
        flow.cancel(error)
        refuse(error)
      },
      end() {
        resolve(joinedBytes(parts))
      },
      fail: refuse,
    })
  })
}

/** Why bytes beyond a limit are not read. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    'upstream_invalid_response',
    { reason: `its body is larger than ${limit} bytes` },
    { tags: ['invalid'] },
  )
}
