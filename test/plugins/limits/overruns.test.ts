import { expect } from 'chai'
import { Overruns, overrunOf } from '../../../plugins/limits/overruns.ts'

/** Numbers of requests that cost so many times their estimates, by API key. */
type Counts = Readonly<Record<string, Readonly<Record<number, number>>>>

const factorOf = async (counts: Counts) => {
  const rows = Object.entries(counts).flatMap(([key, ofKey]) =>
    Object.entries(ofKey).map(([factor, count]) => {
      // PostgreSQL gives sums as texts.
      return { model: 'm', key_id: key, overrun: Math.round(Number(factor) * 10), count: String(count) }
    }),
  )
  const overruns = new Overruns({ rows: <R>() => Promise.resolve(rows as unknown as readonly R[]) })
  await overruns.refresh()
  return overruns.of('m')
}

describe('what requests cost beyond their estimates', () => {
  it('is counted in tenths, from 1 to 10', () => {
    expect([overrunOf(0, 100), overrunOf(100, 100), overrunOf(101, 100), overrunOf(250, 100)]).to.deep.equal([
      10, 10, 11, 25,
    ])
    expect([overrunOf(5_000, 100), overrunOf(5, 0)]).to.deep.equal([100, 50])
  })

  it('is the 95th percentile of a model', async () => {
    expect(await factorOf({})).to.equal(1)
    expect(await factorOf({ a: { 3: 1 } })).to.equal(3)
    expect(await factorOf({ a: { 1: 95, 8: 5 } })).to.equal(1)
    expect(await factorOf({ a: { 1: 94, 8: 6 } })).to.equal(8)
    expect(await factorOf({ a: { 1: 80, 2: 16, 8: 4 } })).to.equal(2)
  })

  it('has a fifth of its values from one key at most', async () => {
    const quiet = Object.fromEntries(Array.from({ length: 20 }, (_, key) => [`quiet ${key}`, { 1: 10 }]))
    expect(await factorOf({ ...quiet, loud: { 1: 8_000, 9: 2_000 } }), 'a fifth of a fifth').to.equal(1)
    expect(await factorOf({ ...quiet, loud: { 9: 2_000 } })).to.equal(9)
    expect(await factorOf({ one: { 1: 10 }, loud: { 1: 920, 9: 80 } }), 'a half of two').to.equal(1)
  })
})
