import { expect } from 'chai'
import fc from 'fast-check'
import { scanJson, spliceString } from '../../../engine/http/scan.ts'

const scan = (text: string) => scanJson(Buffer.from(text), 'model')

describe('scanJson', () => {
  it('finds the value of the top-level field, wherever it stands', () => {
    const text = '{"messages":[{"model":"no","a":"\\"model\\":\\"x\\""}], "model" : "m\\u00e9" ,"z":{"model":1}}'
    const { body, token } = scan(text)
    expect(body['model']).to.equal('mé')
    expect(token && Buffer.from(text).subarray(token.start, token.end).toString()).to.equal('"m\\u00e9"')
  })

  it('reads an escaped key as the same key', () => {
    expect(scan('{"m\\u006fdel":"a","x":{"model":"b"}}').token).to.deep.equal({ start: 14, end: 17 })
  })

  it('gives no token when the field is missing, is no string or stands there twice', () => {
    for (const text of [
      '{}',
      '{"model":1}',
      '{"model":"a","model":"b"}',
      '{"model":null,"model":"b"}',
      '{"a":"model"}',
    ])
      expect(scan(text).token, text).to.equal(undefined)
  })

  it('refuses what is no object, no JSON or no UTF-8', () => {
    for (const text of ['[]', 'null', '"x"', '1']) expect(() => scan(text), text).to.throw('must be a JSON object')
    for (const text of ['', '{', '{"a":}', '\ufeff{}', '{"a":"\\', '}{'])
      expect(() => scan(text), text).to.throw('cannot be parsed')
    expect(() => scanJson(Buffer.from([0x7b, 0xff, 0x7d]), 'model')).to.throw('not UTF-8')
  })

  it('refuses depth 129 and takes depth 128', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect(scan(nested(128)).body).to.have.property('a')
    expect(() => scan(nested(129))).to.throw('deeper than 128')
    expect(() => scan('{"a":'.repeat(100_000))).to.throw('deeper than 128')
  })

  it('splices the name and nothing else, for any body', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(object, object, fc.string(), fc.string(), (before, after, model, next) => {
        const clean = (part: object) => Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'model'))
        const body = { ...clean(before), model, ...clean(after) }
        const bytes = Buffer.from(JSON.stringify(body, null, 1))
        const { token } = scanJson(bytes, 'model')
        if (!token) throw new Error('the token was not found')
        expect(JSON.parse(spliceString(bytes, token, next).toString())).to.deep.equal({
          ...JSON.parse(bytes.toString()),
          model: next,
        })
      }),
    )
  })
})
