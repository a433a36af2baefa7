import { expect } from 'chai'
import fc from 'fast-check'
import { FieldNames } from '../../../engine/json/field-names.ts'
import { cutMembers, pasteMembers, pasteOver } from '../../../engine/json/members.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import { BytesBody } from '../../../engine/stream/body.ts'
import { scanJson, spliceString } from '../../../engine/json/scan.ts'
import { parseJson } from '../../../engine/json/parse.ts'

const options = { fields: new FieldNames(['model', 'stream', 'routing']), members: 1_000 }
const scanBytes = (bytes: Buffer) => {
  const { body, tokens } = scanJson(bytes, options)
  return { body, token: tokens.get('model') }
}
const scan = (text: string) => scanBytes(Buffer.from(text))

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

  it('gives no token when the field is missing or is no string', () => {
    for (const text of ['{}', '{"model":1}', '{"a":"model"}', '{"a":{"model":"a"}}'])
      expect(scan(text).token, text).to.equal(undefined)
  })

  it('refuses a field that others may read in another way', () => {
    for (const text of [
      '{"model":"a","model":"b"}',
      '{"model":null,"a":1,"mod\\u0065l":"b"}',
      '{"stream":false,"stream":true}',
      '{"model":"a" , "model" : 1}',
    ])
      expect(() => scan(text), text).to.throw(/^Invalid value at (model|stream): it is there more than once\.$/)
    for (const key of ['Model', 'MODEL', 'Stream', 'ſtream', '\\u017ftream', '\\u0053tream', 'RoutinG'])
      expect(() => scan(`{"${key}":true}`), key).to.throw(/ it is written "(model|stream|routing)"\.$/)
    expect(() => scan('{"model":"a","Model":"b"}')).to.throw('Invalid value at Model: it is written "model".')
    for (const key of ['models', 'mode', 'mödel', ' model', 'model\\u0000', 'm', ''])
      expect(scan(`{"model":"a","${key}":true,"x":{"Model":1,"model":2}}`).body, key).to.have.property('model', 'a')
  })

  it('refuses more members than it may have, before it parses any', () => {
    const of = (count: number, member: string) => `{"model":"a","a":[${Array(count).fill(member).join()}]}`
    // Four stand there anyway: an object, a list and two keys.
    const most = { '[]': 796, '{}': 796, '{"a":1}': 442, '1': 3_984, '"\\""': 3_187, '"a,b:{}[]"': 3_984 }
    for (const [member, count] of Object.entries(most)) {
      expect(scan(of(count, member)).body['a'], member).to.have.length(count)
      expect(() => scan(of(count + 1, member)), member).to.throw('more than 1000 keys, objects and lists')
    }
    expect(() => scan(`{"a":[${'[],'.repeat(20_000_000)}`))
      .to.throw('more than 1000')
      .with.property('code', 'request_too_large')
  })

  it('refuses what is no object, no JSON or no UTF-8', () => {
    for (const text of ['[]', 'null', '"x"', '1']) expect(() => scan(text), text).to.throw('must be a JSON object')
    for (const text of ['', '{', '{"a":}', '\ufeff{}', '{"a":"\\', '}{'])
      expect(() => scan(text), text).to.throw('not valid JSON')
    expect(() => scanBytes(Buffer.from([0x7b, 0xff, 0x7d]))).to.throw('not UTF-8')
  })

  it('says where a text stops being JSON, and never what stands there', () => {
    const table: readonly (readonly [string, string])[] = [
      ['', 'it ends too early, at line 1, column 1 (byte 0)'],
      ['{"a": [1, 2', 'it ends too early, at line 1, column 12 (byte 11)'],
      ['{"a":secret}', 'the text at line 1, column 6 (byte 5) does not belong there'],
      ['{"a":1,}', 'the text at line 1, column 8 (byte 7) does not belong there'],
      ['{\n  "ä": "x",\n  "b": tru\n}', 'the text at line 3, column 8 (byte 22) does not belong there'],
      ['{"a":"x\ny"}', 'the text at line 1, column 6 (byte 5) does not belong there'],
      ['{} {}', 'the text at line 1, column 4 (byte 3) does not belong there'],
    ]
    for (const [text, place] of table)
      expect(() => scan(text), text)
        .to.throw(GatewayError)
        .with.property('message', `The body is not valid JSON: ${place}.`)
  })

  it('says no place in a long text, nor in one that the client did not send as it is', () => {
    expect(() => scan(`{"a":"${'x'.repeat(300_000)}",}`)).to.throw('it cannot be parsed')
    expect(() => scanJson(Buffer.from('{"a":}'), { ...options, sent: false })).to.throw('it cannot be parsed')
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
        const clean = (part: object) =>
          Object.fromEntries(Object.entries(part).filter(([key]) => key.toLowerCase() !== 'model'))
        const body = { ...clean(before), model, ...clean(after) }
        const bytes = Buffer.from(JSON.stringify(body, null, 1))
        const { token } = scanBytes(bytes)
        if (!token) throw new Error('the token was not found')
        expect(parseJson(spliceString(new BytesBody(bytes), token, next).bytes?.toString() ?? '')).to.deep.equal({
          ...(parseJson(bytes.toString()) as object),
          model: next,
        })
      }),
    )
  })
})

describe('cutMembers', () => {
  const names = new FieldNames(['type', 'lane'])
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
    const key = fc.oneof(fc.constantFrom('type', 'lane', 'types', '', '__proto__'), fc.string())
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), fc.nat(2), (value, indent) => {
        const { type, lane, stream: _, ...others } = value
        const text = JSON.stringify({ ...others, ...(type === undefined ? {} : { type }), lane }, null, indent)
        const { body } = scan(pasted(text))
        expect(body).to.deep.equal(parseJson(JSON.stringify({ stream: true, ...others })))
        expect(cut(text).members).to.deep.equal(parseJson(JSON.stringify({ type, lane })))
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
      expect(() => scan(pasted(text)), text).to.throw('not valid JSON')
  })

  it('refuses what is no object, and a member that stands there twice', () => {
    for (const text of ['', ' ', '[]', 'null', '"{}"', '\ufeff{}'])
      expect(() => cut(text), text).to.throw('It must be a JSON object.')
    expect(() => cut('{"type":1,"typ\\u0065":1}')).to.throw('Invalid value at type: it is there more than once.')
  })

  it('refuses a name in another spelling', () => {
    expect(() => cut('{"Type":1}')).to.throw('Invalid value at Type: it is written "type".')
    expect(() => cut('{"a":1,"\\u0054ype":1}')).to.throw('Invalid value at Type: it is written "type".')
  })

  it('refuses more than two million members, wherever they stand', () => {
    expect(() => cut(`{"a":[${'[],'.repeat(2_000_001)}`))
      .to.throw('more than 2000000')
      .with.property('code', 'request_too_large')
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
