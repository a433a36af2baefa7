import { MemoryCounters } from '../../../plugins/limits/memory-counters.ts'
import { countersContract } from './counters-contract.ts'

describe('plugins/limits/memory-counters', () => {
  countersContract(async () => {
    const clock = { now: 0 }
    return { counters: new MemoryCounters(() => clock.now), clock }
  })
})
