import { expect } from 'chai'
import fc from 'fast-check'
import { ThinkTags } from '../../../../plugins/protocols/chat/think-tags.ts'

function read(pieces: readonly string[]) {
  const tags = new ThinkTags()
  const told = [...pieces.map((piece) => tags.push(piece)), tags.end()]
  return [told.map(({ thought }) => thought).join(''), told.map(({ said }) => said).join('')]
}

describe('reasoning between tags', () => {
  const cases: readonly (readonly [text: string, thought: string, said: string])[] = [
    ['<think>Hm.</think>Yes.', 'Hm.', 'Yes.'],
    [
      '\n <think>\nHm. <b>\n</think>\n\nYes. </think> <think>No.</think>',
      '\nHm. <b>\n',
      'Yes. </think> <think>No.</think>',
    ],
    ['Yes. <think>Hm.</think>', '', 'Yes. <think>Hm.</think>'],
    ['<think>cut off </thi', 'cut off </thi', ''],
    ['<thinking is hard', '', '<thinking is hard'],
    ['<thi', '', '<thi'],
    ['<think></think>', '', ''],
    ['  plain', '', '  plain'],
    ['', '', ''],
  ]
  for (const [text, thought, said] of cases)
    it(`${JSON.stringify(text)} is told apart, however it arrives`, () => {
      fc.assert(
        fc.property(fc.uniqueArray(fc.nat(text.length)), (cuts) => {
          const places = [0, ...cuts.sort((one, other) => one - other), text.length]
          const pieces = places.slice(1).map((place, index) => text.slice(places[index], place))
          expect(read(pieces)).to.deep.equal([thought, said])
        }),
      )
    })

  it('does not wait for ever in white space', () => {
    expect(read(Array.from({ length: 5_000 }, () => ' ')).join('')).to.have.length(5_000)
  })
})
