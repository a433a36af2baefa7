import { mock } from 'node:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { expect } from 'chai'
import fc from 'fast-check'
import { FrameDecoder, Hold, byteBudgetOf } from '../../../engine/kit.ts'
import type { GatewayError } from '../../../engine/index.ts'
import { AwsEventStream } from '../../../plugins/translation/aws-event-stream.ts'
import { awsMessage } from '../../support/aws-event-stream.ts'

/** The frames of a stream that arrives in pieces. */
function framesOf(pieces: readonly Uint8Array[], stream = new AwsEventStream()) {
  const decoder = new FrameDecoder()
  return pieces.flatMap((piece) => {
    const bytes = stream.data(piece)
    return bytes ? decoder.push(bytes) : []
  })
}

const thrown = (run: () => unknown): GatewayError => {
  try {
    run()
  } catch (error) {
    return error as GatewayError
  }
  throw new Error('it did not throw')
}

describe('AWS event streams', () => {
  it('are read however they are cut, and headers of every type are passed over', () => {
    const other = Buffer.concat(
      [
        [0],
        [1],
        [2, 9],
        [3, 1, 2],
        [4, 1, 2, 3, 4],
        [5, 1, 2, 3, 4, 5, 6, 7, 8],
        [6, 0, 2, 7, 7],
        [8, 1, 2, 3, 4, 5, 6, 7, 8],
      ].map((value) => Buffer.from([1, 120, ...value])),
    )
    const delta = (value: string) => awsMessage({ ':message-type': 'event', ':event-type': 'delta' }, { value }, other)
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), fc.array(fc.nat()), (texts, cuts) => {
        const bytes = Buffer.concat(texts.map(delta))
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((one, two) => one - two), bytes.length]
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
        expect(framesOf(pieces)).to.deep.equal(
          texts.map((value) => ({ event: 'delta', data: JSON.stringify({ value }) })),
        )
      }),
    )
  })

  it("are read as the vendor's own codec writes them", () => {
    const codec = new EventStreamCodec(
      (bytes) => Buffer.from(bytes as Uint8Array).toString(),
      (text) => Buffer.from(text),
    )
    const message = codec.encode({
      headers: {
        ':event-type': { type: 'string', value: 'delta' },
        sure: { type: 'boolean', value: true },
        at: { type: 'timestamp', value: new Date(0) },
        size: { type: 'integer', value: -1 },
      },
      body: Buffer.from('{"text":"été"}'),
    })
    expect(framesOf([message])).to.deep.equal([{ event: 'delta', data: '{"text":"été"}' }])
    expect(codec.decode(awsMessage({ ':event-type': 'delta' }, 'x')).headers[':event-type']?.value).to.equal('delta')
  })

  it('name exceptions and errors, and keep a payload on one line', () => {
    expect(
      framesOf([
        awsMessage({ ':message-type': 'exception', ':exception-type': 'throttling' }, { message: 'slow' }),
        awsMessage({ ':message-type': 'error', ':error-code': 'Internal', ':error-message': 'it "broke"' }, ''),
        awsMessage({}, '{\r\n  "a": 1\n}'),
      ]),
    ).to.deep.equal([
      { event: 'throttling', data: '{"message":"slow"}' },
      { event: 'Internal', data: '{"message":"it \\"broke\\""}' },
      { data: '{    "a": 1 }' },
    ])
  })

  it('break where they are damaged, anywhere', () => {
    const good = awsMessage({ ':event-type': 'delta' }, { value: 'x' })
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good)
      bad[at] = (bad[at] ?? 0) ^ 0x40
      // The message after it would be read as part of one that says that it is longer.
      const error = thrown(() => framesOf([bad, good]))
      expect(error).to.include({ code: 'upstream_invalid_response' })
      expect(error.tags).to.include('invalid')
    }
    const outside = awsMessage({}, '', Buffer.from([200, 1, 7]))
    expect(thrown(() => framesOf([outside]))).to.include({ code: 'upstream_invalid_response' })
  })

  it('break where their last message is cut off', () => {
    const message = awsMessage({ ':event-type': 'delta' }, { value: 'x' })
    for (let at = 1; at <= message.length; at++) {
      const stream = new AwsEventStream()
      framesOf([message, message.subarray(0, at)], stream)
      if (at === message.length) expect(stream.end()).to.equal(undefined)
      else expect(thrown(() => stream.end())).to.include({ code: 'upstream_invalid_response' })
    }
  })

  it('hold no more than there is room for', () => {
    const message = awsMessage({ ':event-type': 'delta' }, { value: 'x'.repeat(5_000) })
    expect(thrown(() => framesOf([message.subarray(0, 12)], new AwsEventStream({ limit: 4_000 })))).to.include({
      code: 'upstream_invalid_response',
    })
    const tight = { limit: 64_000, hold: new Hold(byteBudgetOf(1_000), 0) }
    expect(thrown(() => framesOf([message.subarray(0, 2_000)], new AwsEventStream(tight)))).to.include({
      code: 'overloaded',
    })
    expect(framesOf([message], new AwsEventStream(tight))).to.have.length(1)
  })

  it('are joined from their pieces with work that grows with their size alone', () => {
    const message = awsMessage({ ':event-type': 'image' }, { data: 'x'.repeat(256 * 1024) })
    const pieces = Array.from({ length: Math.ceil(message.length / 256) }, (_, at) =>
      message.subarray(at * 256, (at + 1) * 256),
    )
    let joined = 0
    const join = mock.method(Buffer, 'concat', (parts: readonly Uint8Array[]) => {
      const size = parts.reduce((sum, { length }) => sum + length, 0)
      const whole = Buffer.alloc(size)
      let at = 0
      for (const part of parts) {
        whole.set(part, at)
        at += part.length
      }
      joined += size
      return whole
    })
    try {
      const stream = new AwsEventStream()
      const events = pieces.flatMap((piece) => stream.data(piece) ?? [])
      expect(events).to.have.length(1)
    } finally {
      join.mock.restore()
    }
    expect(joined).to.be.below(3 * message.length)
  })
})
