import { expect } from 'chai'
import { Circuit } from '../../../plugins/judge/circuit.ts'
import type { Admission } from '../../../plugins/judge/circuit.ts'

describe('the circuit of the judge, with calls at the same time', () => {
  const rules = { failures: 2, open_s: 30 }
  let now: number
  let circuit: Circuit
  beforeEach(() => {
    now = 0
    circuit = new Circuit(() => now)
  })

  const admitted = (): Admission => {
    const admission = circuit.admit()
    if (!admission) throw new Error('the circuit is open')
    return admission
  }

  it('stays open whatever calls say that began before it opened', () => {
    const [one, other, ...late] = [admitted(), admitted(), admitted(), admitted(), admitted()]
    one.ended('fault', rules)
    other.ended('fault', rules)
    expect(circuit.admit()).to.equal(undefined)
    late[0]?.ended('ok', rules)
    expect(circuit.admit(), 'a late answer').to.equal(undefined)
    now = 29_999
    late[1]?.ended('fault', rules)
    now = 30_000
    expect(circuit.admit(), 'a late failure').not.to.equal(undefined)
  })

  it('lets one call probe, which none that began before replaces', () => {
    const [one, other, late] = [admitted(), admitted(), admitted()]
    one.ended('fault', rules)
    other.ended('fault', rules)
    now = 30_000
    const probe = admitted()
    late.ended(undefined, rules)
    expect(circuit.admit()).to.equal(undefined)
    probe.ended('ok', rules)
    expect(circuit.admit()).not.to.equal(undefined)
  })

  it('lets another call probe if the client of the first one left', () => {
    admitted().ended('fault', rules)
    admitted().ended('fault', rules)
    now = 30_000
    admitted().ended(undefined, rules)
    admitted().ended('fault', rules)
    now = 59_999
    expect(circuit.admit()).to.equal(undefined)
  })

  it('counts no failure from before it closed', () => {
    const [one, other, late] = [admitted(), admitted(), admitted()]
    one.ended('fault', rules)
    other.ended('fault', rules)
    now = 30_000
    admitted().ended('ok', rules)
    late.ended('fault', rules)
    admitted().ended('fault', rules)
    expect(circuit.admit()).not.to.equal(undefined)
  })
})
