import { expect } from 'chai'
import fc from 'fast-check'
import { putMembers } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { parseJson } from '../../../engine/json/parse.ts'

const put = (text: string, added: JsonObject) =>
  putMembers(Buffer.from(text), parseJson(text) as JsonObject, added).toString()

describe('members put into the text of an object', () => {
  it('stand before the others where there were none of their name', () => {
    expect(put(' {"a": 1.0 , "b":[]}\n', { c: { d: true } })).to.equal(' {"c":{"d":true},"a": 1.0 , "b":[]}\n')
  })

  it('take the place of those of their name, however that is written', () => {
    expect(put('{"a":1e2, "c" : null ,"b":"c"}', { c: [1] })).to.equal('{"c":[1],"a":1e2,"b":"c"}')
    expect(put('{"\\u0063":{"c":{}},"b":1}', { c: [1] })).to.equal('{"c":[1],"b":1}')
    expect(put('{"c":2}', { c: [1] })).to.equal('{"c":[1]}')
  })

  it('are refused beside two of their name', () => {
    expect(() => put('{"c":1,"b":1,"c":2}', { c: 3 })).to.throw('it is there more than once')
  })

  it('are refused in place of one that takes long to parse', () => {
    const long = (length: number) => `{"c":"${'x'.repeat(length)}"}`
    expect(put(long(60_000), { c: 1 })).to.equal('{"c":1}')
    expect(() => put(long(70_000), { c: 1 })).to.throw('it is longer than 65536 bytes')
  })

  it('leave every other member as it was written', () => {
    const member = fc.tuple(fc.string({ minLength: 1 }), fc.json())
    const own = fc.uniqueArray(member, { minLength: 1, selector: ([name]) => name })
    const space = fc.constantFrom('', ' ', '\n\t')
    fc.assert(
      fc.property(own, fc.option(fc.json()), space, fc.nat(), (members, given, gap, place) => {
        const others = members.filter(([name]) => name.toLowerCase() !== 'put')
        const texts = others.map(([name, value]) => `${gap}${JSON.stringify(name)}${gap}:${value}${gap}`)
        const all = given === null ? texts : texts.toSpliced(place % (texts.length + 1), 0, `"put":${given}`)
        fc.pre(all.length > 0)
        const text = `{${all.join(',')}}`
        const result = put(text, { put: { in: true } })
        expect(parseJson(result)).to.deep.equal({ ...(parseJson(text) as JsonObject), put: { in: true } })
        for (const one of texts) expect(result).to.contain(one.trim())
      }),
    )
  })
})
