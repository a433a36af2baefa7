import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Candidate } from '../../../engine/index.ts'
import { Healths, Visit } from '../../../plugins/resilience/health.ts'
import type { BreakerRules } from '../../../plugins/resilience/health.ts'

const rules: BreakerRules = {
  enabled: true,
  perModel: true,
  failures: 1,
  ratio: 1,
  minimum: 20,
  window: 30_000,
  open: 5,
  openMax: 5,
}
const failure = { code: 'upstream_timeout', message: '', tags: ['timeout'] }

describe('the visits of a provider', () => {
  for (const [what, end] of [
    ['whose client leaves', { code: 'client_closed', message: '', tags: [] }],
    ['that fails', failure],
  ] as const)
    it(`are probed once at a time, beside a long answer ${what}`, async () => {
      const { circuit, ...rest } = new Healths().of(
        { provider: { name: 'far' }, model: { name: 'm' } } as Candidate,
        true,
      )
      const health = { circuit, ...rest }
      const failing = new Visit(health, rules, false)
      failing.ended(failure)
      await pause(7)
      expect(circuit.admit(performance.now())).to.equal('probe')
      const first = new Visit(health, rules, true)
      first.answered()
      expect(circuit.state).to.equal('closed')
      new Visit(health, rules, false).ended(failure)
      await pause(7)
      expect(circuit.admit(performance.now())).to.equal('probe')
      first.ended(end)
      expect(circuit.state).to.equal('half_open')
      expect(circuit.admit(performance.now())).to.equal('wait')
    })
})
