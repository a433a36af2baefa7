import { expect } from 'chai'
import { Losses } from '../../../../engine/kit.ts'
import { printReasoning } from '../../../../plugins/protocols/chat/effort.ts'
import { traitsOf } from '../../../../plugins/protocols/chat/traits.ts'

function printed(wish: Parameters<typeof printReasoning>[0], allowed: boolean | string[] = true) {
  const losses = new Losses('chat')
  const fields = printReasoning(wish, traitsOf({ reasoning_effort: allowed }), losses)
  return [fields['reasoning_effort'], losses.list().map(({ field }) => field)]
}

describe('chat reasoning effort', () => {
  it('is the word asked for', () => {
    expect(printed({ effort: 'xhigh' })).to.deep.equal(['xhigh', []])
    expect(printed(undefined)).to.deep.equal([undefined, []])
  })

  it('falls to the nearest word that the upstream takes', () => {
    const allowed = ['low', 'medium', 'high']
    expect(printed({ effort: 'max' }, allowed)).to.deep.equal(['high', ['reasoning_effort']])
    expect(printed({ effort: 'minimal' }, allowed)).to.deep.equal(['low', ['reasoning_effort']])
    expect(printed({ effort: 'none' }, allowed)).to.deep.equal(['low', ['reasoning_effort']])
    expect(printed({ effort: 'minimal' }, ['none', 'high'])).to.deep.equal(['high', ['reasoning_effort']])
    expect(printed({ effort: 'medium' }, allowed)).to.deep.equal(['medium', []])
  })

  it('is left out where the upstream takes none', () => {
    expect(printed({ effort: 'low' }, false)).to.deep.equal([undefined, ['reasoning_effort']])
  })

  it('stands for a budget', () => {
    const words = [0, 1024, 8192, 31_999].map((budget) => printed({ budget })[0])
    expect(words).to.deep.equal(['none', 'low', 'medium', 'high'])
    expect(printed({ effort: 'low', summary: 'auto' })).to.deep.equal(['low', ['reasoning.summary']])
  })
})
