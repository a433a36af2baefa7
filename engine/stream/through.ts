import type { Flow, Sink, Source } from '../spec/source.ts'

/** Transforms the bytes of a source on their way. Each method may return bytes to pass on. */
export interface Transform {
  data(chunk: Uint8Array): Uint8Array | undefined
  end?(): Uint8Array | undefined
  /** Called after each chunk. True: the reader needs no more, so the stream ends and its source is cancelled. */
  enough?(): boolean
  /** Bytes that end a failed stream properly for its reader; undefined: the stream fails. */
  fail?(error: Error): Uint8Array | undefined
}

/** A source whose bytes pass through `transform`. An error thrown by `data` fails the stream and cancels the source. */
export function through(source: Source, transform: Transform): Source {
  return {
    open(sink: Sink): Flow {
      let done = false
      const give = (bytes: Uint8Array | undefined) => {
        if (bytes !== undefined && bytes.length > 0) sink.data(bytes)
      }
      const broken = (error: Error) => {
        done = true
        const last = transform.fail?.(error)
        if (last === undefined) return sink.fail(error)
        give(last)
        sink.end()
      }
      const flow = source.open({
        data(chunk) {
          if (done) return
          let bytes: Uint8Array | undefined
          try {
            bytes = transform.data(chunk)
          } catch (error) {
            flow.cancel(error as Error)
            return broken(error as Error)
          }
          give(bytes)
          if (!transform.enough?.()) return
          done = true
          flow.cancel(new Error('its reader has all it wants'))
          sink.end()
        },
        end() {
          if (done) return
          done = true
          let bytes: Uint8Array | undefined
          try {
            bytes = transform.end?.()
          } catch (error) {
            return broken(error as Error)
          }
          give(bytes)
          sink.end()
        },
        fail(error) {
          if (!done) broken(error)
        },
      })
      return {
        pause: () => flow.pause(),
        resume: () => flow.resume(),
        cancel(reason) {
          done = true
          flow.cancel(reason)
        },
      }
    },
  }
}
