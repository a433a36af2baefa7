import { FrameDecoder, bufferOf, encodeFrame } from '../../../engine/index.ts'
import type { Hidden } from '../../../engine/index.ts'

/** Takes hidden frames out of whole events; where there are none, as nearly always, the bytes stay what they are. */
export function withoutHidden(hidden: Hidden | undefined): (events: Uint8Array) => Uint8Array {
  if (!hidden) return (events) => events
  return (events) => {
    if (!bufferOf(events).includes(hidden.sign)) return events
    const frames = new FrameDecoder().push(events)
    const left = frames.filter((frame) => !hidden.is(frame))
    return left.length === frames.length ? events : Buffer.from(left.map(encodeFrame).join(''))
  }
}
