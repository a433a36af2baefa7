import { GatewayError } from '../spec/error.ts'
import type { Flow, Source } from '../spec/source.ts'

/** All bytes of a source. Rejects, and closes its feed, as soon as they are more than `limit`. */
export function collect(source: Source, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = []
    let size = 0
    const flow: Flow = source.open({
      data(chunk) {
        size += chunk.length
        if (size <= limit) {
          parts.push(chunk)
          return
        }
        const error = new GatewayError('upstream_invalid_response', {
          reason: `its body is larger than ${limit} bytes`,
        })
        flow.cancel(error)
        reject(error)
      },
      end() {
        const [first] = parts
        const one = parts.length === 1 && Buffer.isBuffer(first) ? first : undefined
        resolve(one ?? Buffer.concat(parts, size))
      },
      fail: reject,
    })
  })
}
