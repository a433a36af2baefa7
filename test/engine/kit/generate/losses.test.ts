import { expect } from 'chai'
import { Losses } from '../../../../engine/kit/generate/losses.ts'

describe('engine/generate/losses', () => {
  it('keeps each loss once, in the order met', () => {
    const losses = new Losses('chat')
    losses.add('seed', 'it is not taken')
    losses.add('user', 'it is not taken')
    losses.add('seed', 'it is not taken')
    losses.add('seed', 'it is too long')
    expect(losses.list()).to.deep.equal([
      { field: 'seed', because: 'it is not taken' },
      { field: 'user', because: 'it is not taken' },
      { field: 'seed', because: 'it is too long' },
    ])
  })

  it('gives back what the protocol itself has, and loses what another one has, by names that are words', () => {
    const losses = new Losses('chat')
    expect(losses.own({ protocol: 'chat', fields: { n: 2 } })).to.deep.equal({ n: 2 })
    expect(losses.own(undefined)).to.deep.equal({})
    expect(losses.list()).to.deep.equal([])
    expect(losses.own({ protocol: 'messages', fields: { mood: 'glad', 'a b': 1 } })).to.deep.equal({})
    expect(
      losses.own(
        { protocol: 'messages', fields: { mood: 'glad' } },
        { prefix: 'tools[].', because: 'nobody takes it' },
      ),
    ).to.deep.equal({})
    expect(losses.list()).to.deep.equal([
      { field: 'mood', because: 'only messages has it' },
      { field: 'unknown', because: 'only messages has it' },
      { field: 'tools[].mood', because: 'nobody takes it' },
    ])
  })
})
