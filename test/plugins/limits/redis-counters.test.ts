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
    return { counters: new RedisCounters(redis, { clock: () => clock.now }), clock }
  })

  const starts = startsAround('month', Date.now())
  const sum = { bucket: 'key:a', period: 'month', starts, limit: 1_000 } as const
  const hold: Hold = { id: 'x', lasts: 60_000, places: [], sums: ['key:a'], micros: 100, input: 1, at: Date.now() }

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
