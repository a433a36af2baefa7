import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { pino } from 'pino'
import type { ServiceHost } from '../../../engine/index.ts'
import { emptyGateway, serviceHost } from '../../../engine/live/gateway-host.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import { Rows } from '../../../engine/store/rows.ts'
import { Ledger } from '../../../plugins/limits/ledger.ts'
import limits from '../../../plugins/limits/limits.ts'
import requests from '../../../plugins/request-log/requests.ts'
import { logRow, openRequestLog } from '../../support/request-log.ts'
import { Overruns } from '../../../plugins/limits/overruns.ts'
import { startsAround } from '../../../plugins/limits/period.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const day = 86_400_000
/** A Wednesday, so that day, week and month start at different times. */
const noon = Date.UTC(2026, 10, 18, 12)

function contract(open: () => Promise<Database>): void {
  let database: Database
  let rows: Rows
  let host: ServiceHost
  let ledger: Ledger
  beforeEach(async () => {
    database = await open()
    await migrateService(database, limits, log)
    rows = new Rows({ url: database.url, log })
    host = serviceHost(emptyGateway('0.0.0-test'), { database, rows, folder: '' }, limits)
    ledger = new Ledger(host)
  })
  afterEach(async () => {
    await rows.close()
    for (const table of ['ledger', 'sums', 'resets', 'overruns']) await database.rows(`delete from limits_${table}`)
    await database.close()
  })

  const charge = (id: string, at: number, micros: number, more: object = {}) =>
    ledger.charge({ id, at, key_id: 'k', member_id: null, micros, model: null, overrun: null, ...more })
  const spent = async (bucket: string, period: 'day' | 'week' | 'month' | 'total' = 'month') => {
    await rows.flush()
    const [seed] = await ledger.spent([{ bucket, period, start: startsAround(period, noon)[1] }])
    return seed?.spent
  }

  it('sums what was spent by key, member and gateway, in any period', async () => {
    charge('a', noon, 1)
    charge('b', noon - day, 10, { member_id: 'm' })
    charge('c', noon - 5 * day, 100, { key_id: 'other', member_id: 'm' })
    charge('d', noon - 20 * day, 1_000, { key_id: null })
    const of = async (bucket: string) =>
      Promise.all((['day', 'week', 'month', 'total'] as const).map((period) => spent(bucket, period)))
    expect(await of('server')).to.deep.equal([1, 11, 111, 1_111])
    expect(await of('key:k')).to.deep.equal([1, 11, 11, 11])
    expect(await of('key:other')).to.deep.equal([0, 0, 100, 100])
    expect(await of('member:m')).to.deep.equal([0, 10, 110, 110])
    expect(await of('key:unknown')).to.deep.equal([0, 0, 0, 0])
  })

  it('charges an exchange once, however often its row is sent', async () => {
    for (const _ of [1, 2]) charge('a', noon, 5)
    expect(await spent('key:k')).to.equal(5)
    charge('a', noon, 70)
    charge('b', noon, 1)
    expect(await spent('key:k')).to.equal(6)
  })

  it('takes charges from the rows of their exchanges, each once, and those without a row alone', async () => {
    await migrateService(database, requests, log)
    const written = openRequestLog(database)
    const { view } = written
    view.keepCharges(ledger.keeper)
    const give = (id: string, micros: number, at = noon) =>
      view.charge({ id, at, key_id: 'k', member_id: 'm-1', micros, model: 'small-1', overrun: 20 })
    try {
      charge('before', noon, 5)
      await rows.flush()
      await ledger.reset('member:m-1', noon, async () => undefined)
      for (const [id, micros, at] of [
        ['a', 10, noon],
        ['b', 100, noon - 1],
        ['before', 1_000, noon],
      ] as const) {
        give(id, micros, at)
        view.write(logRow(id))
      }
      view.write(logRow('free'))
      give('alone', 10_000)
      await new Promise(setImmediate)
      // Its row comes too late.
      view.write(logRow('alone'))
      await written.rows.flush()
      expect([await spent('key:k'), await spent('server')]).to.deep.equal([10_115, 10_115])
      expect(await spent('member:m-1')).to.equal(10_010)
      const kept = await database.rows<object>('select * from limits_ledger order by id')
      expect(kept[0]).to.deep.equal({
        id: 'a',
        at: noon,
        key_id: 'k',
        member_id: 'm-1',
        micros: 10,
        model: 'small-1',
        overrun: 20,
      })
      expect(kept.map((row) => (row as { id: string }).id)).to.deep.equal(['a', 'alone', 'b', 'before'])
      const [counted] = await database.rows<{ count: number }>('select sum(count) as count from limits_overruns')
      expect(Number(counted?.count)).to.equal(3)
      expect(await database.rows('select id from requests')).to.have.length(5)
    } finally {
      await written.rows.close()
      await database.rows('delete from requests')
    }
  })

  it('adds up the rows of several processes', async () => {
    const others = new Rows({ url: database.url, log })
    const other = new Ledger(serviceHost(emptyGateway('0.0.0-test'), { database, rows: others, folder: '' }, limits))
    try {
      for (let count = 0; count < 500; count++)
        for (const [own, one] of [ledger, other].entries())
          one.charge({
            id: `${own} ${count}`,
            at: noon,
            key_id: `k${count % 3}`,
            member_id: 'm',
            micros: 2,
            model: 'n',
            overrun: 15,
          })
      await Promise.all([rows.flush(), others.flush()])
      expect([await spent('server'), await spent('member:m'), await spent('key:k0')]).to.deep.equal([2_000, 2_000, 668])
      const overruns = new Overruns(host)
      await overruns.refresh(noon + 3_000_000)
      expect([overruns.of('n'), overruns.of('other')]).to.deep.equal([1.5, 1])
      await overruns.refresh(noon + 4_000_000)
      expect(overruns.of('n')).to.equal(1)
      await overruns.clean(noon + 4_000_000)
      expect(await database.rows('select count from limits_overruns')).to.deep.equal([])
    } finally {
      await others.close()
    }
  })

  it('forgets what was spent before a reset, and rows from before it that come later', async () => {
    charge('a', noon - 1, 5, { member_id: 'm' })
    expect(await spent('key:k')).to.equal(5)
    let done = 0
    await ledger.reset('key:k', noon, async () => void done++)
    expect(done).to.equal(1)
    charge('b', noon - 1, 7)
    charge('c', noon, 11)
    expect(await spent('key:k')).to.equal(11)
    expect([await spent('server'), await spent('member:m')]).to.deep.equal([23, 5])
    const [month] = await ledger.spent([{ bucket: 'key:k', period: 'month', start: startsAround('month', noon)[1] }])
    expect(month?.since).to.equal(noon)
    const later = startsAround('day', noon + day)[1]
    const [next] = await ledger.spent([{ bucket: 'key:k', period: 'day', start: later }])
    expect(next).to.deep.equal({ bucket: 'key:k', period: 'day', since: later, spent: 0 })
    await ledger.reset('key:k', noon + 1, async () => void done++)
    expect([await spent('key:k'), done]).to.deep.equal([0, 2])
  })

  it('resets within the transaction of a caller, with its commit or not at all', async () => {
    charge('a', noon, 5)
    expect(await spent('key:k')).to.equal(5)
    const told: string[] = []
    const failing = host.database.transaction().execute(async (transaction) => {
      await ledger.reset('key:k', noon + 1, async () => void told.push('done'), transaction)
      throw new Error('changed my mind')
    })
    expect(await failing.catch((error: Error) => error.message)).to.equal('changed my mind')
    expect([await spent('key:k'), told]).to.deep.equal([5, []])
    await host.database.transaction().execute(async (transaction) => {
      await ledger.reset('key:k', noon + 1, async () => void told.push('done'), transaction)
      told.push('written')
    })
    expect([await spent('key:k'), told]).to.deep.equal([0, ['written', 'done']])
  })

  it('deletes old rows; their sums stay', async () => {
    const now = Date.now()
    for (let count = 0; count < 1_100; count++) charge(`old ${count}`, now - 3_700_000, 1, { key_id: null })
    charge('new', now, 1, { key_id: null })
    await rows.flush()
    await ledger.clean()
    const left = await database.rows<{ id: string }>('select id from limits_ledger')
    expect(left.map(({ id }) => id)).to.deep.equal(['new'])
    const [total] = await ledger.spent([{ bucket: 'server', period: 'total', start: 0 }])
    expect(total?.spent).to.equal(1_101)
  })
}

describe('plugins/limits/ledger', function () {
  this.timeout(300_000)

  describe('on SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
    after(() => rmSync(folder, { recursive: true }))
    contract(() => openDatabase(`sqlite:${join(folder, 'ledger.db')}`))
  })

  describe('on PostgreSQL', () => {
    let url: string
    before(async function () {
      ;({ url } = await postgres(this))
    })
    contract(() => openDatabase(url))

    it('adds nothing to a sum that a reset forgets which has begun, and is not committed yet', async () => {
      const database = await openDatabase(url)
      await migrateService(database, limits, log)
      const rows = new Rows({ url, log })
      const host = serviceHost(emptyGateway('0.0.0-test'), { database, rows, folder: '' }, limits)
      const ledger = new Ledger(host)
      const late = { id: 'late', at: noon - 1, key_id: 'k', member_id: null, micros: 7, model: null, overrun: null }
      try {
        await host.database.transaction().execute(async (transaction) => {
          await ledger.reset('key:k', noon, async () => undefined, transaction)
          ledger.charge(late)
          const waiting =
            "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
          await until(async () => (await database.rows(waiting)).length > 0)
        })
        await rows.flush()
        const start = startsAround('month', noon)[1]
        const sums = await ledger.spent(['key:k', 'server'].map((bucket) => ({ bucket, period: 'month', start })))
        expect(sums.map(({ spent }) => spent)).to.deep.equal([0, 7])
      } finally {
        await rows.close()
        await database.close()
      }
    })
  })
})
