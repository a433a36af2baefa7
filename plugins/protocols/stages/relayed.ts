import { FrameDecoder, GatewayError, StreamEnds, WholeFrames, encodeFrame, through } from '../../../engine/index.ts'
import type { AnyCodec, Failure, Frame, Metered, Source } from '../../../engine/index.ts'
import type { Back, Exchange } from './translate-back.ts'
import { failureOf } from './translate-back.ts'

/** Bytes at the end of a stream in which its last frames nearly always are, and in which they are else. */
const nearEnd = 2 * 1024
const farEnd = 16 * 1024

/**
 * A stream of the client's own protocol, passed on event by event, byte for byte. Its usage is read from its ends once
 * it is over. A stream that breaks, or ends before its protocol's last word, ends in the protocol's own way of failing.
 */
export function relayed(exchange: Exchange, source: Source): Back {
  const { codec, scope, candidate } = exchange
  const ends = new StreamEnds(farEnd)
  const whole = new WholeFrames()
  let read: Measured | undefined
  let failure: Failure | undefined
  const measured = () => (read ??= metered(codec, ends, ends.last(nearEnd)))
  const failing = (error: unknown): readonly Frame[] | undefined => {
    failure = failureOf(error)
    return codec.fail?.(failure, scope.id, ends.last(nearEnd).at(-1), ends.opening())
  }
  /** The last event, if only the empty line after it is missing; what is left of a broken one is dropped. */
  const rest = (): string => {
    const text = completed(whole.rest())
    ends.add(Buffer.from(text))
    return text
  }
  const relay = through(source, {
    data(chunk) {
      const bytes = whole.push(chunk)
      if (bytes) ends.add(bytes)
      return bytes
    },
    end() {
      const last = rest()
      const near = ends.last(nearEnd)
      failure = announced(codec, near)
      if (!failure) read = metered(codec, ends, near)
      const frames =
        failure || read?.complete
          ? codec.close?.(scope.id, near.at(-1), ends.opening())
          : failing(cutShort(candidate.model.name))
      return Buffer.from(last + printed(frames ?? []))
    },
    fail(error) {
      const last = rest()
      const frames = failing(error)
      return frames && Buffer.from(last + printed(frames))
    },
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
  if (read.complete && read.usage) return read
  const far = codec.meter.stream(first, ends.last(Infinity))
  const torn = far.complete ? undefined : codec.meter.torn?.(ends.torn())
  return torn ? { ...far, ...torn, complete: true } : far
}

/** The failure that the upstream itself ended its stream with. */
function announced(codec: AnyCodec, frames: readonly Frame[]): Failure | undefined {
  for (const frame of frames) {
    const failure = codec.failed?.(frame)
    if (failure) return failure
  }
  return undefined
}

/** What has arrived of an event with the empty line that ends it; nothing when its data is not whole. */
function completed(bytes: Uint8Array | undefined): string {
  if (!bytes) return ''
  const decoder = new FrameDecoder()
  const frames = [...decoder.push(bytes), ...decoder.end()]
  return frames.every(isWhole) ? printed(frames) : ''
}

function isWhole({ data }: Frame): boolean {
  if (data === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch {
    // What does not parse was cut in the middle.
    return false
  }
}

function printed(frames: readonly Frame[]): string {
  return frames.map(encodeFrame).join('')
}

function cutShort(model: string): GatewayError {
  return new GatewayError('upstream_error', { model, reason: 'the stream ended before it was complete' })
}
