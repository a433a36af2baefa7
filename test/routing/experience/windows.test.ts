import { expect } from 'chai'
import fc from 'fast-check'
import { Windows } from '../../../plugins/experience/windows.ts'
import type { RewardsTable } from '../../../plugins/experience/table.ts'

const rules = { window: 100, strength: 5, implicit: true }
const place = { model: 'm', mode: 'auto', tier: 'MEDIUM' } as const
const row = (decision: string, more: Partial<RewardsTable> = {}): RewardsTable => ({
  ...place,
  decision,
  source: 'explicit',
  at: 1000,
  reward: 1,
  weight: 1,
  key_id: 'key',
  conversation: null,
  turn: null,
  ask: null,
  ...more,
})
const evidence = (rows: readonly RewardsTable[], at: { readonly tier: RewardsTable['tier'] } = place) => {
  const windows = new Windows()
  for (const one of rows) windows.add(one)
  const { successes, failures, rows: count } = windows.evidence({ ...place, tier: at.tier as 'SIMPLE' }, rules)
  return [successes, failures, count]
}

describe('the windows of experience', () => {
  it('count explicit and implicit rows apart', () => {
    const implicit = { source: 'implicit:next_turn', weight: 0.25 }
    const rows = [row('a'), row('b', { reward: 0 }), row('a', implicit), row('b', { ...implicit, reward: 0 })]
    expect(evidence(rows)).to.deep.equal([1.25, 1.25, 4])
    const windows = new Windows()
    for (const one of rows) windows.add(one)
    expect(windows.evidence(place, { ...rules, implicit: false })).to.deep.equal({ successes: 1, failures: 1, rows: 2 })
  })

  it('hold what others said, however much one key says afterwards', () => {
    const others = Array.from({ length: 20 }, (_, at) => row(`other ${at}`, { at, key_id: `key ${at % 2}`, reward: 0 }))
    const busy = Array.from({ length: 600 }, (_, at) => row(`busy ${at}`, { at: 100 + at, key_id: 'busy' }))
    const [, failures = 0, count] = evidence([...others, ...busy])
    // A third of the window is the busy one's.
    expect([failures > 5, count]).to.deep.equal([true, 20 + 34])
    expect(evidence([...busy, ...others])).to.deep.equal(evidence([...others, ...busy]))
  })

  it('hold two rows at most of an ask and reward that a key repeats: the newest, and that of the hours before', () => {
    const hour = 3_600_000
    const told = (decision: string, more: Partial<RewardsTable> = {}) =>
      row(decision, { source: 'implicit:next_turn', ask: decision, at: hour, ...more })
    const others = Array.from({ length: 250 }, (_, index) => told(`other ${index}`, { key_id: 'other' }))
    const repeated = Array.from({ length: 1_000 }, (_, index) =>
      told(`again ${index}`, { ask: 'Say OK.', at: 2 * hour + index * 60_000, reward: Number(index < 960) }),
    )
    for (const rows of [
      [...others, ...repeated],
      [...repeated.toReversed(), ...others],
    ]) {
      const windows = new Windows()
      for (const one of rows) windows.add(one)
      expect(windows.since(place, 'implicit:next_turn', 0)).to.have.length(253)
      // Within the hour nothing changes.
      const now = 2 * hour + 999 * 60_000
      const count = (time: number) => windows.evidence(place, rules, time)
      windows.add(told('something else'))
      expect(count(now)).to.deep.equal(count(now + 60_000))
      expect(count(now + hour)).not.to.deep.equal(count(now))
    }
  })

  it('count a failure though its retry succeeded, and hold no more of it however often that happens', () => {
    const hour = 3_600_000
    const windows = new Windows()
    const told = (decision: string, more: Partial<RewardsTable>) =>
      windows.add(row(decision, { source: 'implicit:next_turn', weight: 0.25, at: hour, ...more }))
    told('something else', { ask: 'else' })
    for (let count = 0; count < 50; count++) {
      told(`failed ${count}`, { ask: 'one', reward: 0, at: hour + 2 * count })
      told(`retried ${count}`, { ask: 'one', reward: 1, at: hour + 2 * count + 1 })
    }
    const { successes, failures, rows: count } = windows.evidence(place, rules, 3 * hour)
    expect([successes, failures, count]).to.deep.equal([0.5, 0.25, 3])
    expect(windows.since(place, 'implicit:next_turn', 0)).to.have.length(3)
  })

  it('take half of the other tiers where nothing was observed, and five observations at most', () => {
    const rows = [row('a'), row('b', { tier: 'SIMPLE' }), row('c', { tier: 'SIMPLE', reward: 0 })]
    expect(evidence(rows, { tier: 'COMPLEX' })).to.deep.equal([1, 0.5, 0])
    expect(evidence(rows, { tier: 'SIMPLE' }), 'own rows').to.deep.equal([1, 1, 2])
    const many = Array.from({ length: 100 }, (_, index) => row(`d${index}`, { reward: Number(index % 5 > 0) }))
    expect(evidence(many, { tier: 'COMPLEX' })).to.deep.equal([4, 1, 0])
    expect(evidence(many.map((one) => ({ ...one, mode: 'fast' })))).to.deep.equal([0, 0, 0])
  })

  it('know a row once', () => {
    const windows = new Windows()
    expect([
      windows.add(row('a')),
      windows.add(row('a')),
      windows.add(row('a', { source: 'explicit:cheaper' })),
    ]).to.deep.equal([true, false, true])
  })

  it('are the same in whatever order rows come', () => {
    const wild = fc.uniqueArray(
      fc.record({
        decision: fc.uuid(),
        at: fc.nat(20),
        reward: fc.constantFrom(0, 1),
        weight: fc.constantFrom(0.5, 1),
        key_id: fc.constantFrom('one', 'two', 'three', null),
      }),
      { minLength: 1, maxLength: 700, selector: ({ decision }) => decision },
    )
    fc.assert(
      fc.property(wild, (given) => {
        const rows = given.map(({ decision, ...more }) => row(decision, more))
        expect(evidence(rows.toReversed())).to.deep.equal(evidence(rows))
      }),
      { numRuns: 30 },
    )
  })

  it('forget what was learned until a time', () => {
    const windows = new Windows()
    for (const one of [row('a'), row('b', { at: 2000, reward: 0 }), row('c', { model: 'other' })]) windows.add(one)
    windows.forget('m', 1000)
    expect(windows.evidence(place, rules)).to.deep.equal({ successes: 0, failures: 1, rows: 1 })
    expect(windows.places().map(({ model }) => model)).to.deep.equal(['m', 'other'])
    windows.forget(undefined, 2000)
    expect(windows.places()).to.deep.equal([])
  })

  it('count what nobody said from the full hour on, and in the gate if enough keys and conversations showed it', () => {
    const hour = 3_600_000
    const narrow = Array.from({ length: 40 }, (_, index) =>
      row(`d${index}`, {
        source: 'implicit:next_turn',
        weight: 0.25,
        reward: 0,
        conversation: `c${index}`,
        turn: 1,
        at: hour,
      }),
    )
    const broad = narrow.map((one, index) => ({ ...one, key_id: `key ${index % 4}` }))
    const seen = (rows: readonly RewardsTable[], now: number, tier: 'MEDIUM' | 'COMPLEX' = 'MEDIUM') => {
      const windows = new Windows()
      for (const one of [row('said'), ...rows]) windows.add(one)
      const { failures, gate } = windows.evidence({ ...place, tier }, rules, now)
      return [Number(failures.toFixed(9)), gate?.failures]
    }
    expect(seen(broad, 1.99 * hour)).to.deep.equal([0, undefined])
    expect(seen(broad, 2 * hour)).to.deep.equal([10, undefined])
    expect(seen(narrow, 2 * hour)).to.deep.equal([2.5, 0])
    expect(seen(narrow, 2 * hour, 'COMPLEX'), 'in another tier').to.deep.equal([1.25, 0])
    // Rows of other processes may not be known yet.
    const late = broad.map((one) => ({ ...one, at: 2 * hour - 1000 }))
    expect([seen(late, 2 * hour), seen(late, 3 * hour)]).to.deep.equal([
      [0, undefined],
      [10, undefined],
    ])
  })
})
