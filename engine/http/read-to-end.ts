import type { Source } from '../spec/source.ts'
import type { Scope } from '../spec/scope.ts'
import type { Sent } from './reply.ts'

/**
 * Reads a stream that no client reads, so that its stages see all of it. When the stream fails, the exchange is
 * aborted, or `take` throws, it rejects and cancels the source.
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
