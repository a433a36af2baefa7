import { expect } from 'chai'
import fc from 'fast-check'
import { cutMembers, pasteMembers, pasteOver } from '../../../engine/http/members.ts'
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

  it('finds the same by searching as by walking over the tokens', () => {
    const key = fc.constantFrom('model', 'models', 'a', '"model', 'm\u00f6del')
    const value = fc.oneof(
      fc.constantFrom<unknown>('x', '\\', '"', '\\"model":"', 1, null),
      fc.dictionary(key, fc.string()),
    )
    fc.assert(
      fc.property(fc.dictionary(key, value), (body) => {
        const searched = JSON.stringify(body, null, 1)
        // An escaped letter makes it take the longer way.
        const walked = searched.replace(/\}$/, `${searched === '{}' ? '' : ','}"z":"\\u0041"}`)
        expect(scan(searched).token).to.deep.equal(scan(walked).token)
      }),
      { numRuns: 2_000 },
    )
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

describe('cutMembers', () => {
  const names = new Set(['type', 'lane'])
  const cut = (text: string) => cutMembers(Buffer.from(text), names)
  /** The text with other members, which is the same in bytes of its own and over those it was cut from. */
  const pasted = (text: string) => {
    const copied = pasteMembers(cut(text), { stream: true }).toString()
    const bytes = Buffer.from(text)
    expect(pasteOver(bytes, cutMembers(bytes, names), { stream: true }).toString()).to.equal(copied)
    return copied
  }

  it('takes members out, whatever their spelling, and leaves every other byte', () => {
    const text = ' {"a":1.0 ,"t\\u0079pe" : ["x",{"y":"}"}] , "b":{"type":"no"},"lane":null}\n'
    expect(cut(text).members).to.deep.equal({ type: ['x', { y: '}' }], lane: null })
    expect(pasted(text)).to.equal('{"stream":true,"a":1.0 , "b":{"type":"no"}}\n')
  })

  it('puts others in their place, wherever they stood', () => {
    expect(pasted('{}')).to.equal('{"stream":true}')
    expect(pasted(' { } ')).to.equal('{"stream":true} ')
    expect(pasted('{"type":1}')).to.equal('{"stream":true}')
    expect(pasted('{"type":1,"lane":2}')).to.equal('{"stream":true}')
    expect(pasted('{"type":1,"a":2,"lane":3,"b":4}')).to.equal('{"stream":true,"a":2,"b":4}')
    expect(pasted('{"a":2}')).to.equal('{"stream":true,"a":2}')
  })

  it('says the same as the parser about any object', () => {
    const key = fc.oneof(fc.constantFrom('type', 'lane', 'Type', '', '__proto__'), fc.string())
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), fc.nat(2), (value, indent) => {
        const { type, lane, stream: _, ...others } = value
        const text = JSON.stringify({ ...others, ...(type === undefined ? {} : { type }), lane }, null, indent)
        const { body } = scanJson(Buffer.from(pasted(text)), 'model')
        expect(body).to.deep.equal(JSON.parse(JSON.stringify({ stream: true, ...others })))
        expect(cut(text).members).to.deep.equal(JSON.parse(JSON.stringify({ type, lane })))
      }),
    )
  })

  it('makes no JSON of what is none', () => {
    for (const text of [
      '{"type":1,}',
      '{,"type":1}',
      '{"a":1,,"type":1}',
      '{"type":1 "a":2}',
      '{"type":1',
      '{"type":1]',
      '{"type":1}}',
      '{"type":1} x',
      '{"type"}',
      '{"type":}',
      '{x"type":1}',
      '{"type":1x,"a":2}',
      '{"type":"}',
      '{ x }',
      '{"a":[}',
    ])
      expect(() => scanJson(Buffer.from(pasted(text)), 'model'), text).to.throw('not valid JSON')
  })

  it('refuses what is no object, and a member that stands there twice', () => {
    for (const text of ['', ' ', '[]', 'null', '"{}"', '\ufeff{}'])
      expect(() => cut(text), text).to.throw('It must be a JSON object.')
    expect(() => cut('{"type":1,"typ\\u0065":1}')).to.throw('It says "type" more than once.')
  })

  it('refuses depth 129 and takes depth 128, in what is cut out and beside it', () => {
    const nested = (depth: number) => `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`
    for (const name of ['type', 'a']) {
      expect(pasted(`{"${name}":${nested(128)}}`)).to.match(/^\{"stream":true/)
      expect(() => cut(`{"${name}":${nested(129)}}`), name).to.throw('deeper than 128')
      expect(() => cut(`{"${name}":${'['.repeat(4_000_000)}`), name).to.throw('deeper than 128')
    }
  })

  it('refuses to parse a member of more than 64 KiB', () => {
    const sized = (size: number) => `{"type":"${'x'.repeat(size - '"type":""'.length)}"}`
    expect(cut(sized(65_536)).members['type']).to.have.lengthOf(65_527)
    expect(() => cut(sized(65_537))).to.throw('Invalid value at type: it is longer than 65536 bytes.')
  })
})
