import { expect } from 'chai'
import * as fc from 'fast-check'
import { CustomInput, customInput } from '../../../../engine/kit.ts'
import { expectLinear } from '../../../support/work.ts'

function read(pieces: readonly string[]): string[] {
  const input = new CustomInput()
  return [...pieces.map((piece) => input.push(piece)), input.end()]
}

describe('input of custom tools sent as functions', () => {
  it('comes out while it arrives', () => {
    expect(read(['{"in', 'put": "a\\', 'nb', '\\u00', 'e9"', '}'])).to.deep.equal(['', 'a', '\nb', '', 'é', '', ''])
  })

  it('never breaks a character in two', () => {
    expect(read(['{"input":"\\ud83d', '\\ude00"}'])).to.deep.equal(['', '😀', ''])
    expect(read(['{"input":"\\ud83d', 'x"}'])).to.deep.equal(['', '\ud83dx', ''])
  })

  it('comes out whole where the model wrote something else', () => {
    expect(read(['*** Begin', ' Patch'])).to.deep.equal(['', '', '*** Begin Patch'])
    expect(read(['{"note":1,"input":"x"}'])).to.deep.equal(['', 'x'])
    for (const odd of ['', '"x"', '{', '{"input":5}', '{"inputs":"x"}', '{"in put":"x"}', '{"input":["x"]}'])
      expect(customInput(odd)).to.equal(odd)
  })

  it('is lenient with text that is not quite JSON, or was cut', () => {
    expect(customInput('{"input":"a\nb"}')).to.equal('a\nb')
    expect(customInput('{"input":"\\uZZZZ\\q"}')).to.equal('\\uZZZZq')
    expect(customInput('{"input":"cut')).to.equal('cut')
    expect(customInput('{"input":"cut\\u00')).to.equal('cut')
  })

  it('is read in one pass, however long something else is', () => {
    const input = new CustomInput()
    const piece = ' '.repeat(16)
    for (let at = 0; at < 20_000; at++) input.push(piece)
    expect(input.push('{"input":"x"}') + input.end()).to.equal('x')
  })

  it('is read in one pass, however many escapes are in it', () => {
    const input = (many: number) => JSON.stringify({ input: '\n'.repeat(many) })
    expect(customInput(input(1_000_000))).to.equal('\n'.repeat(1_000_000))
    expectLinear(1_000_000, input, customInput)
  })

  it('gives any text back, however it is cut and escaped', () => {
    const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '\\u0041', '\u2028😀'))
    fc.assert(
      fc.property(texts, fc.array(fc.nat(9)), fc.boolean(), fc.boolean(), (text, lengths, spaced, escaped) => {
        const json = JSON.stringify({ input: text }, null, spaced ? 1 : 0)
        const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
        let rest = escaped ? json.replace(/[^\u0020-\u007e\n]/g, unit) : json
        const pieces = lengths.map((length) => {
          const piece = rest.slice(0, length)
          rest = rest.slice(length)
          return piece
        })
        expect(read([...pieces, rest]).join('')).to.equal(text)
      }),
    )
  })
})
