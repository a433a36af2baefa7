import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { JsonObject, SocketDialect } from '../../../engine/index.ts'
import { readFields, readMessage } from '../../../engine/sockets/socket-message.ts'

const dialect: SocketDialect = {
  fields: ['type', 'lane'],
  request({ type }: JsonObject) {
    if (type !== 'ask') throw new GatewayError('invalid_request', { reason: 'It must ask.' })
    return { stream: true }
  },
  printer: () => expect.fail('nothing is answered'),
}

describe('a message of a socket', () => {
  let asking: Buffer
  beforeEach(() => (asking = Buffer.from('{"type":"ask","lane":"a","input":"x"}')))

  it('is a request with other fields', () => {
    const { fields, body, error } = readMessage(asking, dialect)
    expect([fields, body.toString(), error]).to.deep.equal([
      { type: 'ask', lane: 'a' },
      '{"stream":true,"input":"x"}',
      undefined,
    ])
  })

  it('is not copied where what is cut out of it leaves room for the other fields', () => {
    for (const [text, shared] of [
      ['{"type":"ask","input":"x"}', false],
      ['{"type":"ask","lane":"a","input":"x"}', true],
      ['{"model":"m","type":"ask","n":1,"lane":"abcd","input":"x"}', true],
      ['{"input":"x","type":"ask"}', false],
      ['{"type" : "ask" , "input":"x"} ', true],
    ] as const) {
      const bytes = Buffer.from(text)
      const { body } = readMessage(bytes, dialect)
      expect(body.buffer === bytes.buffer && body.byteOffset < bytes.byteOffset + bytes.length, text).to.equal(shared)
      const { type: _, lane: __, ...others } = JSON.parse(text) as Record<string, unknown>
      expect(JSON.parse(body.toString())).to.deep.equal({ ...others, stream: true })
    }
  })

  it('that is refused is read like any other, and not copied', () => {
    const read = readFields(asking, dialect)
    expect(read.fields).to.deep.equal({ type: 'ask', lane: 'a' })
    expect(read).to.include({ body: asking }).and.not.have.property('error')
    const wrong = readFields(Buffer.from('{"type":"tell","lane":"b"}'), dialect)
    expect(wrong.fields).to.deep.equal({ type: 'tell', lane: 'b' })
    expect(wrong.error).to.include({ code: 'invalid_request' })
  })
})
