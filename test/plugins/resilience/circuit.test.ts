import { expect } from 'chai'
import fc from 'fast-check'
import { Circuit } from '../../../plugins/resilience/circuit.ts'

const rules = { failures: 5, ratio: 0.5, minimum: 20, window: 30_000, open: 30_000, openMax: 300_000 }

/** A circuit without jitter that has just opened, at the time 0. */
function opened(random = () => 0): Circuit {
  const circuit = new Circuit(random)
  for (let count = 0; count < rules.failures; count++) circuit.failed(false, 0, rules)
  expect(circuit.state).to.equal('open')
  return circuit
}

describe('a circuit', () => {
  it('opens after failures in a row', () => {
    const circuit = new Circuit()
    for (const failed of [true, true, true, true, false, true, true, true, true]) {
      if (failed) circuit.failed(false, 0, rules)
      else circuit.succeeded(0, 0, rules)
      expect(circuit.state).to.equal('closed')
    }
    circuit.failed(false, 0, rules)
    expect(circuit).to.include({ state: 'open', openedTimes: 1, openedAt: 0 })
  })

  it('opens when a share of enough requests within the window fails', () => {
    const half = (circuit: Circuit, count: number, every: number) => {
      for (let at = 0; at < count; at++)
        if (at % 2 === 0) circuit.succeeded(at * every, at * every, rules)
        else circuit.failed(false, at * every, rules)
      return circuit.state
    }
    expect(half(new Circuit(), 19, 1)).to.equal('closed')
    expect(half(new Circuit(), 20, 1)).to.equal('open')
    expect(half(new Circuit(), 200, 2_000), 'never so many within the window').to.equal('closed')
    const few = new Circuit()
    for (let at = 0; at < 200; at++)
      if (at % 3 === 0) few.failed(false, at, rules)
      else few.succeeded(at, at, rules)
    expect(few.state, 'a third is less than half').to.equal('closed')
  })

  it('lets nothing pass while it is open, and then exactly one probe', () => {
    const circuit = opened()
    expect(circuit.admit(29_999)).to.equal('wait')
    const admitted = Array.from({ length: 50 }, () => circuit.admit(30_000))
    expect(admitted.filter((one) => one === 'probe')).to.have.length(1)
    expect(admitted.filter((one) => one === 'wait')).to.have.length(49)
    expect(circuit.state).to.equal('half_open')
  })

  it('closes after a probe that succeeds, and forgets', () => {
    const circuit = opened()
    circuit.admit(30_000)
    circuit.succeeded(30_000, 30_500, rules)
    expect(circuit).to.include({ state: 'closed', openedTimes: 1, openedAt: undefined, retryAt: undefined })
    expect(circuit.figures(30_500, rules)).to.deep.equal({ requests: 0, failures: 0 })
    for (let count = 0; count < 4; count++) circuit.failed(false, 31_000, rules)
    expect(circuit.state).to.equal('closed')
  })

  it('stays open once more as long after each probe that fails, and at most its longest time', () => {
    const circuit = opened()
    let now = 0
    const times = Array.from({ length: 12 }, () => {
      const time = circuit.retryAt! - now
      now = circuit.retryAt!
      expect(circuit.admit(now)).to.equal('probe')
      circuit.failed(true, now, rules)
      return time / 1_000
    })
    expect(times).to.deep.equal([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
    circuit.admit(circuit.retryAt!)
    circuit.succeeded(circuit.retryAt!, circuit.retryAt!, rules)
    for (let count = 0; count < 5; count++) circuit.failed(false, 1e9, rules)
    expect(circuit.retryAt! - 1e9, 'it begins anew').to.equal(30_000)
  })

  it('stays open up to a fifth longer, at random', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (drawn) => {
        const { retryAt } = opened(() => drawn)
        expect(retryAt).to.be.closeTo(30_000 * (1 + 0.2 * drawn), 1e-6)
      }),
    )
  })

  it('is probed again when the client of a probe has left', () => {
    const circuit = opened()
    expect(circuit.admit(30_000)).to.equal('probe')
    expect(circuit.admit(1e9), 'however long the probe takes').to.equal('wait')
    circuit.released()
    expect(circuit.admit(30_000)).to.equal('probe')
  })

  it('takes no notice of requests that began before it opened, nor of failures that are no probe', () => {
    const circuit = new Circuit(() => 0)
    for (let count = 0; count < 5; count++) circuit.failed(false, 1_000, rules)
    circuit.succeeded(999, 2_000, rules)
    circuit.failed(false, 2_000, rules)
    expect(circuit).to.include({ state: 'open', openedTimes: 1, retryAt: 31_000 })
    circuit.succeeded(1_500, 3_000, rules)
    expect(circuit.state, 'a request that was let through proves that the provider works').to.equal('closed')
  })

  it('counts what the window holds', () => {
    const circuit = new Circuit()
    circuit.failed(false, 0, rules)
    circuit.succeeded(0, 15_000, rules)
    expect(circuit.figures(29_999, rules)).to.deep.equal({ requests: 2, failures: 1 })
    expect(circuit.figures(30_000, rules)).to.deep.equal({ requests: 1, failures: 0 })
    expect(circuit.figures(45_000, rules)).to.deep.equal({ requests: 0, failures: 0 })
  })
})
