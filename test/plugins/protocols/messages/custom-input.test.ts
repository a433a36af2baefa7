import { expect } from 'chai'
import * as fc from 'fast-check'
import { CustomInput, customInput } from '../../../../plugins/protocols/messages/custom-input.ts'

function inPieces(json: string, cuts: readonly number[]): string {
  const reader = new CustomInput()
  const ends = [...new Set(cuts.map((cut) => cut % (json.length + 1)))].sort((one, other) => one - other)
  const pieces = [0, ...ends].map((from, index) => json.slice(from, ends[index] ?? json.length))
  return pieces.map((piece) => reader.push(piece)).join('') + reader.end()
}

describe('messages: input of custom tools', () => {
  it('unwraps the text, and leaves any other shape as it is', () => {
    expect(customInput('{"input":"a\\nb"}')).to.equal('a\nb')
    for (const odd of ['{"input":5}', '"x"', '{"other":"x"}', '{"input":"cut', ''])
      expect(customInput(odd)).to.equal(odd)
  })

  it('reads any text in any pieces', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '\\', '\\u0041', '\u2028\ud83d\ude00'),
    )
    fc.assert(
      fc.property(texts, fc.array(fc.nat()), fc.boolean(), (text, cuts, spaced) => {
        const json = JSON.stringify({ input: text }, null, spaced ? 1 : 0)
        expect(inPieces(json, cuts)).to.equal(text)
        const escaped = json.replace(
          /[^\u0020-\u007e\n]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
        expect(inPieces(escaped, cuts)).to.equal(text)
      }),
    )
  })

  it('tells other shapes at their end, as they are', () => {
    expect(inPieces('{"other":"x"}', [3, 5])).to.equal('{"other":"x"}')
    expect(inPieces('{"x":1,"input":"y"}', [2])).to.equal('y')
  })
})
