import { mock } from 'node:test'
import { expect } from 'chai'
import { watchSilence } from '../../../engine/http/keepalive.ts'

describe('a watched stream', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('says something after every interval of silence, and at no other time', () => {
    const said: string[] = []
    const one = watchSilence('16s', () => said.push('one'))
    mock.timers.tick(8_000)
    const other = watchSilence('16s', () => said.push('other'))
    mock.timers.tick(7_000)
    expect(said).to.deep.equal([])
    mock.timers.tick(1_000)
    expect(said).to.deep.equal(['one'])
    mock.timers.tick(7_000)
    if (other) other.quiet = 0
    mock.timers.tick(9_000)
    expect(said).to.deep.equal(['one', 'one'])
    one?.stop()
    mock.timers.tick(7_000)
    expect(said).to.deep.equal(['one', 'one', 'other'])
    other?.stop()
    mock.timers.tick(64_000)
    expect(said).to.have.length(3)
  })

  it('is not watched at an interval of 0', () => {
    expect(watchSilence('0s', () => expect.fail('it spoke'))).to.equal(undefined)
  })
})
