import { expect } from 'chai'
import fc from 'fast-check'
import type { Counters, Rate, Reserving, Sum, Taking } from '../../../plugins/limits/counters.ts'
import { startsAround } from '../../../plugins/limits/period.ts'

/** Counters with a clock that a test sets, in milliseconds since 1970. */
export interface Clocked {
  readonly counters: Counters
  readonly clock: { now: number }
}

const noon = Date.UTC(2026, 10, 18, 12)

const rate = (more: Partial<Rate> = {}): Rate => ({
  bucket: 'key:a',
  counts: 'requests',
  limit: 3,
  period: 60_000,
  amount: 1,
  ...more,
})
const sum = (more: Partial<Sum> = {}, now = noon): Sum => ({
  bucket: 'key:a',
  period: 'month',
  starts: startsAround(more.period ?? 'month', now),
  limit: 1_000,
  ...more,
})

/** What counters promise, whatever holds them. `open` gives counters without any state. */
export function countersContract(open: () => Promise<Clocked>): void {
  let counters: Counters
  let clock: { now: number }
  let ids = 0
  beforeEach(async () => {
    ;({ counters, clock } = await open())
    clock.now = noon
  })

  const taking = (more: Partial<Taking> = {}): Taking => ({
    id: `x${ids++}`,
    lasts: 60_000,
    rates: [],
    places: [],
    ...more,
  })
  const take = async (more: Partial<Taking> = {}) => await counters.take(taking(more))
  const takes = async (rates: readonly Rate[]) => (await take({ rates })).refused === undefined
  const reserve = async (more: Partial<Reserving> = {}) =>
    await counters.reserve({ id: `x${ids++}`, lasts: 60_000, sums: [sum()], estimates: [100], input: 10, ...more })
  const spent = async (one = sum()) => (await counters.read([one]))[0]
  const seed = async (more: object = {}) =>
    await counters.seed([{ bucket: 'key:a', period: 'month', since: sum().starts[1], spent: 0, ...more }])

  describe('rates', () => {
    it('admit a full bucket at first, then one more whenever one has been refilled', async () => {
      for (const remaining of [2, 1, 0])
        expect((await take({ rates: [rate()] })).levels).to.deep.equal([{ remaining, full: (3 - remaining) * 20_000 }])
      expect(await take({ rates: [rate()] })).to.deep.equal({
        levels: [{ remaining: 0, full: 60_000 }],
        refused: { index: 0, wait: 20_000 },
      })
      clock.now += 19_999
      expect((await take({ rates: [rate()] })).refused).to.deep.equal({ index: 0, wait: 1 })
      clock.now += 1
      expect(await takes([rate()])).to.equal(true)
      expect(await takes([rate()])).to.equal(false)
    })

    it('take from all buckets or from none', async () => {
      const scarce = rate({ bucket: 'server', limit: 1 })
      expect(await takes([rate(), scarce])).to.equal(true)
      const refused = await take({ rates: [rate(), scarce] })
      expect(refused.refused).to.deep.equal({ index: 1, wait: 60_000 })
      expect(refused.levels[0]).to.deep.equal({ remaining: 2, full: 20_000 })
      expect([await takes([rate()]), await takes([rate()]), await takes([rate()])]).to.deep.equal([true, true, false])
    })

    it('lose and gain nothing by rounding, however often they are asked', async () => {
      const odd = rate({ limit: 7, period: 1_000_003 })
      for (let count = 0; count < 7; count++) expect(await takes([odd])).to.equal(true)
      let admitted = 0
      for (let step = 0; step < 400; step++) {
        clock.now += 2_501
        if (await takes([odd])) admitted++
      }
      expect(admitted).to.equal(Math.floor((400 * 2_501 * 7) / 1_000_003))
    })

    it('hold the largest limits', async () => {
      const large = rate({ counts: 'tokens', limit: 1e12, period: 2_592_000_000, amount: 1e12 - 1 })
      expect((await take({ rates: [large] })).levels[0]?.remaining).to.equal(1)
      clock.now += 2_592_000
      expect((await take({ rates: [{ ...large, amount: 1e9 }] })).levels[0]?.remaining).to.equal(1)
    })

    it('get back what is given, at most until they are full, and may owe', async () => {
      const tokens = rate({ counts: 'tokens', limit: 100, amount: 80 })
      await take({ rates: [tokens] })
      await counters.give({ id: 'x', rates: [{ ...tokens, amount: 70 }], places: [] })
      expect((await take({ rates: [{ ...tokens, amount: 0 }] })).levels[0]?.remaining).to.equal(90)
      await counters.give({ id: 'x', rates: [{ ...tokens, amount: -190 }], places: [] })
      const owing = await take({ rates: [{ ...tokens, amount: 1 }] })
      expect(owing.levels[0]).to.deep.equal({ remaining: -100, full: 120_000 })
      expect(owing.refused?.wait).to.equal(60_600)
      await counters.give({ id: 'x', rates: [{ ...tokens, amount: 1_000 }], places: [] })
      expect((await take({ rates: [{ ...tokens, amount: 0 }] })).levels[0]?.remaining).to.equal(100)
    })

    it('are taken even if nothing is left when they are forced', async () => {
      const tokens = rate({ counts: 'tokens', limit: 10, amount: 25 })
      expect(await take({ rates: [tokens], forced: true })).to.deep.equal({
        levels: [{ remaining: -15, full: 150_000 }],
      })
    })

    it('follow a changed limit, and refill nothing when the clock is set back', async () => {
      await take({ rates: [rate({ limit: 10, amount: 4 })] })
      expect((await take({ rates: [rate({ limit: 5, amount: 0 })] })).levels[0]?.remaining).to.equal(5)
      await take({ rates: [rate({ limit: 5, amount: 5 })] })
      clock.now -= 30_000
      expect((await take({ rates: [rate({ limit: 5, amount: 0 })] })).levels[0]?.remaining).to.equal(0)
    })

    it('never admit more than a full bucket and what was refilled since', async () => {
      const steps = fc.array(
        fc.record({ pause: fc.integer({ min: 0, max: 5_000 }), amount: fc.integer({ min: 1, max: 9 }) }),
        {
          minLength: 1,
          maxLength: 60,
        },
      )
      const limits = fc.record({
        limit: fc.integer({ min: 1, max: 50 }),
        period: fc.integer({ min: 1_000, max: 99_999 }),
      })
      let bucket = 0
      await fc.assert(
        fc.asyncProperty(limits, steps, async ({ limit, period }, all) => {
          const own = `key:p${bucket++}`
          const start = clock.now
          // The same in exact numbers, in units of one divided by the period.
          let level = BigInt(limit) * BigInt(period)
          for (const { pause, amount } of all) {
            clock.now += pause
            level += BigInt(limit) * BigInt(pause)
            if (level > BigInt(limit) * BigInt(period)) level = BigInt(limit) * BigInt(period)
            const admitted = await takes([rate({ bucket: own, limit, period, amount })])
            // Levels are whole millionths: at most that much less than the exact number is there.
            if (admitted) expect(level >= BigInt(amount) * BigInt(period)).to.equal(true)
            else expect(level < BigInt(amount) * BigInt(period) + BigInt(period) / 1_000_000n + 1n).to.equal(true)
            if (admitted) level -= BigInt(amount) * BigInt(period)
          }
          clock.now = start
        }),
        { numRuns: 30 },
      )
    })
  })

  describe('places', () => {
    const places = [{ bucket: 'key:a', limit: 2 }]

    it('are taken and given back', async () => {
      expect((await take({ id: 'a', places })).refused).to.equal(undefined)
      expect((await take({ id: 'b', places })).refused).to.equal(undefined)
      expect((await take({ id: 'c', places })).refused).to.deep.equal({ index: 0, wait: 1_000 })
      await counters.give({ id: 'a', rates: [], places: ['key:a'] })
      await counters.give({ id: 'unknown', rates: [], places: ['key:a'] })
      expect((await take({ id: 'c', places })).refused).to.equal(undefined)
    })

    it('are kept by those who take them twice, and are taken by force', async () => {
      for (const id of ['a', 'a', 'b', 'a']) expect((await take({ id, places })).refused).to.equal(undefined)
      expect((await take({ id: 'c', places })).refused).not.to.equal(undefined)
      expect((await take({ id: 'c', places, forced: true })).refused).to.equal(undefined)
      await counters.give({ id: 'a', rates: [], places: ['key:a'] })
      expect((await take({ id: 'd', places })).refused).not.to.equal(undefined)
    })

    it('expire, unless they are held anew', async () => {
      await take({ id: 'a', places, lasts: 1_000 })
      await take({ id: 'b', places, lasts: 1_000 })
      await counters.hold([
        { id: 'b', lasts: 5_000, places: ['key:a'], sums: [], micros: 0, input: 0, at: 0, isRun: false },
      ])
      clock.now += 1_000
      expect((await take({ id: 'c', places })).refused).to.equal(undefined)
      expect((await take({ id: 'd', places })).refused).not.to.equal(undefined)
      clock.now += 4_000
      expect((await take({ id: 'd', places })).refused).to.equal(undefined)
    })

    it('are refused together with rates, of which nothing is taken', async () => {
      await take({ id: 'a', places: [{ bucket: 'key:a', limit: 1 }] })
      const { refused } = await take({ rates: [rate()], places: [{ bucket: 'key:a', limit: 1 }] })
      expect(refused).to.deep.equal({ index: 1, wait: 1_000 })
      expect((await take({ rates: [rate({ amount: 3 })] })).refused).to.equal(undefined)
    })
  })

  describe('sums', () => {
    it('must be seeded first', async () => {
      const other = sum({ bucket: 'server', period: 'day' })
      expect(await reserve({ sums: [sum(), other] })).to.deep.equal({ unknown: [0, 1] })
      expect(await counters.read([sum(), other])).to.deep.equal([undefined, undefined])
      await seed({ spent: 7 })
      expect(await reserve({ sums: [sum(), other] })).to.deep.equal({ unknown: [1] })
      expect(await spent()).to.deep.equal({ spent: 7, held: 0, since: sum().starts[1] })
    })

    it('hold an estimate, and charge what it cost, once', async () => {
      await seed()
      expect(await reserve({ id: 'a' })).to.deep.equal({ at: noon, held: 100, left: [900] })
      expect(await spent()).to.deep.include({ spent: 0, held: 100 })
      expect(await counters.settle({ id: 'a', sums: ['key:a'], micros: 30 })).to.equal(30)
      expect(await counters.settle({ id: 'a', sums: ['key:a'], micros: 30 })).to.equal(undefined)
      expect(await spent()).to.deep.include({ spent: 30, held: 0 })
      await reserve({ id: 'b' })
      expect(await counters.settle({ id: 'b', sums: ['key:a'], micros: 'input' })).to.equal(10)
      expect(await spent()).to.deep.include({ spent: 40, held: 0 })
    })

    it('refuse beyond their limit, and let the last one use up the rest', async () => {
      await seed({ spent: 850 })
      expect(await reserve({ id: 'a', estimates: [5_000] })).to.deep.include({ held: 5_000, left: [0] })
      const refusal = { refused: 0, state: { spent: 850, held: 5_000, since: sum().starts[1] } }
      expect(await reserve({ estimates: [1] })).to.deep.equal(refusal)
      await counters.settle({ id: 'a', sums: ['key:a'], micros: 149 })
      expect(await reserve({ id: 'b', estimates: [1] })).to.include({ held: 1 })
      expect(await reserve({ estimates: [1] })).to.deep.include({ refused: 0 })
      await counters.settle({ id: 'b', sums: ['key:a'], micros: 1 })
      expect(await reserve({ estimates: [0] })).to.deep.include({ refused: 0 })
    })

    it('admit nothing at a limit of 0', async () => {
      await seed()
      expect(await reserve({ sums: [sum({ limit: 0 })], estimates: [0] })).to.deep.include({ refused: 0 })
    })

    it('hold the dearest estimate that all of them admit, in all of them or in none', async () => {
      await seed()
      await seed({ bucket: 'server', spent: 600 })
      const both = [sum(), sum({ bucket: 'server' })]
      await reserve({ id: 'a', sums: both, estimates: [100] })
      expect(await reserve({ id: 'b', sums: both, estimates: [700, 300, 50] })).to.deep.include({
        held: 300,
        left: [600, 0],
      })
      const refused = await reserve({ id: 'c', sums: both, estimates: [20] })
      expect(refused).to.deep.include({ refused: 1 })
      expect(await spent()).to.deep.include({ held: 400 })
      expect(await spent(both[1])).to.deep.include({ held: 400 })
    })

    it('replace the hold of an exchange that reserves again', async () => {
      await seed()
      await reserve({ id: 'a', estimates: [900] })
      await reserve({ id: 'b', estimates: [50] })
      expect(await reserve({ id: 'a', estimates: [960, 940] })).to.deep.include({ held: 940, left: [10] })
      expect(await spent()).to.deep.include({ held: 990 })
    })

    it('forget holds that expire, and charge them no more', async () => {
      await seed()
      await reserve({ id: 'a', lasts: 1_000 })
      clock.now += 1_000
      expect(await spent()).to.deep.include({ held: 0 })
      expect(await counters.settle({ id: 'a', sums: ['key:a'], micros: 30 })).to.equal(undefined)
    })

    it('begin anew with their period; what was reserved before belongs to the one before', async () => {
      const [, start, next] = sum().starts
      await seed({ spent: 900 })
      await reserve({ id: 'a' })
      clock.now = next - 1
      expect(await spent()).to.deep.include({ spent: 900, since: start })
      clock.now = next
      // With the starts of before: the clock of the store counts.
      expect(await spent()).to.deep.include({ spent: 0, since: next })
      await reserve({ id: 'b', estimates: [40] })
      await counters.settle({ id: 'a', sums: ['key:a'], micros: 100 })
      await counters.settle({ id: 'b', sums: ['key:a'], micros: 40 })
      expect(await spent()).to.deep.include({ spent: 40, since: next })
    })

    it('count each period on its own', async () => {
      const day = sum({ period: 'day' })
      await seed({ spent: 500 })
      await seed({ period: 'day', since: day.starts[1], spent: 20 })
      await reserve({ id: 'a', sums: [day] })
      await counters.settle({ id: 'a', sums: ['key:a'], micros: 5 })
      expect([(await spent())?.spent, (await spent(day))?.spent]).to.deep.equal([505, 25])
    })

    it('are reset; what was reserved before does not count any more', async () => {
      await seed({ spent: 500 })
      await reserve({ id: 'a' })
      clock.now += 1_000
      await counters.reset('key:a', clock.now)
      expect(await spent()).to.deep.equal({ spent: 0, held: 100, since: clock.now })
      await reserve({ id: 'b', estimates: [7] })
      await counters.settle({ id: 'a', sums: ['key:a'], micros: 90 })
      await counters.settle({ id: 'b', sums: ['key:a'], micros: 7 })
      expect(await spent()).to.deep.equal({ spent: 7, held: 0, since: clock.now })
      await counters.reset('key:unknown', clock.now)
    })

    it('are merged with the ledger: the later start, then the larger sum', async () => {
      const [, start] = sum().starts
      await seed({ spent: 500 })
      await seed({ spent: 400 })
      expect(await spent()).to.deep.include({ spent: 500 })
      await seed({ spent: 600 })
      expect(await spent()).to.deep.include({ spent: 600 })
      await seed({ since: start + 5, spent: 3 })
      expect(await spent()).to.deep.include({ spent: 3, since: start + 5 })
      await seed({ spent: 900 })
      expect(await spent()).to.deep.include({ spent: 3, since: start + 5 })
    })

    it('get back the holds that a store has lost, once', async () => {
      await seed()
      await reserve({ id: 'a' })
      const hold = { lasts: 60_000, places: ['key:a'], sums: ['key:a'], micros: 100, input: 10, at: noon, isRun: false }
      await counters.hold([
        { ...hold, id: 'a' },
        { ...hold, id: 'b' },
      ])
      expect(await spent()).to.deep.include({ held: 200 })
      await counters.settle({ id: 'b', sums: ['key:a'], micros: 60 })
      expect(await spent()).to.deep.include({ held: 100, spent: 60 })
      expect((await take({ places: [{ bucket: 'key:a', limit: 2 }] })).refused).not.to.equal(undefined)
    })

    it('never admit a request while nothing is left, nor more than one beyond the limit', async () => {
      const step = fc.oneof(
        fc.record({ do: fc.constant('reserve' as const), estimate: fc.integer({ min: 0, max: 400 }) }),
        fc.record({ do: fc.constant('settle' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
      )
      let bucket = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
          const own = `key:s${bucket++}`
          await seed({ bucket: own })
          const running: { id: string; held: number }[] = []
          let total = 0
          let held = 0
          for (const one of steps) {
            if (one.do === 'settle') {
              const ended = running.shift()
              if (!ended) continue
              const micros = Math.round(ended.held * one.share)
              await counters.settle({ id: ended.id, sums: [own], micros })
              total += micros
              held -= ended.held
              continue
            }
            const id = `x${ids++}`
            const reserved = await reserve({ id, sums: [sum({ bucket: own })], estimates: [one.estimate] })
            const fits = total + held + one.estimate <= 1_000 || (held === 0 && total < 1_000)
            expect('held' in reserved).to.equal(fits)
            if (!fits) continue
            running.push({ id, held: one.estimate })
            held += one.estimate
          }
          expect(await spent(sum({ bucket: own }))).to.deep.include({ spent: total, held })
        }),
        { numRuns: 25 },
      )
    })
  })
}
