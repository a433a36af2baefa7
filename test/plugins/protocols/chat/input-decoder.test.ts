import { expect } from 'chai'
import * as fc from 'fast-check'
import { InputDecoder } from '../../../../plugins/protocols/chat/input-decoder.ts'

function decode(pieces: readonly string[]): string[] {
  const decoder = new InputDecoder()
  return [...pieces.map((piece) => decoder.push(piece)), decoder.end()]
}

describe('chat input of custom tools sent as functions', () => {
  it('comes out while it arrives', () => {
    expect(decode(['{"in', 'put": "a\\', 'nb', '\\u00', 'e9"', '}'])).to.deep.equal(['', 'a', '\nb', '', 'é', '', ''])
  })

  it('never breaks a character in two', () => {
    expect(decode(['{"input":"\\ud83d', '\\ude00"}'])).to.deep.equal(['', '😀', ''])
  })

  it('comes out whole where the model wrote something else', () => {
    expect(decode(['*** Begin', ' Patch'])).to.deep.equal(['', '', '*** Begin Patch'])
    expect(decode(['{"note":1,"input":"x"}'])).to.deep.equal(['', 'x'])
    expect(decode(['{"other":"x"}'])).to.deep.equal(['', '{"other":"x"}'])
  })

  it('gives any text back, however it is cut', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (input, cuts) => {
        let rest = JSON.stringify({ input })
        const pieces = cuts.map((length) => {
          const piece = rest.slice(0, length)
          rest = rest.slice(length)
          return piece
        })
        expect(decode([...pieces, rest]).join('')).to.equal(input)
      }),
    )
  })
})
