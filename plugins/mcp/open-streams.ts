import { GatewayError } from '../../engine/index.ts'
import type { Source } from '../../engine/index.ts'

/**
 * The streams of a session that answer no request, and live until their client leaves. A session has one at a time;
 * streams that are resumed do not count.
 */
export class OpenStreams {
  readonly #open = new Map<() => void, 'only' | 'resumed'>()
  #isReserved = false

  get any(): boolean {
    return this.#open.size > 0
  }

  /** Keeps the place of the only stream while it is about to open; the result gives it back. Throws `stream_open`. */
  reserve(): () => void {
    if (this.#isReserved || [...this.#open.values()].includes('only')) throw new GatewayError('stream_open')
    this.#isReserved = true
    return () => void (this.#isReserved = false)
  }

  /** The same stream, which ends with the session. */
  add(source: Source, as: 'only' | 'resumed'): Source {
    return {
      open: (sink) => {
        const over = () => this.#open.delete(close)
        const flow = source.open({
          data: (chunk) => sink.data(chunk),
          end() {
            if (over()) sink.end()
          },
          fail(error) {
            if (over()) sink.fail(error)
          },
        })
        const close = () => {
          flow.cancel(new Error('the session has ended'))
          if (over()) sink.end()
        }
        this.#open.set(close, as)
        return {
          pause: () => flow.pause(),
          resume: () => flow.resume(),
          cancel(reason) {
            over()
            flow.cancel(reason)
          },
        }
      },
    }
  }

  /** Ends all of them. */
  close(): void {
    for (const close of this.#open.keys()) close()
  }
}
