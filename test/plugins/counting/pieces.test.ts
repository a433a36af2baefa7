import { expect } from 'chai'
import * as fc from 'fast-check'
import { pieces } from '../../../plugins/counting/pieces.ts'

const lengths = (text: string) => [...pieces(text)].map(({ length }) => length)

describe('pieces', () => {
  it('leaves short text whole and nothing of an empty one', () => {
    expect([...pieces('Hello, world!\n')]).to.deep.equal(['Hello, world!\n'])
    expect([...pieces('')]).to.deep.equal([])
  })

  const runs: readonly (readonly [what: string, text: string])[] = [
    ['letters', 'a'.repeat(3000)],
    ['spaces', ' '.repeat(3000)],
    ['signs', '!'.repeat(3000)],
    ['characters beyond ASCII', '漢'.repeat(3000)],
    ['mixed signs', '!¡'.repeat(1500)],
    ['slashes and line breaks', '\n/'.repeat(1500)],
    ['letters with accents', 'aé'.repeat(1500)],
  ]
  for (const [what, text] of runs) {
    it(`cuts a run of ${what} at 1,024 characters`, () => {
      expect(lengths(text)).to.deep.equal([1024, 1024, 952])
    })
  }

  it('never cuts a surrogate pair', () => {
    expect(lengths(`x${'😀'.repeat(1024)}`)).to.deep.equal([1025, 1024])
  })

  it('cuts ordinary text after a word, once 8,192 characters are there', () => {
    const [first, second] = [...pieces("don't stop me now, ".repeat(1000))]
    expect(first?.length).to.equal(8194)
    expect(first?.endsWith(" now, don't")).to.equal(true)
    expect(second?.startsWith(' stop')).to.equal(true)
  })

  it('does not cut before an apostrophe', () => {
    const text = `${'a '.repeat(4096)}it's fine`
    expect([...pieces(text)]).to.deep.equal([`${'a '.repeat(4096)}it's`, ' fine'])
  })

  it('cuts anywhere after 16,384 characters without a word of ASCII', () => {
    expect(lengths(`${'漢'.repeat(900)} 1`.repeat(40)).slice(0, 2)).to.deep.equal([16_384, 16_384])
  })

  it('gives pieces that joined are the text and hold no longer run', () => {
    const chunk = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('a', ' ', '!', '😀', '\n/', '1').map((text) => text.repeat(2500)),
    )
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
        const text = chunks.join('')
        const found = [...pieces(text)]
        expect(found.join('') === text).to.equal(true)
        for (const piece of found) expect(/[A-Za-z]{1026}|[ \t]{1026}|[!-/]{1026}/.test(piece)).to.equal(false)
      }),
    )
  })
})
