import { expect } from 'chai'
import { ChangePoll } from '../../../engine/kit/change-poll.ts'

describe('engine/live/change-poll', () => {
  it('asks once at a time, and tells when the answer is late, in the same words until it comes', async () => {
    let asked = 0
    let changes = 0
    let answer = Promise.withResolvers<boolean>()
    const poll = () => ((asked += 1), answer.promise)
    const following = new ChangePoll({ poll, changed: () => void (changes += 1), unknown: 'keys are not known' })
    const first = following.look()
    await following.look()
    await following.look()
    expect([asked, following.problem]).to.deep.equal([1, undefined])
    await following.look()
    const late = 'keys are not known: the database does not answer'
    expect([asked, following.problem]).to.deep.equal([1, late])
    answer.reject(new Error('gone'))
    await first
    await following.look()
    expect([asked, following.problem]).to.deep.equal([2, late])
    answer = Promise.withResolvers()
    answer.resolve(true)
    await following.look()
    expect([asked, changes, following.problem]).to.deep.equal([3, 1, undefined])
  })

  it('tells of failures in a row, not of one', async () => {
    const answers = [false, true, false, false, false]
    const poll = async () => {
      if (answers.shift()) return false
      throw new Error('gone')
    }
    const following = new ChangePoll({ poll, changed: () => undefined, unknown: 'keys are not known' })
    const problems: (string | undefined)[] = []
    while (answers.length > 0) {
      await following.look()
      problems.push(following.problem)
    }
    expect(problems.slice(0, 4)).to.deep.equal([undefined, undefined, undefined, undefined])
    expect(problems[4]).to.match(/ are not known: gone$/)
  })
})
