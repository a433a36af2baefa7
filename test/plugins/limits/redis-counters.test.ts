import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Hold } from '../../../plugins/limits/counters.ts'
import { startsAround } from '../../../plugins/limits/period.ts'
import { RedisCounters } from '../../../plugins/limits/redis-counters.ts'
import { redis as startRedis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { countersContract } from './counters-contract.ts'

describe('plugins/limits/redis-counters', function () {
  this.timeout(300_000)

  let service: Service
  let redis: Redis
  before(async function () {
    service = await startRedis(this)
    redis = new Redis(service.url)
  })
  after(async () => {
    redis.disconnect()
    await service.stop()
  })

  countersContract(async () => {
    await redis.flushall()
    const clock = { now: 0 }
    return { counters: new RedisCounters(redis, { clock: () => clock.now, lease: 3_600_000 }), clock }
  })

  const starts = startsAround('month', Date.now())
  const sum = { bucket: 'key:a', period: 'month', starts, limit: 1_000 } as const
  const hold: Hold = {
    id: 'x',
    lasts: 60_000,
    places: [],
    sums: ['key:a'],
    micros: 100,
    input: 1,
    at: Date.now(),
    isRun: false,
  }

  it('keep all keys in one slot of a cluster, where one script may use them, and name one to find it by', async () => {
    await redis.flushall()
    const counters = new RedisCounters(redis)
    const rate = { bucket: 'key:a', counts: 'requests', limit: 5, period: 60_000, amount: 1 } as const
    const taking = { id: 'x', lasts: 60_000, rates: [rate], places: [{ bucket: 'key:a', limit: 1 }] }
    await counters.take(taking)
    await counters.seed([{ bucket: 'key:a', period: 'month', since: starts[1], spent: 10 }])
    await counters.hold([hold])
    await counters.processes()
    const keys = await redis.keys('*')
    expect(keys).to.have.length.above(6)
    expect(keys.filter((key) => !key.startsWith('sluice:{limits}:'))).to.deep.equal([])
    const monitor = await redis.monitor()
    const called = new Promise<readonly string[]>((resolve) => {
      monitor.on('monitor', (_: string, command: readonly string[]) => {
        if (command[0]?.startsWith('eval')) resolve(command)
      })
    })
    await counters.give({ id: 'x', rates: [], places: [] })
    const [, , count, key] = await called
    monitor.disconnect()
    expect([count, key]).to.deep.equal(['1', 'sluice:{limits}:sentinel'])
  })

  it('put back what their process holds when the server has lost it, before anything is admitted', async () => {
    await redis.flushall()
    const holds = [hold, { ...hold, id: 'y', micros: 50 }]
    const counters = new RedisCounters(redis, { holds: () => holds })
    const other = new RedisCounters(redis, { holds: () => [{ ...hold, id: 'z', micros: 7 }] })
    const seed = () => counters.seed([{ bucket: 'key:a', period: 'month', since: starts[1], spent: 10 }])
    await seed()
    expect((await counters.read([sum]))[0]).to.deep.include({ held: 150 })
    await other.read([sum])
    expect((await counters.read([sum]))[0]).to.deep.include({ held: 157, spent: 10 })
    await redis.flushall()
    expect(await counters.read([sum])).to.deep.equal([undefined])
    await seed()
    expect((await counters.read([sum]))[0]).to.deep.include({ held: 150, spent: 10 })
    expect((await other.read([sum]))[0]).to.deep.include({ held: 157, spent: 10 })
  })

  it('do not put back what ended meanwhile', async () => {
    await redis.flushall()
    const many = Array.from({ length: 450 }, (_, at): Hold => ({ ...hold, id: `many-${at}`, micros: 1 }))
    let running: readonly Hold[] = []
    const counters = new RedisCounters(redis, { holds: () => running })
    await counters.seed([{ bucket: 'key:a', period: 'month', since: starts[1], spent: 0 }])
    running = many
    const putting = counters.hold(many)
    running = many.slice(0, 449)
    await Promise.all([putting, counters.settle({ id: 'many-449', sums: ['key:a'], micros: 1 })])
    expect((await counters.read([sum]))[0]).to.deep.include({ held: 449 })
  })

  it('reject when the server loses its contents again while it is told, and go on with the next call', async () => {
    await redis.flushall()
    let losses = 1
    const counters = new RedisCounters(redis, {
      holds: () => {
        if (losses-- > 0) void redis.flushall()
        return [hold]
      },
    })
    const seed = () => counters.seed([{ bucket: 'key:a', period: 'month', since: starts[1], spent: 0 }])
    expect(await seed().catch((error: unknown) => String(error))).to.include('lost its contents again')
    await seed()
    expect((await counters.read([sum]))[0]).to.deep.include({ held: 100 })
  })

  describe('of a process that is killed', () => {
    const lasts = 3_660_000
    const places = [{ bucket: 'key:a', limit: 2 }]
    const asked = { lasts, rates: [], places }
    const clock = { now: 0 }
    const at = (seconds: number) => void (clock.now = Date.UTC(2026, 5, 1) + seconds * 1_000)
    let counters: RedisCounters
    let others: RedisCounters
    beforeEach(async () => {
      await redis.flushall()
      at(0)
      const options = { clock: () => clock.now }
      counters = new RedisCounters(redis, options)
      others = new RedisCounters(redis, options)
      const since = startsAround('month', clock.now)[1]
      await counters.seed([{ bucket: 'key:a', period: 'month', since, spent: 10 }])
    })
    const money = () => ({ ...sum, starts: startsAround('month', clock.now) })
    const reserve = (id: string, isRun = false) =>
      counters.reserve({ id, lasts, sums: [money()], estimates: [100], input: 1, isRun })
    const heldNow = async () => (await others.read([money()]))[0]?.held
    const waitNow = async () => (await others.take({ ...asked, id: 'other' })).refused?.wait

    it('give back places and money 25 seconds after it was last heard of, and say when', async () => {
      for (const id of ['a', 'b']) {
        await counters.take({ ...asked, id })
        await reserve(id)
      }
      at(10)
      await counters.hold([
        { ...hold, id: 'a', lasts, places: ['key:a'] },
        { ...hold, id: 'b', lasts, places: ['key:a'] },
      ])
      at(15)
      expect(await waitNow(), 'nobody knows when a request ends that runs').to.equal(1_000)
      at(34)
      expect([await heldNow(), await waitNow()]).to.deep.equal([200, 1_000])
      at(30)
      expect(await waitNow(), 'the process has been silent').to.equal(5_000)
      at(36)
      expect([await heldNow(), await waitNow(), await heldNow()]).to.deep.equal([0, undefined, 0])
      expect(await others.settle({ id: 'a', sums: ['key:a'], micros: 7 }), 'given back already').to.equal(undefined)
      expect((await others.read([money()]))[0]).to.include({ spent: 10, held: 0 })
    })

    it('keep what runs in the background hold, for others to end', async () => {
      await counters.take({ ...asked, id: 'run', forced: true })
      await reserve('run', true)
      await counters.take({ ...asked, id: 'asks' })
      await reserve('asks')
      await counters.take({ ...asked, id: 'ended' })
      await counters.give({ id: 'ended', rates: [], places: ['key:a'] })
      for (const id of ['asks', 'ended']) await counters.passOn({ ...hold, id, lasts, places: ['key:a'] })
      at(600)
      expect([await heldNow(), await waitNow()]).to.deep.equal([200, 1_000])
      await others.give({ id: 'asks', rates: [], places: ['key:a'] })
      await others.settle({ id: 'asks', sums: ['key:a'], micros: 'input' })
      expect([await heldNow(), await waitNow()]).to.deep.equal([100, undefined])
      at(620)
      expect(await waitNow(), 'what is asked later does not shorten it').to.equal(undefined)
      at(lasts / 1_000 + 1)
      expect(await heldNow()).to.equal(0)
    })
  })

  it('count the processes that run', async () => {
    await redis.flushall()
    const [one, other] = [new RedisCounters(redis), new RedisCounters(redis)]
    expect([await one.processes(), await other.processes(), await one.processes()]).to.deep.equal([1, 2, 2])
  })

  it('make one round trip per call', async () => {
    const counters = new RedisCounters(redis)
    await counters.read([sum])
    const taking = {
      id: 'x',
      lasts: 1_000,
      rates: [{ bucket: 'key:a', counts: 'requests', limit: 5, period: 60_000, amount: 1 }],
      places: [{ bucket: 'key:a', limit: 3 }],
    } as const
    await counters.take(taking)
    const calls = async () => {
      const stats = await redis.info('commandstats')
      // Commands of a script are counted under their own names.
      const count = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
      return count('evalsha') + count('eval') + count('set')
    }
    const before = await calls()
    await counters.take(taking)
    expect(await calls()).to.equal(before + 1)
  })
})
