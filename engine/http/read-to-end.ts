import type { Source } from '../spec/source.ts'
import type { Scope } from '../spec/scope.ts'
import type { Sent } from './reply.ts'

/**
 * Reads a stream that no client waits for, so that its stages see all of it. Rejects, and closes what feeds it, when it
 * breaks, when the exchange is aborted, or when `take` throws.
 */
export function readToEnd(
  source: Source,
  scope: Pick<Scope, 'onAbort'>,
  take: (chunk: Uint8Array) => void = () => undefined,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    let firstByte: number | undefined
    let forget: () => void = () => undefined
    const refuse = (reason: Error) => {
      forget()
      reject(reason)
    }
    const flow = source.open({
      data(chunk) {
        firstByte ??= performance.now()
        bytes += chunk.length
        try {
          take(chunk)
        } catch (error) {
          flow.cancel(error as Error)
          refuse(error as Error)
        }
      },
      end() {
        forget()
        resolve({ bytes, firstByte, left: false })
      },
      fail: refuse,
    })
    forget = scope.onAbort((reason) => {
      flow.cancel(reason)
      refuse(reason)
    })
  })
}
