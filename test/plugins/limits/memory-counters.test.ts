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
})
