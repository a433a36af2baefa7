import { GatewayError, StreamEnds, encodeFrame, through } from '../../../engine/index.ts'
import type { AnyCodec, Failure, Frame, Metered, Source } from '../../../engine/index.ts'
import type { Back, Exchange } from './translate-back.ts'
import { failureOf } from './translate-back.ts'

/** Bytes at the end of a stream in which its last frames nearly always are, and in which they are else. */
const nearEnd = 2 * 1024
const farEnd = 16 * 1024

/**
 * A stream of the client's own protocol, passed on byte for byte. Its usage is read from its ends once it is over.
 * A stream that breaks, or ends before its protocol's last word, ends in the protocol's own way of failing.
 */
export function relayed(exchange: Exchange, source: Source): Back {
  const { codec, scope, candidate } = exchange
  const ends = new StreamEnds(farEnd)
  let read: Measured | undefined
  let failure: Failure | undefined
  const measured = () => (read ??= metered(codec, ends, ends.last(nearEnd)))
  const ending = (error: unknown): Uint8Array | undefined => {
    failure = failureOf(error)
    const frames = codec.fail?.(failure, scope.id, ends.last(nearEnd).at(-1))
    return frames && Buffer.from(frames.map(encodeFrame).join(''))
  }
  const relay = through(source, {
    data(chunk) {
      ends.add(chunk)
      return chunk
    },
    end() {
      const near = ends.last(nearEnd)
      failure = announced(codec, near)
      if (failure) return undefined
      read = metered(codec, ends, near)
      return read.complete ? undefined : ending(cutShort(candidate.model.name))
    },
    fail: ending,
  })
  return {
    body: { kind: 'stream', source: relay, type: 'text/event-stream; charset=utf-8' },
    meter: { read: () => ({ ...measured(), ...(failure ? { failure, complete: false } : {}), losses: [] }) },
    losses: [],
  }
}

type Measured = Metered & { readonly complete: boolean }

function metered(codec: AnyCodec, ends: StreamEnds, near: readonly Frame[]): Measured {
  const first = ends.first()
  const read = codec.meter.stream(first, near)
  return read.complete && read.usage ? read : codec.meter.stream(first, ends.last(Infinity))
}

/** The failure that the upstream itself ended its stream with. */
function announced(codec: AnyCodec, frames: readonly Frame[]): Failure | undefined {
  for (const frame of frames) {
    const failure = codec.failed?.(frame)
    if (failure) return failure
  }
  return undefined
}

function cutShort(model: string): GatewayError {
  return new GatewayError('upstream_error', { model, reason: 'the stream ended before it was complete' })
}
