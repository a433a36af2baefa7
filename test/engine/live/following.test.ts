import { expect } from 'chai'
import { pino } from 'pino'
import type { Diagnostic } from '../../../engine/config/diagnostics.ts'
import { Following } from '../../../engine/live/following.ts'

const finding: Diagnostic = { file: 'f', line: 1, column: 1, code: 'service', message: 'not now', path: [] }

describe('live/following', () => {
  const clock = performance.now.bind(performance)
  let now = 0
  beforeEach(() => {
    now = 0
    performance.now = () => now
  })
  afterEach(() => {
    performance.now = clock
  })

  /** Looks twice a second for so many seconds. */
  const look = async (following: Following, seconds: number) => {
    for (const end = now + seconds * 1000; now < end; now += 500) await following.look()
  }

  it('tries what was refused again after growing pauses, and anew with each revision', async () => {
    let revision = 1
    const tries: number[] = []
    const told: number[] = []
    const following = new Following({
      log: pino({ level: 'silent' }),
      revision: () => Promise.resolve(revision),
      isLive: () => false,
      adopt: () => Promise.resolve((tries.push(now / 1000), [finding])),
      refused: () => told.push(now / 1000),
    })
    await look(following, 300)
    expect(tries).to.deep.equal([0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5, 183.5, 243.5])
    expect(told).to.deep.equal([0])
    expect(following.isBehind).to.equal(true)
    tries.length = 0
    revision = 2
    await look(following, 4)
    expect(tries).to.deep.equal([300, 300.5, 301.5, 303.5])
  })

  it('does not try what is live, nor one thing twice at once', async () => {
    let isLive = true
    let tries = 0
    const { promise, resolve } = Promise.withResolvers<readonly Diagnostic[]>()
    const following = new Following({
      log: pino({ level: 'silent' }),
      revision: () => Promise.resolve(1),
      isLive: () => isLive,
      adopt: () => (tries++, promise),
      refused: () => undefined,
    })
    await look(following, 10)
    expect(tries).to.equal(0)
    isLive = false
    const first = following.look()
    await look(following, 10)
    expect(tries).to.equal(1)
    resolve([])
    await first
    expect(following.isBehind).to.equal(false)
  })
})
