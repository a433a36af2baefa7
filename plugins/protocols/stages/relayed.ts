import { GatewayError, StreamEnds, encodeFrame, through } from '../../../engine/index.ts'
import type { AnyCodec, Failure, Metered, Source } from '../../../engine/index.ts'
import type { Back, Exchange } from './translate-back.ts'
import { failureOf } from './translate-back.ts'

/** Bytes at the end of a stream in which its last frames nearly always are, and in which they surely are. */
const nearEnd = 4 * 1024
const wholeEnd = 256 * 1024

/**
 * A stream of the client's own protocol, passed on byte for byte. Its usage is read from its ends once it is over.
 * A stream that breaks, or ends before its protocol's last word, ends in the protocol's own way of failing.
 */
export function relayed(exchange: Exchange, source: Source): Back {
  const { codec, scope, candidate } = exchange
  const ends = new StreamEnds()
  let read: ReturnType<typeof metered> | undefined
  let failure: Failure | undefined
  const measured = () => (read ??= metered(codec, ends))
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
      failure = failedAtEnd(codec, ends)
      return failure || measured().complete ? undefined : ending(cutShort(candidate.model.name))
    },
    fail: ending,
  })
  return {
    body: { kind: 'stream', source: relay, type: 'text/event-stream; charset=utf-8' },
    meter: { read: () => ({ ...measured(), ...(failure ? { failure, complete: false } : {}), losses: [] }) },
    losses: [],
  }
}

function metered(codec: AnyCodec, ends: StreamEnds): Metered & { readonly complete: boolean } {
  const first = ends.first()
  const near = codec.meter.stream(first, ends.last(nearEnd))
  return near.complete && near.usage ? near : codec.meter.stream(first, ends.last(wholeEnd))
}

/** The failure that the upstream itself ended its stream with. */
function failedAtEnd(codec: AnyCodec, ends: StreamEnds): Failure | undefined {
  for (const frame of ends.last(nearEnd)) {
    const failure = codec.failed?.(frame)
    if (failure) return failure
  }
  return undefined
}

function cutShort(model: string): GatewayError {
  return new GatewayError('upstream_error', { model, reason: 'the stream ended before it was complete' })
}
