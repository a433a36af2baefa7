import { GatewayError } from '../spec/error.ts'
import type { Body, BodyReader, Flow, HeldBody, Source } from '../spec/source.ts'
import { pull } from './pull.ts'

/** A body held in memory. */
export class BytesBody implements HeldBody {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get size(): number {
    return this.bytes.length
  }

  open(from?: number, to?: number): Source {
    return pull(once(this.bytes.subarray(from, to)))
  }
}

async function* once(bytes: Buffer) {
  if (bytes.length > 0) yield bytes
}

/** Reads a body that is already in memory, like `Ingress.body`. Rejects with `request_too_large`. */
export async function readHeld(body: HeldBody, limit: number, reader?: BodyReader): Promise<HeldBody> {
  if (body.size > limit) throw new GatewayError('request_too_large', { limit })
  reader?.push(body.bytes)
  return body
}

/** A body with `bytes` in place of the range from `start` to `end`. A body in memory is copied. */
export function spliced(body: Body, { start, end }: { start: number; end: number }, bytes: Buffer): Body {
  if (!body.bytes) return new SplicedBody(body, start, end, bytes)
  return new BytesBody(Buffer.concat([body.bytes.subarray(0, start), bytes, body.bytes.subarray(end)]))
}

/** A body outside of memory with one range replaced. */
class SplicedBody implements Body {
  readonly size: number
  readonly #body: Body
  readonly #start: number
  readonly #end: number
  readonly #bytes: BytesBody

  constructor(body: Body, start: number, end: number, bytes: Buffer) {
    this.size = body.size - (end - start) + bytes.length
    this.#body = body
    this.#start = start
    this.#end = end
    this.#bytes = new BytesBody(bytes)
  }

  open(from = 0, to = this.size): Source {
    /** End of the replacement, and the offset by which later bytes have moved. */
    const after = this.#start + this.#bytes.size
    const moved = this.#end - after
    return chained([
      this.#body.open(Math.min(from, this.#start), Math.min(to, this.#start)),
      this.#bytes.open(Math.max(0, from - this.#start), Math.max(0, to - this.#start)),
      this.#body.open(Math.max(from, after) + moved, Math.max(to, after) + moved),
    ])
  }
}

/** Concatenates sources; each is opened when the previous one has ended. */
function chained([first, ...others]: readonly [Source, ...Source[]]): Source {
  return {
    open(sink) {
      let paused = false
      const next = (source: Source): Flow =>
        source.open({
          data: (chunk) => sink.data(chunk),
          fail: (error) => sink.fail(error),
          end() {
            const following = others.shift()
            if (!following) return sink.end()
            flow = next(following)
            if (paused) flow.pause()
          },
        })
      let flow = next(first)
      return {
        pause() {
          paused = true
          flow.pause()
        },
        resume() {
          paused = false
          flow.resume()
        },
        cancel: (reason) => flow.cancel(reason),
      }
    },
  }
}
