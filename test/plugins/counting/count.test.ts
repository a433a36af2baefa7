import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { get_encoding } from 'tiktoken'
import type { Tiktoken } from 'tiktoken'
import count from '../../../plugins/counting/count.ts'
import { estimate } from '../../../plugins/counting/estimate.ts'

const ample = 60_000
const tokens = (...texts: string[]) => count({ texts, budget: ample })

/** A repeatable stream of numbers below `limit`. */
function numbers(limit: number): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}

function random(length: number, alphabet: string): string {
  const next = numbers(alphabet.length)
  return Array.from({ length }, () => alphabet[next()]).join('')
}

describe('count', function () {
  let reference: Tiktoken
  before(() => {
    reference = get_encoding('o200k_base')
  })
  after(() => reference.free())
  const exactly = (text: string) => reference.encode_ordinary(text).length

  it('counts known texts', () => {
    expect(tokens('Hello, world!')).to.deep.equal({ tokens: 4, exact: true })
    expect(tokens('Hello, world!', '', 'Hello, world!')).to.deep.equal({ tokens: 8, exact: true })
    expect(tokens()).to.deep.equal({ tokens: 0, exact: true })
  })

  it('counts short texts exactly', () => {
    const texts = [
      "it's 12345 o'clock\r\n\r\n  \tnow",
      '漢字かな交じり文。',
      'def f(x):\n    return x**2\n',
      'naïve café — “quoted”',
      '👩‍👩‍👧‍👦🏳️‍🌈',
      '{"a":[1,2.5e3,null]}',
    ]
    for (const text of texts) expect([text, tokens(text).tokens]).to.deep.equal([text, exactly(text)])
  })

  it('counts special tokens as the text they are', () => {
    expect(tokens('<|endoftext|>').tokens).to.equal(exactly('<|endoftext|>'))
    expect(tokens('<|endoftext|>').tokens).to.equal(7)
    const many = '<|endoftext|><|im_start|>'.repeat(5000)
    expect(Math.abs(tokens(many).tokens / exactly(many) - 1)).to.be.at.most(0.005)
  })

  it('is at most half a percent off on long ordinary text', () => {
    const chinese = '人工智能是计算机科学的一个分支，它试图了解智能的实质，并生产出一种新的反应方式。'.repeat(500)
    const source = readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8').slice(0, 100_000)
    const english = readFileSync(new URL('../../../engine/spec/generate.ts', import.meta.url), 'utf8').repeat(5)
    for (const text of [chinese, source, english]) {
      expect(Math.abs(tokens(text).tokens / exactly(text) - 1)).to.be.at.most(0.005)
    }
    expect(tokens(english).tokens).to.equal(exactly(english))
  })

  const bombs: readonly (readonly [what: string, text: string, atMost: number])[] = [
    ['one letter', 'a'.repeat(400_000), 50_000],
    ['spaces', ' '.repeat(400_000), 3_125],
    ['line breaks and slashes', `!${'\n/'.repeat(200_000)}`, 200_001],
    ['emoji', '😀'.repeat(200_000), 400_000],
    ['lone surrogates', '\ud800'.repeat(400_000), 400_000],
    ['base64', random(400_000, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'), 400_000],
    ['<|endoftext|>', '<|endoftext|>'.repeat(30_000), 210_000],
  ]
  for (const [what, text, atMost] of bombs) {
    it(`counts 400,000 characters of ${what}`, () => {
      const counted = tokens(text)
      expect(counted.exact).to.equal(true)
      expect(counted.tokens).to.be.within(1, atMost)
    })
  }

  it('estimates by length what there is no time for', () => {
    const cjk = Array.from({ length: 2048 }, (_, index) =>
      String.fromCharCode(0x4e00 + ((index * 7919) % 20_000)),
    ).join('')
    const letters = random(400_000, 'abcdefghijklmnopqrstuvwxyz')
    const estimated = Array.from({ length: 391 }, (_, index) =>
      estimate(letters.slice(index * 1024, (index + 1) * 1024)),
    )
    expect(count({ texts: [letters], budget: 0 })).to.deep.equal({
      tokens: estimated.reduce((sum, value) => sum + value),
      exact: false,
    })
    expect(count({ texts: [cjk], budget: 0 })).to.deep.equal({ tokens: 2 * estimate(cjk.slice(0, 1024)), exact: false })
  })

  it('remembers what it counted, even when there is no more time', () => {
    const text = random(3000, 'abcdefghijklmnopqrstuvwxyz ')
    expect(count({ texts: [text], budget: 0 }).exact).to.equal(false)
    const counted = tokens(text)
    expect(count({ texts: [text], budget: 0 })).to.deep.equal(counted)
    expect(counted).to.deep.equal({ tokens: exactly(text), exact: true })
  })
})

describe('estimate', () => {
  it('is one token for 3.5 bytes, rounded up', () => {
    expect(['', 'a', 'abcdefg', 'abcdefgh', '漢漢漢漢漢漢漢'].map(estimate)).to.deep.equal([0, 1, 2, 3, 6])
  })
})
