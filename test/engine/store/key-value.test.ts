import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { GatewayError } from '../../../engine/spec/error.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { openKeyValue } from '../../../engine/store/stores.ts'
import type { OpenKeyValue } from '../../../engine/store/key-value.ts'
import { openDatabaseKeyValue } from '../../../engine/store/key-value-database.ts'
import { openRedisKeyValue } from '../../../engine/store/key-value-redis.ts'
import { clusterRedis, postgres, redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'

const silent = pino({ level: 'silent' })
const TTL = 60_000
const text = (value: string) => Buffer.from(value)

/** What `use` makes of a value that lives for a moment: a longer one where it came too late. */
async function inTime<T>(use: (ttl: number) => Promise<T | undefined>): Promise<T> {
  for (let ttl = 40; ; ttl *= 2) {
    const made = await use(ttl)
    if (made !== undefined) return made
  }
}

/** The error a call rejects with. */
async function refusal(call: Promise<unknown>): Promise<GatewayError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(GatewayError)
  return error as GatewayError
}

/** What holds for a store wherever it keeps its values. `twin` is another process's view of the same one. */
function contract(stores: () => { readonly store: OpenKeyValue; readonly twin: OpenKeyValue }): void {
  let store: OpenKeyValue
  let twin: OpenKeyValue
  before(() => ({ store, twin } = stores()))

  it('keeps a value under its key for every process, and nothing under others', async () => {
    expect(await store.get('a')).to.equal(undefined)
    expect(await store.set('a', text('one'), { ttl: TTL })).to.equal(true)
    expect(await store.set('A', text('two'), { ttl: TTL })).to.equal(true)
    expect((await twin.get('a'))?.value.toString()).to.equal('one')
    expect((await twin.get('A'))?.value.toString()).to.equal('two')
    expect(await store.get('a%')).to.equal(undefined)
  })

  it('deletes a value once', async () => {
    await store.set('gone', text('x'), { ttl: TTL })
    expect([await twin.delete('gone'), await store.delete('gone'), await store.get('gone')]).to.deep.equal([
      true,
      false,
      undefined,
    ])
  })

  it('gives another version with every write, and the same one with every look', async () => {
    const versions = new Set<string>()
    for (let write = 0; write < 3; write += 1) {
      await store.set('v', text('same'), { ttl: TTL })
      const first = await store.get('v')
      expect((await twin.get('v'))?.version).to.equal(first?.version)
      versions.add(first?.version ?? '')
    }
    expect(versions.size).to.equal(3)
  })

  it('writes over the version that is asked for alone', async () => {
    await store.set('cas', text('1'), { ttl: TTL })
    const version = (await store.get('cas'))?.version ?? ''
    expect(await twin.set('cas', text('2'), { ttl: TTL, version })).to.equal(true)
    expect(await store.set('cas', text('3'), { ttl: TTL, version })).to.equal(false)
    expect((await store.get('cas'))?.value.toString()).to.equal('2')
    expect(await store.set('none', text('x'), { ttl: TTL, version })).to.equal(false)
    expect(await store.set('none', text('x'), { ttl: TTL, version: '' })).to.equal(false)
    expect(await store.get('none')).to.equal(undefined)
  })

  it('writes where there is nothing when that is asked for, and only there', async () => {
    expect(await store.set('new', text('1'), { ttl: TTL, version: null })).to.equal(true)
    expect(await twin.set('new', text('2'), { ttl: TTL, version: null })).to.equal(false)
    await store.delete('new')
    expect(await twin.set('new', text('3'), { ttl: TTL, version: null })).to.equal(true)
    expect((await store.get('new'))?.value.toString()).to.equal('3')
  })

  it('lets exactly one of many writers win', async () => {
    await store.set('race', text('start'), { ttl: TTL })
    for (let round = 0; round < 20; round += 1) {
      const version = (await store.get('race'))?.version ?? ''
      const written = await Promise.all(
        [store, twin, store, twin].map((one, index) =>
          one.set('race', text(`${round}.${index}`), { ttl: TTL, version }),
        ),
      )
      expect(written.filter(Boolean)).to.have.length(1)
      expect((await twin.get('race'))?.value.toString()).to.equal(`${round}.${written.indexOf(true)}`)
      const made = await Promise.all(
        [store, twin].map((one) => one.set(`made.${round}`, text('x'), { ttl: TTL, version: null })),
      )
      expect(made.filter(Boolean)).to.have.length(1)
    }
  })

  it('forgets a value when its time is over, whatever its version was', async () => {
    const version = await inTime(async (ttl) => {
      await store.set('brief', text('x'), { ttl })
      return (await store.get('brief'))?.version
    })
    await until(async () => (await twin.get('brief')) === undefined)
    expect(await store.delete('brief')).to.equal(false)
    expect(await store.set('brief', text('y'), { ttl: TTL, version })).to.equal(false)
    expect(await store.set('brief', text('z'), { ttl: TTL, version: null })).to.equal(true)
    expect((await store.get('brief'))?.value.toString()).to.equal('z')
  })

  it('begins the time anew with every write', async () => {
    await store.set('longer', text('x'), { ttl: 40 })
    await store.set('longer', text('y'), { ttl: TTL })
    await store.set('measure', text('x'), { ttl: 60 })
    await until(async () => (await store.get('measure')) === undefined)
    expect((await store.get('longer'))?.value.toString()).to.equal('y')
  })

  it('keeps bytes as they are, none at all too, and only those of a view', async () => {
    const every = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256))
    await store.set('bytes', every, { ttl: TTL })
    expect((await twin.get('bytes'))?.value.equals(every)).to.equal(true)
    await store.set('bytes', new Uint8Array(every.buffer, every.byteOffset + 3, 5), { ttl: TTL })
    expect([...((await twin.get('bytes'))?.value ?? [])]).to.deep.equal([3, 4, 5, 6, 7])
    await store.set('bytes', new Uint8Array(), { ttl: TTL })
    expect((await twin.get('bytes'))?.value.length).to.equal(0)
  })

  it('lets a value live longer when it is asked to, and never shorter', async () => {
    const version = await inTime(async (ttl) => {
      await store.set('extended', text('x'), { ttl })
      const found = await store.get('extended')
      return (await twin.extend('extended', TTL)) ? found?.version : undefined
    })
    expect(await twin.extend('extended', 20)).to.equal(true)
    await store.set('measure', text('x'), { ttl: 60 })
    await until(async () => (await store.get('measure')) === undefined)
    expect(await store.get('extended')).to.deep.equal({ version, value: text('x') })
    expect([await store.extend('measure', TTL), await store.extend('never', TTL)]).to.deep.equal([false, false])
    expect(await store.get('measure')).to.equal(undefined)
  })

  it('counts what lives for an account, exactly and for every process', async () => {
    expect(await store.used('nobody')).to.deep.equal({ count: 0, bytes: 0 })
    await store.set('c1', text('four'), { ttl: TTL, account: 'a' })
    await twin.set('c2', text('seven..'), { ttl: TTL, account: 'a' })
    await twin.set('c3', text('other'), { ttl: TTL, account: 'b' })
    await store.set('c4', text('nobody'), { ttl: TTL })
    expect(await twin.used('a')).to.deep.equal({ count: 2, bytes: 11 })
    await twin.set('c1', text('sixsix'), { ttl: TTL, account: 'a' })
    expect(await store.used('a')).to.deep.equal({ count: 2, bytes: 13 })
    expect(await store.set('c2', text('lost'), { ttl: TTL, version: 'none of it', account: 'a' })).to.equal(false)
    await store.set('c2', text('now'), { ttl: TTL, account: 'b' })
    expect([await store.used('a'), await twin.used('b')]).to.deep.equal([
      { count: 1, bytes: 6 },
      { count: 2, bytes: 8 },
    ])
    await twin.delete('c1')
    await store.set('c3', text('free'), { ttl: TTL })
    expect([await store.used('a'), await store.used('b')]).to.deep.equal([
      { count: 0, bytes: 0 },
      { count: 1, bytes: 3 },
    ])
  })

  it('gives back what has expired, and not before', async () => {
    await store.set('e1', text('12345'), { ttl: 40, account: 'brief' })
    await inTime(async (ttl) => {
      await store.set('e2', text('123'), { ttl, account: 'brief' })
      return (await twin.extend('e2', TTL)) || undefined
    })
    await store.set('e3', text('1'), { ttl: TTL, account: 'brief' })
    await until(async () => (await store.get('e1')) === undefined)
    await until(async () => (await twin.used('brief')).count === 2)
    expect(await store.used('brief')).to.deep.equal({ count: 2, bytes: 4 })
    // What stands there is written over; what has gone was given back once.
    await store.set('e1', text('12'), { ttl: TTL, account: 'brief' })
    expect(await twin.used('brief')).to.deep.equal({ count: 3, bytes: 6 })
  })

  it('counts what many processes write at once', async () => {
    const writes = Array.from({ length: 200 }, (_, index) =>
      (index % 2 === 0 ? store : twin).set(`m${index % 50}`, text('x'.repeat(index)), { ttl: TTL, account: 'many' }),
    )
    await Promise.all(writes)
    const held = await Promise.all(Array.from({ length: 50 }, (_, index) => store.get(`m${index}`)))
    const bytes = held.reduce((sum, one) => sum + (one?.value.length ?? 0), 0)
    expect(await twin.used('many')).to.deep.equal({ count: 50, bytes })
  })

  it('keeps 8 MiB', async () => {
    const large = randomBytes(8 * 1024 * 1024)
    expect(await store.set('large', large, { ttl: TTL })).to.equal(true)
    expect((await twin.get('large'))?.value.equals(large)).to.equal(true)
    expect(await store.delete('large')).to.equal(true)
  })
}

describe('the key-value store', () => {
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one)
    return one
  }
  after(async () => {
    for (const one of opened.reverse()) await one.close()
  })

  describe('in Redis', () => {
    let service: Service
    let pair: { store: OpenKeyValue; twin: OpenKeyValue }
    before(async function () {
      service = await redis(this)
      const plain = new Redis(service.url)
      await plain.flushdb()
      plain.disconnect()
      pair = {
        store: kept(await openRedisKeyValue(service.url, silent)),
        twin: kept(await openRedisKeyValue(service.url, silent)),
      }
    })
    contract(() => pair)

    it('is shared, and keeps its keys apart under a name of its own', async () => {
      expect([pair.store.shared, pair.store.failing]).to.deep.equal([true, false])
      const plain = new Redis(service.url)
      await pair.store.set('mine', text('x'), { ttl: TTL })
      expect(await plain.exists('mine', 'sluice:kv:mine')).to.equal(1)
      expect(await plain.pttl('sluice:kv:mine')).to.be.within(1, TTL)
      plain.disconnect()
    })

    it('works on when the server forgets its scripts', async () => {
      const plain = new Redis(service.url)
      await plain.script('FLUSH')
      plain.disconnect()
      expect(await pair.store.set('script', text('x'), { ttl: TTL })).to.equal(true)
    })

    it('says within its time that the server does not answer, then at once, and comes back', async function () {
      const own = await redis(this)
      if (own.pid === undefined) return this.skip()
      const store = kept(await openRedisKeyValue(own.url, silent))
      process.kill(own.pid, 'SIGSTOP')
      expect((await refusal(store.set('k', text('secret words'), { ttl: TTL }))).code).to.equal('store_unavailable')
      await until(() => store.failing)
      await refusal(store.get('k'))
      process.kill(own.pid, 'SIGCONT')
      await until(() => !store.failing)
      expect(await store.set('k', text('y'), { ttl: TTL })).to.equal(true)
    })

    it('says at once that the server refuses or is gone, and never what was to be kept', async function () {
      const lines: string[] = []
      const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
      const own = await redis(this)
      if (own.pid === undefined) return this.skip()
      const store = kept(await openRedisKeyValue(own.url, log))
      const plain = new Redis(own.url)
      plain.on('error', () => undefined)
      await plain.call('CONFIG', 'SET', 'maxmemory', '1')
      const full = await refusal(store.set('k', text('secret words'), { ttl: TTL }))
      expect([full.code, full.failure.status]).to.deep.equal(['store_unavailable', 503])
      expect((full.cause as Error).message).to.match(/OOM/)
      expect(JSON.stringify(Object.entries(full.cause as Error))).to.equal('[]')
      plain.disconnect()
      await own.stop()
      await until(() => store.failing)
      for (const call of [store.get('k'), store.set('k', text('x'), { ttl: TTL }), store.delete('k')])
        expect((await refusal(call)).code).to.equal('store_unavailable')
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([
        'the key-value store cannot be reached',
      ])
    })

    it('refuses a Redis Cluster, whose nodes redirect commands, and says so', async function () {
      const own = await clusterRedis(this)
      const lines: { readonly level: number; readonly msg: string }[] = []
      const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
      const store = kept(await openRedisKeyValue(own.url, log))
      expect([store.shared, store.failing]).to.deep.equal([true, true])
      expect((await refusal(store.get('k'))).code).to.equal('store_unavailable')
      expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
        [50, 'the key-value store is a Redis Cluster, which is not supported: name a single server'],
      ])
      await own.stop()
    })

    it('opens without a server, takes it up when it is there, and again when it was started anew', async function () {
      const port = await freePort()
      const messages: string[] = []
      const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg)
      const store = kept(await openKeyValue(`redis://127.0.0.1:${port}`, undefined as never, pino({}, { write })))
      expect([store.shared, store.failing]).to.deep.equal([true, true])
      expect((await refusal(store.get('k'))).code).to.equal('store_unavailable')
      let own = await redis(this)
      const bridge = createServer((client) => {
        const server = connect(Number(new URL(own.url).port), '127.0.0.1')
        client.pipe(server).pipe(client)
        const end = () => [client, server].forEach((one) => one.destroy())
        for (const socket of [client, server]) socket.on('error', end).on('close', end)
      }).listen(port, '127.0.0.1')
      await until(() => !store.failing)
      expect(await store.set('k', text('x'), { ttl: TTL })).to.equal(true)
      if (own.pid !== undefined) {
        await own.stop()
        await until(() => store.failing)
        own = await redis(this)
        await until(() => !store.failing)
        expect(await store.get('k')).to.equal(undefined)
        expect(await store.set('k', text('y'), { ttl: TTL, version: null })).to.equal(true)
      }
      await store.close()
      bridge.close()
      const both = ['the key-value store cannot be reached', 'the key-value store can be reached again']
      expect(messages).to.deep.equal(own.pid === undefined ? both : [...both, ...both])
    })
  })

  describe('in SQLite', () => {
    let folder: string
    let database: Database
    let pair: { store: ReturnType<typeof openDatabaseKeyValue>; twin: OpenKeyValue }
    const path = () => join(folder, 'kept.db')
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-key-value-'))
      database = kept(await openDatabase(`sqlite:${path()}`))
      const other = kept(await openDatabase(`sqlite:${path()}`))
      pair = { store: kept(openDatabaseKeyValue(database, silent)), twin: kept(openDatabaseKeyValue(other, silent)) }
    })
    after(() => rmSync(folder, { recursive: true, force: true }))
    // First, long before the stores look for expired values by themselves.
    sweeping(() => ({ store: pair.store, database }))
    contract(() => pair)

    it('is not shared, and never out of reach as a whole', async () => {
      const store = kept(await openKeyValue(undefined, database, silent))
      expect([store.shared, store.failing]).to.deep.equal([false, false])
    })

    it('waits for the lock of another process', async () => {
      const other = new BetterSqlite(path())
      other.exec('begin immediate')
      const written = pair.store.set('locked', text('x'), { ttl: TTL })
      await setImmediate()
      other.exec('commit')
      expect(await written).to.equal(true)
      other.close()
    })

    it('gives up on a lock that stays', async () => {
      const other = new BetterSqlite(path())
      other.exec('begin immediate')
      expect((await refusal(pair.store.set('locked', text('x'), { ttl: TTL }))).code).to.equal('store_unavailable')
      other.exec('rollback')
      other.close()
    })

    it('says so when the disk is full', async () => {
      const small = await openDatabase(`sqlite:${join(folder, 'small.db')}?max_page_count=24`)
      const store = openDatabaseKeyValue(small, silent)
      const full = await refusal(store.set('k', randomBytes(1_000_000), { ttl: TTL }))
      expect([full.code, (full.cause as Error).message]).to.deep.equal([
        'store_unavailable',
        'SQLITE_FULL: database or disk is full',
      ])
      await store.close()
      await small.close()
    })
  })

  describe('in PostgreSQL', () => {
    let service: Service
    let database: Database
    let pair: { store: ReturnType<typeof openDatabaseKeyValue>; twin: OpenKeyValue }
    before(async function () {
      service = await postgres(this)
      database = await openDatabase(service.url)
      const other = await openDatabase(service.url)
      pair = { store: kept(openDatabaseKeyValue(database, silent)), twin: kept(openDatabaseKeyValue(other, silent)) }
      kept(other)
    })
    // First, long before the stores look for expired values by themselves.
    sweeping(() => ({ store: pair.store, database }))
    contract(() => pair)

    it('says so when the database is gone', async () => {
      await database.close()
      expect((await refusal(pair.store.get('k'))).code).to.equal('store_unavailable')
    })
  })
})

/** What holds for a table: expired rows go, and only those. */
function sweeping(
  table: () => { readonly store: ReturnType<typeof openDatabaseKeyValue>; readonly database: Database },
): void {
  it('deletes what has expired, more than one batch of it', async () => {
    const { store, database } = table()
    const keys = async () =>
      (await database.query.selectFrom('key_values').select('key').where('key', 'like', 'sweep.%').execute()).length
    await store.set('sweep.kept', text('x'), { ttl: TTL })
    for (let index = 0; index < 250; index += 1) await store.set(`sweep.${index}`, text('x'), { ttl: 1 })
    await until(async () => (await store.get('sweep.249')) === undefined)
    expect(await keys()).to.equal(251)
    await store.sweep()
    expect(await keys()).to.equal(1)
    expect((await store.get('sweep.kept'))?.value.toString()).to.equal('x')
  })
}
