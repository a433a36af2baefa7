import { expect } from 'chai'
import { Turns } from '../../../plugins/experience/turns.ts'
import type { Turn } from '../../../plugins/experience/turns.ts'

const minute = 60_000
/** Requests of a conversation, and what each says about the answer before. */
const judged = (...requests: readonly (Partial<Turn<string>> & { readonly endedAt?: number })[]) => {
  const turns = new Turns<string>()
  return requests.map(({ at = 0, endedAt = at, ...given }, index) => {
    const request = {
      conversation: 'c',
      ask: `ask ${index}`,
      turn: index + 1,
      step: 0,
      isFollowed: true,
      at,
      decision: `d${index}`,
      ...given,
    }
    const { decision, reward } = turns.follow(request, endedAt) ?? {}
    return decision === undefined ? undefined : `${decision}=${reward}`
  })
}

describe('the next turn of a user', () => {
  it('says that the answer was good enough', () => {
    expect(judged({}, {}, {})).to.deep.equal([undefined, 'd0=1', 'd1=1'])
  })

  it('says the contrary if it asks the same again', () => {
    expect(judged({}, { ask: 'ask 0' })).to.deep.equal([undefined, 'd0=0'])
    expect(judged({}, { ask: 'ask 0', turn: 1 }), 'in place of the first one').to.deep.equal([undefined, 'd0=0'])
    expect(judged({ ask: null }, { ask: null }), 'images alone').to.deep.equal([undefined, 'd0=1'])
  })

  it('says nothing if it replaces the question', () => {
    expect(judged({}, { turn: 1 })).to.deep.equal([undefined, undefined])
  })

  it('says nothing after 10 minutes, of another conversation, or if nothing was answered', () => {
    expect(judged({}, { at: 10 * minute }, { at: 21 * minute })).to.deep.equal([undefined, 'd0=1', undefined])
    expect(judged({}, { conversation: 'other' })).to.deep.equal([undefined, undefined])
    expect(judged({ decision: undefined }, {}, {})).to.deep.equal([undefined, undefined, 'd1=1'])
  })

  it('counts when it began, however long its own answer takes', () => {
    const slow = { at: 9 * minute, endedAt: 25 * minute }
    expect(judged({}, slow, { at: 34 * minute })).to.deep.equal([undefined, 'd0=1', 'd1=1'])
    expect(judged({ endedAt: 5 * minute }, { at: 14 * minute }), 'from the end of the answer').to.deep.equal([
      undefined,
      'd0=1',
    ])
  })

  it('speaks of the last step of an agent', () => {
    const step = (count: number) => ({ turn: 1, ask: 'ask 0', step: count })
    expect(judged({}, step(1), step(2), { turn: 2 })).to.deep.equal([undefined, undefined, undefined, 'd2=1'])
    expect(judged({}, step(1), { turn: 1, ask: 'ask 0' })).to.deep.equal([undefined, undefined, 'd1=0'])
  })

  it('says nothing without a conversation: anybody may ask the same twice', () => {
    const alone = { turn: 1, ask: 'Say OK.', isFollowed: false }
    expect(judged(alone, alone, alone)).to.deep.equal([undefined, undefined, undefined])
    expect(judged(alone, { turn: 2 }), 'a first request, too, is followed by a second').to.deep.equal([
      undefined,
      'd0=1',
    ])
  })

  it('speaks of each turn once', () => {
    const again = { turn: 1, ask: 'Say OK.' }
    expect(judged(again, again, again, again)).to.deep.equal([undefined, 'd0=0', undefined, undefined])
    expect(judged(again, again, { turn: 2 }, { turn: 3 })).to.deep.equal([undefined, 'd0=0', undefined, 'd2=1'])
  })
})
