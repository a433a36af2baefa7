import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { blocksOf, clean } from '../../../plugins/classification/clean.ts'
import { isCourtesy, refersBack } from '../../../plugins/classification/courtesy.ts'
import injected from '../../../plugins/classification/injected.json' with { type: 'json' }
import { expectLinear } from '../../support/work.ts'

const golden = join(import.meta.dirname, '..', '..', 'golden', 'routing', 'injected')
const ask = 'Rename the field total to sum.'
const fileOf = (name: string) => `${name.toLowerCase().replaceAll('_', '-')}.txt`
const text = (said: string) => clean(said).text

describe('routing/classification: what clients inject', () => {
  const names = [...injected.removed, ...injected.unwrapped]

  it('has a golden file per element', () => {
    expect(readdirSync(golden).sort()).to.deep.equal(names.map(fileOf).sort())
  })

  for (const name of names)
    it(`is no part of the text: <${name}>`, () => {
      const said = readFileSync(join(golden, fileOf(name)), 'utf8')
      expect(text(said)).to.equal(ask)
      const element = said.replace(ask, '')
      if (injected.removed.includes(name)) expect(text(`${ask}\n${element}`)).to.equal(ask)
    })

  it('is only what begins a line and is closed', () => {
    for (const said of [
      'What does <system-reminder> mean in </system-reminder> a prompt?',
      '<system-reminder> is never closed: why?',
      '<b>bold</b> and <p>a paragraph</p>',
    ])
      expect(text(said)).to.equal(said)
  })

  it('is left out of a text of which only both ends are looked at', () => {
    const block = `<system-reminder>\n${'Optimize everything. '.repeat(5_000)}\n</system-reminder>`
    expect(text(`${block}\n${ask}`)).to.equal(ask)
    expect(text(`${ask}\n${block}`)).to.equal(ask)
  })
})

describe('routing/classification: the text that is judged', () => {
  const paste = 'The harbour office opens at nine and closes at five. '.repeat(40).trim()

  it('has the first 200 characters of fences, quotes and pastes, which are counted', () => {
    const code = `\`\`\`js\n${'let total = 0\n'.repeat(60)}\`\`\``
    const quote = '> It was the best of times.\n'.repeat(30)
    expect(clean(`${ask}\n\n${code}\n\n${quote}\n${paste}`)).to.deep.equal({
      text: [ask, `${code.slice(0, 200)}\n\`\`\``, quote.slice(0, 200), `> ${paste.slice(0, 200)}`].join('\n\n'),
      fences: 1,
      quotes: 1,
      pastes: 1,
    })
  })

  it('keeps a long paragraph that stands alone, and a short fence', () => {
    expect(clean(paste)).to.deep.equal({ text: paste, fences: 0, quotes: 0, pastes: 0 })
    const fenced = `${ask}\n\n\`\`\`\nlet total = 0\n\`\`\``
    expect(text(fenced)).to.equal(fenced)
  })

  it('has no base64', () => {
    const data = Buffer.alloc(3_000, 'abc').toString('base64')
    expect(text(`Look: data:image/png;base64,${data} What is it?`)).to.equal('Look:  What is it?')
  })

  it('has no greeting, thanks and appeals to effort at either end', () => {
    for (const said of [
      `Hi! Hope you are well. ${ask} Thank you so much!`,
      `Think step by step. ${ask} Take a deep breath.`,
      `Dear assistant,\n\nplease be very careful: ${ask}\n\nKind regards`,
    ])
      expect(text(said)).to.equal(ask)
    expect(text('Is step 2 of the proof right?')).to.equal('Is step 2 of the proof right?')
  })

  it('is at most 6,000 characters long, from the front and the end', () => {
    const long = Array.from({ length: 30_000 }, (_, at) => `${at} apples`).join('\n\n')
    expect(text(long)).to.equal(long.slice(0, 4_000) + long.slice(-2_000))
  })

  it('is made of 24,000 characters, 900 blocks and 500 tags, however many there are', () => {
    const [front, end] = ['The first words. '.repeat(1_000), 'The last words. '.repeat(500)].map((said, at) =>
      at === 0 ? said.slice(0, 16_000) : said.slice(-8_000),
    )
    for (const middle of ['', 'a\n\n', '```\n', '<task>\n', '> '])
      expect(clean(`${front}${middle.repeat(20_000)}${end}`), middle).to.deep.equal(
        clean(`${front}${'.'.repeat(9)}${end}`),
      )
    const blocks = blocksOf(Array.from({ length: 9_000 }, (_, at) => (at % 3 === 0 ? `> ${at}` : `${at}`)).join('\n\n'))
    expect(blocks).to.have.length(900)
    expect([0, 599, 600, 899].map((at) => blocks[at]?.text)).to.deep.equal(['> 0', '599', '> 8700', '8999'])
    const reminder = '<system-reminder>a</system-reminder>\n'
    expect([text(`${reminder.repeat(500)}${ask}`), text(`${reminder.repeat(501)}${ask}`)]).to.deep.equal([
      ask,
      `${reminder}${ask}`,
    ])
  })

  it('takes the same whatever its size, never throws, and is bounded', () => {
    const pieces = [
      '<system-reminder>',
      '</system-reminder>',
      '<task>',
      '</',
      '<',
      '```',
      '> ',
      '\n',
      '\n\n',
      'thanks. ',
      'a',
      '𝒳',
      '\u0000',
      ', ',
      '. ',
    ]
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' })), { maxLength: 200 }),
        fc.integer({ min: 1, max: 300 }),
        (parts, times) => {
          expect(text(parts.join('').repeat(times)).length).to.be.at.most(6_000)
        },
      ),
      { numRuns: 150 },
    )
    for (const piece of [
      '<task>',
      '</skill>',
      '<system-reminder>\n',
      '> \n',
      '```\n',
      'hi, ',
      'a ',
      'a\n\n',
      '~~~\n\n',
      '. ',
    ])
      expectLinear(32_000, (size) => piece.repeat(size / piece.length), clean)
  })

  it('of nothing but courtesy is known, and so is one that refers back', () => {
    for (const said of ['Hi!', 'Thanks a lot!', 'Good morning, how are you?', 'thank you so much', 'Hello there'])
      expect(isCourtesy(text(said)), said).to.equal(true)
    for (const said of ['', 'Hi, what is 2 + 2?', ask]) expect(isCourtesy(text(said)), said).to.equal(false)
    for (const said of ['continue', 'Yes, please do it again', 'go on', 'fix it'])
      expect(refersBack(said), said).to.equal(true)
    for (const said of ['', ask, 'Continue the proof of the lemma']) expect(refersBack(said), said).to.equal(false)
  })
})
