import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import fc from 'fast-check'
import { parseJson, parseVerbatim, parsedJson, parsedObject } from '../../../engine/json/parse.ts'

/** Two texts: after V8 has read the first, it reads the key of the second wrongly. */
const pairs = [
  [String.raw`{"q":0,"a\\":1}`, String.raw`{"q":0,"a\u0041":1}`],
  [String.raw`[{"p":{"city":{},"\\u":{}}}]`, String.raw`[{"p":{"city":{},"\u540d\u524d":{}}}]`],
] as const

describe('parseJson', () => {
  it('is needed: V8 reads a key as one of an earlier text', () => {
    // When this fails, V8 is mended: `parseJson` can leave everything to it.
    for (const [before, text] of pairs) {
      const held: unknown = JSON.parse(before)
      expect(JSON.stringify(JSON.parse(text)), text).to.equal(JSON.stringify(held))
    }
  })

  it('reads each key as it is written, whatever was read before', () => {
    for (const [before, text] of pairs) {
      const held = [parseJson(before), JSON.parse(before)]
      expect(JSON.stringify(parseJson(text)), text).to.equal(unescaped(text))
      expect(held).to.have.length(2)
    }
    const key = fc.array(fc.constantFrom('\\', '"', 'a', 'u', 'A', '0', '\n', 'é'), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(key, { minLength: 1 }), fc.func(fc.boolean()), (keys, escapes) => {
        for (const word of keys) {
          const spelled = word
            .map((character) => (escapes(character) ? escaped(character) : quoted(character)))
            .join('')
          expect(parseJson(`{"q":0,"${spelled}" :1}`)).to.deep.equal({ q: 0, [word.join('')]: 1 })
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives what JSON.parse gives, or refuses what it refuses', () => {
    const junk = fc.constantFrom('', ' ', '\t\n', ',', ':', '{', '}', ']', '"', '\\', '\\u12', '1', '-', '01', '\u00a0')
    fc.assert(
      fc.property(fc.json(), fc.nat(), junk, fc.boolean(), (json, place, inserted, strictly) => {
        const at = place % (json.length + 1)
        const text = json.slice(0, at) + inserted + json.slice(at)
        const read = outcome(strictly ? strict : parseJson, text)
        // What V8 read before may have it read a key of this text wrongly; in a realm of its own it has read nothing.
        if (!isDeepStrictEqual(read, outcome(JSON.parse, text)))
          expect(JSON.stringify(read), text).to.equal(JSON.stringify(outcome(parseApart, text)))
      }),
      { numRuns: 5_000 },
    )
  })

  it('reads every kind of value like JSON.parse, beside a key with an escape', () => {
    const values = [
      '0',
      '-0',
      '1.50',
      '1E+2',
      '1e400',
      '-1e-400',
      '12345678901234567890',
      'true',
      'false',
      'null',
      '""',
    ]
    const strings = [
      '"\\ud800"',
      '"\ud800"',
      '"\\u00e9\\n\\/\\""',
      '"\u2028"',
      '"\\\\"',
      '[]',
      '[ ]',
      '{ }',
      '[1 ,2]',
      '"\u007f"',
    ]
    const wrong = [
      '',
      '+1',
      '.5',
      '1.',
      '01',
      '0x1',
      '1e',
      '-',
      'tru',
      'True',
      'nul',
      'NaN',
      "'a'",
      '"\n"',
      '"\\x41"',
      '"\\u12G4"',
    ]
    const broken = [
      '[1,]',
      '[,]',
      '{"a":1,}',
      '{a:1}',
      '{"a"}',
      '{"a":}',
      '[1 2]',
      '"',
      '"\\"',
      '[',
      '{',
      '1 1',
      '\ufeff1',
      '\u00a01',
    ]
    for (const value of [...values, ...strings, ...wrong, ...broken])
      expect(outcome(strict, value), value).to.deep.equal(outcome(JSON.parse, value))
  })

  it('takes the last of equal keys, and `__proto__` for a key', () => {
    const read = parseJson(String.raw`{"\u0061":1,"a":2,"__proto__":{"x":1},"__proto_\u005f":3}`) as object
    expect(Object.entries(read)).to.deep.equal([
      ['a', 2],
      ['__proto__', 3],
    ])
    expect(Object.getPrototypeOf(read)).to.equal(Object.prototype)
  })

  it('quotes nothing of what it refuses', () => {
    for (const text of ['{"secret', String.raw`{"\u0061":secret}`, String.raw`{"\u0061":"secret`])
      expect(() => parseJson(text))
        .to.throw(SyntaxError)
        .with.property('message')
        .that.does.not.include('secret')
  })

  it('refuses what is too deep beside a key with an escape, however deep', () => {
    const nested = (depth: number) => `{"\\u0061":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect(parseJson(nested(1_000))).to.have.property('a')
    expect(() => parseJson(nested(1_001))).to.throw(SyntaxError, 'deeper than 1000 levels')
    expect(() => parseJson(String.raw`{"\u0061":`.repeat(500_000))).to.throw(SyntaxError, 'deeper than 1000 levels')
  })

  it('refuses more than two million members', function () {
    this.timeout(300_000)
    const lists = (count: number) => `[${'[],'.repeat(count)}0]`
    expect(() => parseJson(lists(2_000_000))).to.throw(SyntaxError, 'members')
    expect(() => parseVerbatim(lists(2_000_000), 'all')).to.throw(SyntaxError, 'members')
  })

  it('looks at each character a few times at most, whatever stands there', function () {
    this.timeout(300_000)
    const size = 2_000_000
    const hostile = ['"', '\\', '\\"', '\\\\"', ' ', '":', '"\\":', '"\\n" ', '{"\\n":', '[],', '1', '"\\n"\t:']
    // A quadratic reader would take hours.
    for (const piece of hostile) outcome(parseJson, `{"\\u0061":${piece.repeat(size / piece.length)}`)
    for (const piece of hostile) outcome(parseJson, `["${piece.repeat(size / piece.length)}`)
  })
})

describe('a text that may be no JSON', () => {
  it('has a value where it is some, and an object where it is one', () => {
    expect(['{"a":[1]}', '[1]', 'null', '"a"', '', '{"a":', '[DONE]'].map(parsedJson)).to.deep.equal([
      { a: [1] },
      [1],
      null,
      'a',
      undefined,
      undefined,
      undefined,
    ])
    expect(['{"a":[1]}', '[1]', 'null', '"a"', '{"a":'].map(parsedObject)).to.deep.equal([
      { a: [1] },
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('parseVerbatim', () => {
  const number = fc.constantFrom(
    '0',
    '1',
    '-0',
    '1.0',
    '0.7',
    '-12.50',
    '1e3',
    '1E-7',
    '0.0000001',
    '1e400',
    '9'.repeat(30),
  )
  const key = fc.constantFrom(
    'a',
    'b',
    '0',
    '1',
    '10',
    '-1',
    '01',
    '4294967294',
    '4294967295',
    '__proto__',
    'é',
    '\\u0041',
  )
  const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
    json: fc.oneof({ maxDepth: 4 }, number, fc.constantFrom('true', 'null', '"1.0"'), tie('list'), tie('object')),
    list: fc.array(tie('json'), { maxLength: 4 }).map((values) => `[${values.join()}]`),
    object: fc
      .uniqueArray(fc.tuple(key, tie('json')), { selector: ([name]) => name, maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`),
  }))
  const printed = (text: string) => text.replaceAll('\\u0041', 'A')

  it('gives what prints as it stood, and holds what parseJson gives', () => {
    fc.assert(
      fc.property(json, (inner) => {
        const text = `{"x":${inner}}`
        const read = parseVerbatim(text, 'all')
        expect(JSON.stringify(read)).to.equal(printed(text))
        // Not `JSON.parse`, which may read a key as one of an earlier text.
        expect(parseJson(JSON.stringify(read))).to.deep.equal(parseJson(text))
      }),
      { numRuns: 3_000 },
    )
  })

  it('leaves alone what stands elsewhere', () => {
    const odd = '{"1":1.0,"0":2}'
    const read = parseVerbatim(`{"a":${odd},"in":${odd},"b":[1.0,{"in":[1.0]}]}`, new Set(['in']))
    expect(JSON.stringify(read)).to.equal(`{"a":{"0":2,"1":1},"in":${odd},"b":[1,{"in":[1.0]}]}`)
    for (const text of ['1.0', '12345678901234567890']) expect(parseVerbatim(text, 'all')).to.equal(Number(text))
  })

  it('refuses what parseJson refuses', () => {
    for (const text of ['', '{', '{"1":1.0', '[01]', '[1.]', '[1e]', '[-]', '{"1":1.0}x', '[+1]'])
      expect(() => parseVerbatim(text, 'all'), text).to.throw(SyntaxError)
  })
})

/** Reads a value by the strict reader: beside a key with an escape. */
function strict(text: string): unknown {
  const read = parseJson(`[{"\\u0061":${text}}]`) as readonly [{ a: unknown }]
  return read[0].a
}

/** `JSON.parse` in a realm where no text has been read. */
function parseApart(text: string): unknown {
  const parse = runInNewContext('JSON.parse') as (text: string) => unknown
  try {
    return parse(text)
  } catch {
    throw new SyntaxError('The text is not JSON.')
  }
}

function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) }
  } catch (error) {
    expect(error).to.be.instanceOf(SyntaxError)
    return 'refused'
  }
}

/** A character of a string as JSON may spell it. */
function quoted(character: string): string {
  return JSON.stringify(character).slice(1, -1)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A JSON text of objects and small numbers without the escapes that it does not need. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u([\da-f]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}
