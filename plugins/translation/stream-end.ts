import { FrameDecoder, encodeFrame, parsedJson } from '../../engine/kit.ts'
import type { AnyCodec, Failure, Frame, Metered } from '../../engine/index.ts'
import type { HeadAndTail } from './head-and-tail.ts'

/** Bytes at the end of a stream that usually contain its last frames, and bytes that otherwise do. */
export const nearEnd = 2 * 1024
export const farEnd = 8 * 1024

/** The measurement of a relayed stream, and the failure that ended it. */
export type Measured = Metered & { readonly complete: boolean; readonly failure?: Failure }

/** What the head and the tail of a stream tell, whose last frames are `near`. */
export function metered(codec: AnyCodec, ends: HeadAndTail, near: readonly Frame[]): Measured {
  const first = ends.first()
  const read = codec.meter.stream(first, near)
  if ((read.complete && read.usage) || ends.within(nearEnd)) return read
  const far = codec.meter.stream(first, ends.last(Infinity))
  const torn = far.complete && far.usage ? undefined : codec.meter.torn?.(ends.torn())
  return torn ? { ...far, ...torn, complete: true } : far
}

/** The failure that the upstream itself ended its stream with. */
export function announced(codec: AnyCodec, frames: readonly Frame[]): Failure | undefined {
  for (const frame of frames) {
    const failure = codec.failed?.(frame)
    if (failure) return failure
  }
  return undefined
}

/** An incomplete event with the empty line that ends it; empty if its data is not whole. */
export function completed(bytes: Uint8Array | undefined): string {
  if (!bytes) return ''
  const decoder = new FrameDecoder()
  const frames = [...decoder.push(bytes), ...decoder.end()]
  return frames.every(isWhole) ? printed(frames) : ''
}

function isWhole({ data }: Frame): boolean {
  return data === '[DONE]' || parsedJson(data) !== undefined
}

/** The frames at the end. Bytes further back are searched only if an event is larger than the last bytes. */
export function lately(ends: HeadAndTail): readonly Frame[] {
  const near = ends.last(nearEnd)
  return near.length > 0 ? near : ends.last(Infinity)
}

export function printed(frames: readonly Frame[]): string {
  return frames.map(encodeFrame).join('')
}
