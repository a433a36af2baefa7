import { FrameDecoder, bufferOf } from '../../engine/kit.ts'
import type { Hidden } from '../../engine/index.ts'

const emptyLine = '\n\n'

/**
 * Removes hidden frames from whole events whose lines end in LF. Only a frame with the mark of a hidden one is decoded,
 * because one read may contain hundreds. Without a hidden frame, which is nearly always so, the bytes stay unchanged.
 */
export function withoutHidden(hidden: Hidden | undefined): (events: Uint8Array) => Uint8Array {
  if (!hidden) return (events) => events
  return (events) => {
    const bytes = bufferOf(events)
    let at = bytes.indexOf(hidden.sign)
    if (at < 0) return events
    const kept: Uint8Array[] = []
    let from = 0
    while (at >= 0) {
      const before = bytes.lastIndexOf(emptyLine, at)
      const start = before < from ? from : before + emptyLine.length
      const after = bytes.indexOf(emptyLine, at)
      const end = after < 0 ? bytes.length : after + emptyLine.length
      const [frame] = new FrameDecoder().push(bytes.subarray(start, end))
      if (frame && hidden.is(frame)) {
        kept.push(bytes.subarray(from, start))
        from = end
      }
      at = bytes.indexOf(hidden.sign, end)
    }
    return from === 0 && kept.length === 0 ? events : Buffer.concat([...kept, bytes.subarray(from)])
  }
}
