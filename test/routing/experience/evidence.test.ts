import { expect } from 'chai'
import fc from 'fast-check'
import { explicitEvidence, implicitEvidence } from '../../../plugins/experience/evidence.ts'
import type { Observation } from '../../../plugins/experience/evidence.ts'

const rules = { window: 100, strength: 5 }
let made = 0
const rows = (count: number, reward: number, key: string | null = 'key', weight = 1): readonly Observation[] =>
  Array.from({ length: count }, () => {
    made += 1
    const conversation = `c${made}`
    const from = { key_id: key, conversation, turn: 1, ask: `ask ${made}` }
    return { decision: `d${made}`, source: 'explicit', at: made, reward, weight, ...from }
  })
/** The mean that a prior of 0.9 becomes. */
const meanOf = (observed: readonly Observation[]) => {
  const { successes, failures } = explicitEvidence(observed, rules)
  return (4.5 + successes) / (5 + successes + failures)
}

describe('explicit evidence', () => {
  it('is the newest 100 rows, by their weights', () => {
    expect(explicitEvidence([], rules)).to.deep.equal({ successes: 0, failures: 0, rows: 0 })
    const mixed = [...rows(3, 1), ...rows(2, 0), ...rows(1, 1, 'key', 0.5)]
    expect(explicitEvidence(mixed, rules)).to.deep.equal({ successes: 3.5, failures: 2, rows: 6 })
    expect(explicitEvidence([...rows(300, 1), ...rows(99, 0)], rules)).to.deep.equal({
      successes: 1,
      failures: 99,
      rows: 100,
    })
  })

  it('of one key alone teaches its gateway', () => {
    expect(meanOf(rows(100, 0))).to.be.closeTo(4.5 / 105, 1e-12)
    expect(meanOf(rows(100, 0, null)), 'requests without a key').to.be.closeTo(4.5 / 105, 1e-12)
  })

  it('of one key among twenty moves a mean by less than 5 %, however much it says', () => {
    for (const each of [1, 5, 20]) {
      const others = Array.from({ length: 19 }, (_, key) => rows(each, 1, `key ${key}`)).flat()
      const before = meanOf([...others, ...rows(1, 1, 'loud')])
      const after = meanOf([...others, ...rows(1, 1, 'loud'), ...rows(300, 0, 'loud')])
      expect(before - after, `${each} of each`).to.be.within(0.001, 0.05)
    }
  })

  it('of keys that say as much as one another counts in full', () => {
    const fair = Array.from({ length: 4 }, (_, key) => rows(10, 1, `key ${key}`)).flat()
    expect(explicitEvidence(fair, rules)).to.deep.equal({ successes: 40, failures: 0, rows: 40 })
  })

  it('gives no key more than its share of what is known', () => {
    const counts = fc.array(fc.nat(200), { minLength: 2, maxLength: 40 })
    fc.assert(
      fc.property(counts, (each) => {
        const keys = each.filter((count) => count > 0).length
        // One key says 0 and the others 1, so that its part of the sum is seen.
        const all = each.map((count, key) => rows(count, key === 0 ? 0 : 1, `key ${key}`)).flat()
        const { successes, failures } = explicitEvidence(all, rules)
        const share = Math.max(0.05, 1 / Math.max(1, keys))
        expect(failures).to.be.at.most(share * (5 + successes + failures) + (keys < 2 ? 200 : 1e-9))
      }),
    )
  })
})

describe('implicit evidence', () => {
  const keys = (count: number, each: number, reward: number) =>
    Array.from({ length: count }, (_, key) => rows(each, reward, `key ${key}`, 0.25)).flat()

  it('is worth 20 observations at most', () => {
    expect(implicitEvidence(keys(4, 2, 1), rules).evidence).to.deep.equal({ successes: 2, failures: 0, rows: 8 })
    const many = [...keys(10, 30, 1), ...keys(10, 5, 0)]
    expect(implicitEvidence(many, { ...rules, window: 100 }).evidence).to.deep.equal({
      successes: 10,
      failures: 10,
      rows: 100,
    })
  })

  it('of one key is a third of what is known, however much it is', () => {
    const { successes, failures } = implicitEvidence(rows(100, 0, 'loud', 0.25), rules).evidence
    expect(successes).to.equal(0)
    expect(failures).to.be.closeTo(2.5, 1e-12)
    const others = implicitEvidence([...keys(19, 2, 1), ...rows(100, 0, 'loud', 0.25)], rules).evidence
    expect(others.failures / (5 + others.successes + others.failures)).to.be.closeTo(0.05, 1e-12)
  })

  it('counts each turn of a conversation once', () => {
    const [first, second, other] = rows(3, 0, 'key', 0.25) as [Observation, Observation, Observation]
    const again = { ...second, conversation: first.conversation }
    const counted = (...given: readonly Observation[]) => implicitEvidence([other, ...given], rules).evidence.rows - 1
    expect(counted(first, again)).to.equal(1)
    expect(counted(first, { ...again, turn: 2 })).to.equal(2)
    expect(counted(first, { ...again, source: 'implicit:schema' })).to.equal(2)
    const unknown = { conversation: null, turn: null }
    expect(counted({ ...first, ...unknown }, { ...second, ...unknown })).to.equal(2)
  })

  it('counts what a key repeats once, and not at all while it is all that the key asks', () => {
    const asked = (ask: string | null, count: number) => rows(count, 0, 'key', 0.25).map((row) => ({ ...row, ask }))
    const counted = (given: readonly Observation[]) => implicitEvidence(given, rules).evidence.rows
    expect(counted(asked('Say OK.', 50))).to.equal(0)
    expect(counted([...asked('Say OK.', 50), ...asked('And now?', 1)])).to.equal(2)
    const others = [...keys(4, 5, 1)]
    expect(implicitEvidence([...others, ...asked('Say OK.', 50)], rules)).to.deep.equal(implicitEvidence(others, rules))
    // The success of a retry does not take back the failure before, however often both are repeated.
    const retried = [...asked('Say OK.', 1), ...rows(1, 1, 'key', 0.25).map((row) => ({ ...row, ask: 'Say OK.' }))]
    const both = { successes: 0.25, failures: 0.5, rows: 3 }
    expect(implicitEvidence([...retried, ...asked('And now?', 1)], rules).evidence).to.deep.equal(both)
    const often = Array.from({ length: 9 }, () => retried).flat()
    expect(implicitEvidence([...often, ...asked('And now?', 1)], rules).evidence).to.deep.equal(both)
    // Of rows before asks were known, each conversation is one.
    const grown = asked(null, 9).map((row, turn) => ({ ...row, conversation: 'c', turn }))
    expect([counted(grown), counted([...grown, ...asked(null, 1)])]).to.deep.equal([0, 2])
  })

  it('may take a model below the gate from three keys and twenty conversations on', () => {
    const isBroad = (given: readonly Observation[]) => implicitEvidence(given, rules).isBroad
    expect([isBroad(keys(3, 7, 0)), isBroad(keys(2, 20, 0)), isBroad(keys(3, 6, 0))]).to.deep.equal([
      true,
      false,
      false,
    ])
    const long = keys(4, 10, 0).map((row, turn) => ({ ...row, conversation: `c ${turn % 19}`, turn }))
    expect(isBroad(long)).to.equal(false)
  })
})
