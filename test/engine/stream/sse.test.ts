import { expect } from 'chai'
import fc from 'fast-check'
import type { Frame } from '../../../engine/index.ts'
import { FrameDecoder, encodeFrame } from '../../../engine/kit.ts'

function decode(chunks: readonly Uint8Array[]): Frame[] {
  const decoder = new FrameDecoder()
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

const transcript =
  '\ufeff: hello\n\nevent: one\ndata: {"text":"grüße 🦜"}\nid: 7\n\ndata:two\ndata: lines\n\n: keep-alive\n\nevent:\ndata\n\ndata: [DONE]\n\n'
const frames: Frame[] = [
  { event: 'one', data: '{"text":"grüße 🦜"}' },
  { data: 'two\nlines' },
  { data: '' },
  { data: '[DONE]' },
]

describe('FrameDecoder', () => {
  for (const [name, ending] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ] as const)
    it(`reads the same events however they are cut, with ${name}`, () => {
      const bytes = Buffer.from(transcript.replaceAll('\n', ending))
      for (let cut = 0; cut <= bytes.length; cut++)
        expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).to.deep.equal(frames)
      expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).to.deep.equal(frames)
    })

  it('gives the last event when the stream ends without an empty line', () => {
    expect(decode([Buffer.from('data: a\n\ndata: b')])).to.deep.equal([{ data: 'a' }, { data: 'b' }])
  })

  it('reads an event of many megabytes, and refuses one beyond 64 MiB, in one line or in many', () => {
    const piece = Buffer.from('x'.repeat(1024 * 1024))
    const [large] = decode([Buffer.from('data: '), ...Array.from({ length: 20 }, () => piece), Buffer.from('\n\n')])
    expect(large?.data.length).to.equal(20 * 1024 * 1024)
    const much = Array.from({ length: 64 }, () => piece)
    expect(() => decode([Buffer.from('data: '), ...much])).to.throw('larger than')
    const line = Buffer.from(`data: ${'x'.repeat(600_000)}\n`)
    expect(() => decode(Array.from({ length: 115 }, () => line))).to.throw('larger than')
  })

  it('reads back what encodeFrame wrote', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(
        fc.array(fc.record({ event: fc.option(fc.constantFrom('a', 'b.c'), { nil: undefined }), data: text })),
        (written) => {
          const sent = written.map(({ event, data }) => (event === undefined ? { data } : { event, data }))
          expect(decode([Buffer.from(sent.map(encodeFrame).join(''))])).to.deep.equal(sent)
        },
      ),
    )
  })
})
