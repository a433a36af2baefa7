import type { Flow, Sink, Source } from '../spec/source.ts'
import { joinedBytes } from './buffer-of.ts'

/**
 * Waits until the first bytes of `source` satisfy `enough` or the source has ended. Returns these bytes, and a source
 * that starts with them. Rejects when the source fails earlier.
 */
export function peek(
  source: Source,
  enough: (chunk: Uint8Array) => boolean,
): Promise<{ first: Buffer; source: Source }> {
  return new Promise((resolve, reject) => {
    const held: Uint8Array[] = []
    let sink: Sink | undefined
    let seen = false
    let ended = false
    let failure: Error | undefined
    const settle = () => {
      if (seen) return
      seen = true
      flow.pause()
      resolve({ first: joinedBytes(held), source: { open: (reader) => replay(reader) } })
    }
    const replay = (reader: Sink): Flow => {
      let cancelled = false
      // The reader must not be called before `open` has returned.
      queueMicrotask(() => {
        if (cancelled) return
        sink = reader
        for (const chunk of held.splice(0)) reader.data(chunk)
        if (failure) reader.fail(failure)
        else if (ended) reader.end()
        else flow.resume()
      })
      return {
        pause: () => flow.pause(),
        resume: () => flow.resume(),
        cancel(reason) {
          cancelled = true
          flow.cancel(reason)
        },
      }
    }
    const flow = source.open({
      data(chunk) {
        if (sink) return sink.data(chunk)
        held.push(chunk)
        if (enough(chunk)) settle()
      },
      end() {
        ended = true
        if (sink) sink.end()
        else settle()
      },
      fail(error) {
        failure = error
        if (sink) sink.fail(error)
        else if (!seen) {
          seen = true
          reject(error)
        }
      },
    })
  })
}
