import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { askNow, noteAnswer, noteSilence, onSilence, secondsOfSilence } from '../../console/src/api/silence.ts'

describe('console/silence', () => {
  let seconds = 0
  let answers = false
  let askedAt: number[] = []
  const pass = async (count: number) => {
    for (let passed = 0; passed < count; passed++) {
      seconds += 1
      mock.timers.tick(1000)
      await setImmediate()
    }
  }
  beforeEach(() => {
    seconds = 0
    answers = false
    askedAt = []
    mock.timers.enable({ apis: ['setTimeout'] })
    mock.method(globalThis, 'fetch', () => {
      askedAt.push(seconds)
      return answers ? Promise.resolve(new Response()) : Promise.reject(new TypeError('nobody'))
    })
  })
  afterEach(() => {
    noteAnswer()
    mock.timers.reset()
    mock.restoreAll()
  })

  it('asks again after 1, 2, 4, 8, 16 and then each 30 seconds, until somebody answers', async () => {
    noteSilence()
    noteSilence()
    await pass(100)
    expect(askedAt).to.deep.equal([1, 3, 7, 15, 31, 61, 91])
    answers = true
    await pass(30)
    expect(askedAt.at(-1)).to.equal(121)
    expect(secondsOfSilence()).to.equal(null)
    await pass(100)
    expect(askedAt).to.have.length(8)
  })

  it('counts the seconds, and asks at once where somebody wants to', async () => {
    const told: (number | null)[] = []
    const forget = onSilence(() => told.push(secondsOfSilence()))
    noteSilence()
    await pass(2)
    answers = true
    askNow()
    await setImmediate()
    forget()
    expect(told).to.deep.equal([1, 0, 2, 1, 0, null])
    expect(askedAt).to.deep.equal([1, 2])
  })

  it('ends with any answer, and begins anew with the next silence', async () => {
    noteSilence()
    await pass(5)
    noteAnswer()
    expect(secondsOfSilence()).to.equal(null)
    await pass(10)
    expect(askedAt).to.deep.equal([1, 3])
    noteSilence()
    await pass(1)
    expect(askedAt).to.deep.equal([1, 3, 16])
    noteAnswer()
    noteSilence()
    await pass(4)
    expect(askedAt).to.deep.equal([1, 3, 16, 17, 19])
  })
})
