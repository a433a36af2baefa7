import { FrameDecoder, bufferOf, encodeFrame, isObject, mapTexts, parsedJson } from '../../engine/kit.ts'
import type { AnyCodec, Frame, Host, Json } from '../../engine/index.ts'

/**
 * Part of the word `error`, which is in every frame that announces a failure and in few others. A search stops at each
 * occurrence of its first byte, and chunks are full of the letter e.
 */
const mention = Buffer.from('rror')

/** Whole events with lines that end in LF, unchanged, except that our secrets are removed from failures. */
export function withoutSecrets(events: Uint8Array, codec: AnyCodec, { scrub }: Pick<Host, 'scrub'>): Buffer {
  const bytes = bufferOf(events)
  if (!bytes.includes(mention)) return bytes
  let changed = false
  const pieces = bytes
    .toString()
    .split(/(?<=\n\n)/)
    .map((piece) => {
      const [frame] = new FrameDecoder().push(Buffer.from(piece))
      if (!frame || !announces(frame, codec)) return piece
      changed = true
      return encodeFrame(scrubbedFrame(frame, scrub))
    })
  return changed ? Buffer.from(pieces.join('')) : bytes
}

/** Whether a frame announces a failure, in any protocol. */
function announces(frame: Frame, codec: AnyCodec): boolean {
  const { event = '' } = frame
  return event === 'error' || event.endsWith('failed') || codec.failed?.(frame) !== undefined
}

function scrubbedFrame({ event, data }: Frame, scrub: Host['scrub']): Frame {
  const value = parsedJson(data)
  const clean = value === undefined ? scrub(data) : JSON.stringify(scrubbedEvent(value, scrub))
  return event === undefined ? { data: clean } : { event: scrub(event), data: clean }
}

/** Fields with text that a model generated before the failure, which is not changed. */
const spoken: ReadonlySet<string> = new Set(['output', 'choices', 'candidates'])

function scrubbedEvent(value: Json, scrub: Host['scrub']): Json {
  if (!isObject(value)) return mapTexts(value, scrub)
  return Object.fromEntries(
    Object.entries(value).map(([name, member = null]) => {
      if (spoken.has(name)) return [name, member]
      return [scrub(name), name === 'response' ? scrubbedEvent(member, scrub) : mapTexts(member, scrub)]
    }),
  )
}
