import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { FrameDecoder, encodeFrame, fold } from '../../engine/kit.ts'
import type { AnyClientCodec, AnyUpstreamCodec, Frame, GenerateEvent, GenerateReply, Json } from '../../engine/index.ts'
import chat from '../../plugins/protocols/chat/codec.ts'
import converse from '../../plugins/protocols/converse/codec.ts'
import gemini from '../../plugins/protocols/gemini/codec.ts'
import messages from '../../plugins/protocols/messages/codec.ts'
import responses from '../../plugins/responses/codec.ts'
import { json, text } from './files.ts'

const clients: readonly AnyClientCodec[] = [chat, messages, responses]
const codecs: ReadonlyMap<string, AnyUpstreamCodec> = new Map(
  [chat, messages, responses, gemini, converse].map((codec) => [codec.protocol, codec]),
)
const endings = { LF: '\n', CRLF: '\r\n', CR: '\r' }
const asked = { id: '00000000-0000-7000-8000-000000000000', model: 'm', stream: true, body: {}, origin: 'o/m' }

const transcripts = readdirSync(join(import.meta.dirname, 'answers')).flatMap((file) => {
  const [name, protocol] = file.split('.')
  return file.endsWith('.frames.txt')
    ? [{ name: `${name}.${protocol}`, codec: codecs.get(protocol ?? '') as AnyUpstreamCodec }]
    : []
})

/** What clients of each protocol get of these frames of an upstream. */
function written(codec: AnyUpstreamCodec, frames: readonly Frame[]): string[] {
  const events = read(codec, frames)
  return clients.map((client) => {
    const writer = client.events?.printer(asked)
    return events.flatMap((event) => [...(writer?.print(event) ?? [])].map(encodeFrame)).join('')
  })
}

function read(codec: AnyUpstreamCodec, frames: readonly Frame[]): GenerateEvent[] {
  const reader = codec.events?.parser()
  if (!reader) return []
  return [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()] as GenerateEvent[]
}

function decode(...chunks: readonly Uint8Array[]): Frame[] {
  const decoder = new FrameDecoder()
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

describe('transcripts of upstreams', () => {
  // Answers tell the second in which they were made.
  const clock = Date.now
  before(() => {
    const now = clock()
    Date.now = () => now
  })
  after(() => (Date.now = clock))

  for (const { name, codec } of transcripts) {
    const transcript = text(`answers/${name}.frames.txt`)

    it(`${name}: amounts to the whole answer`, () => {
      const streamed = fold(read(codec, decode(Buffer.from(transcript))))
      expect(comparable(streamed)).to.deep.equal(
        comparable(codec.reply?.parse(json(`answers/${name}.json`)) as GenerateReply),
      )
    })

    it(`${name}: gives the same answer wherever it is cut, with any line ending`, () => {
      const expected = written(codec, decode(Buffer.from(transcript)))
      // A client's frames follow from the upstream's alone, so equal frames are written once.
      const known = new Map<string, string[]>()
      for (const [ending, characters] of Object.entries(endings)) {
        const bytes = Buffer.from(transcript.replaceAll('\n', characters))
        const check = (where: string, frames: readonly Frame[]) => {
          const key = frames.map(encodeFrame).join('')
          const answers = known.get(key) ?? written(codec, frames)
          known.set(key, answers)
          for (const [index, answer] of answers.entries()) {
            if (answer !== expected[index]) expect.fail(answer, expected[index], `${ending}, cut ${where}`)
          }
        }
        for (let at = 0; at <= bytes.length; at++)
          check(`at byte ${at}`, decode(bytes.subarray(0, at), bytes.subarray(at)))
        check('into single bytes', decode(...Array.from(bytes, (byte) => Uint8Array.of(byte))))
      }
    })
  }
})

/**
 * An answer without the tier, which is known only when its stream has begun, and with seals that are JSON read: the
 * order of their fields is that of their arrival.
 */
function comparable({ serviceTier: _tier, ...reply }: GenerateReply): unknown {
  return {
    ...reply,
    items: reply.items.map((item) => {
      if (item.type !== 'reasoning' || !item.seal?.data.startsWith('{')) return item
      return { ...item, seal: { ...item.seal, data: JSON.parse(item.seal.data) as Json } }
    }),
  }
}
