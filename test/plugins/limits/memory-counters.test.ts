import { expect } from 'chai'
import { MemoryCounters } from '../../../plugins/limits/memory-counters.ts'
import { startsAround } from '../../../plugins/limits/period.ts'
import { countersContract } from './counters-contract.ts'

describe('plugins/limits/memory-counters', () => {
  countersContract(async () => {
    const clock = { now: 0 }
    return { counters: new MemoryCounters(() => clock.now), clock }
  })

  it('give each of several processes its share of what was left when a sum became known', () => {
    const now = Date.UTC(2026, 10, 18, 12)
    const counters = new MemoryCounters(() => now)
    const starts = startsAround('month', now)
    counters.seed([{ bucket: 'key:a', period: 'month', since: starts[1], spent: 400 }])
    const reserve = (id: string, ...estimates: number[]) =>
      counters.reserve({
        id,
        lasts: 60_000,
        sums: [{ bucket: 'key:a', period: 'month', starts, limit: 1_000, share: 3 }],
        estimates,
        input: 0,
      })
    expect(reserve('a', 150)).to.deep.include({ held: 150, left: [50] })
    expect(reserve('b', 51, 50)).to.deep.include({ held: 50, left: [0] })
    expect(reserve('c', 1)).to.deep.include({ refused: 0 })
  })

  it('refill nothing, and give nothing back, when the wall clock is set forward', () => {
    const wall = Date.now
    let later = 0
    Date.now = () => wall() + later
    const counters = new MemoryCounters()
    const rate = { bucket: 'key:a', counts: 'requests', limit: 1, period: 86_400_000, amount: 1 } as const
    const places = [{ bucket: 'key:a', limit: 1 }]
    const refused = (id: string, more: object) =>
      counters.take({ id, lasts: 86_400_000, rates: [], places: [], ...more }).refused !== undefined
    try {
      expect([refused('a', { rates: [rate] }), refused('a', { places })]).to.deep.equal([false, false])
      later = 2 * 86_400_000
      expect([refused('b', { rates: [rate] }), refused('b', { places })]).to.deep.equal([true, true])
    } finally {
      Date.now = wall
    }
  })
})
