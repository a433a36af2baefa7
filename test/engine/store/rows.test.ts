import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { sql } from 'kysely'
import { pino } from 'pino'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { Rows } from '../../../engine/store/rows.ts'
import { until } from '../../support/until.ts'
import { onBothDatabases } from './both-databases.ts'

const log = pino({ level: 'silent' })

/** In place of the thread: it takes batches and never answers. */
class Silent extends EventEmitter {
  readonly tables: string[] = []

  postMessage(message: { readonly table: string } | 'close'): void {
    if (message === 'close') this.emit('exit')
    else this.tables.push(message.table)
  }

  ref(): void {}
  unref(): void {}
  async terminate(): Promise<void> {}
}

function contract(open: () => Promise<Database>): void {
  it('are written while the table of others is away, whose rows wait or are dropped as they said', async () => {
    const database = await open()
    const rows = new Rows({ url: database.url, log })
    const [hens, geese, eggs] = ['hens', 'geese', 'eggs'].map((table) => rows.of(table)) as [
      ReturnType<Rows['of']>,
      ReturnType<Rows['of']>,
      ReturnType<Rows['of']>,
    ]
    try {
      for (const table of ['hens', 'eggs']) await database.rows(`create table ${table} (id text primary key)`)
      await database.rows('alter table hens rename to hens_elsewhere')
      hens.waits = true
      for (const id of ['a', 'b']) for (const queue of [hens, geese, eggs]) queue.append({ id })
      await Promise.all([eggs.flush(), geese.flush()])
      await until(() => hens.counters.failing !== undefined)
      expect(hens.counters).to.include({ written: 0, dropped: 0, pending: 2 })
      expect(geese.counters).to.deep.equal({ written: 0, dropped: 2, pending: 0, failing: undefined })
      expect(eggs.counters).to.deep.equal({ written: 2, dropped: 0, pending: 0, failing: undefined })
      eggs.append({ id: 'c' })
      await eggs.flush()
      expect(eggs.counters.written).to.equal(3)
      await database.rows('alter table hens_elsewhere rename to hens')
      await rows.flush()
      expect(hens.counters).to.deep.equal({ written: 2, dropped: 0, pending: 0, failing: undefined })
      expect(await database.rows('select id from hens order by id')).to.deep.equal([{ id: 'a' }, { id: 'b' }])
    } finally {
      await rows.close()
      for (const table of ['hens', 'eggs']) await database.rows(`drop table ${table}`)
      await database.close()
    }
  })

  it('are added up in the transaction that writes them, each row once, however often and by whomever it is sent', async () => {
    const database = await open()
    const writers = [new Rows({ url: database.url, log }), new Rows({ url: database.url, log })]
    const sums = [
      `insert into hens_eggs (yard, eggs) select yard, sum(eggs) from added where true group by yard order by yard
        on conflict (yard) do update set eggs = hens_eggs.eggs + excluded.eggs`,
      'insert into hens_seen (id) select id from added',
    ]
    try {
      await database.rows('create table hens (id text primary key, yard text not null, eggs integer)')
      await database.rows('create table hens_eggs (yard text primary key, eggs integer not null)')
      await database.rows('create table hens_seen (id text primary key)')
      await database.rows(`insert into hens values ('h0', 'north', 1000)`)
      for (const rows of writers) {
        const queue = rows.of('hens')
        queue.sums = sums
        for (let count = 0; count < 450; count += 1)
          queue.append({ id: `h${count % 400}`, yard: count % 2 === 0 ? 'north' : 'south', eggs: count % 400 })
        // A row that the table refuses: the others of its batch are written one by one.
        queue.append({ id: `lost`, yard: null, eggs: 7 })
        queue.append({ yard: 'south', eggs: 5, id: 'in another order' })
      }
      await Promise.all(writers.map((rows) => rows.flush()))
      // The even and the odd numbers below 400; `h0` was there before.
      const expected = [
        { yard: 'north', eggs: 39_800 },
        { yard: 'south', eggs: 40_000 + 5 },
      ]
      expect(await database.rows('select yard, eggs from hens_eggs order by yard')).to.deep.equal(expected)
      const [row] = await database.rows<{ seen: number | string }>('select count(*) as seen from hens_seen')
      expect(Number(row?.seen)).to.equal(400)
      expect(writers.map((rows) => rows.of('hens').counters.dropped)).to.deep.equal([1, 1])
    } finally {
      await Promise.all(writers.map((rows) => rows.close()))
      for (const table of ['hens', 'hens_eggs', 'hens_seen']) await database.rows(`drop table ${table}`)
      await database.close()
    }
  })

  it('are not written without their sums', async () => {
    const database = await open()
    const rows = new Rows({ url: database.url, log })
    const hens = rows.of('hens')
    hens.waits = true
    hens.sums = ['insert into hens_seen (id) select id from added']
    try {
      await database.rows('create table hens (id text primary key)')
      for (const id of ['a', 'b']) hens.append({ id })
      await until(() => hens.counters.failing !== undefined)
      expect(await database.rows('select id from hens')).to.deep.equal([])
      await database.rows('create table hens_seen (id text primary key)')
      await rows.flush()
      expect(await database.rows('select id from hens_seen order by id')).to.deep.equal([{ id: 'a' }, { id: 'b' }])
    } finally {
      await rows.close()
      for (const table of ['hens', 'hens_seen']) await database.rows(`drop table ${table}`)
      await database.close()
    }
  })
}

describe('rows in bulk', () => {
  onBothDatabases(contract, (url) => {
    it('take texts for columns of any type', async () => {
      const database = await openDatabase(url())
      const rows = new Rows({ url: url(), log })
      try {
        await database.rows(
          'create table eggs (id text primary key, facts jsonb, note json, marks text[], at timestamptz, big boolean)',
        )
        const row = { id: 'a', facts: '{"white":true}', note: '[1, "two"]', marks: '{x,y}', at: '2026-01-02Z', big: 1 }
        rows.of('eggs').append(row)
        rows.of('eggs').append({ ...row, id: 'b', facts: null, note: null, marks: null, at: null, big: null })
        rows.of('eggs').append({ ...row, id: 'c', facts: 'no JSON' })
        await rows.flush()
        expect(rows.of('eggs').counters).to.include({ written: 2, dropped: 1 })
        const statement = `select id, facts->>'white' as white, note->>1 as two, marks[2] as mark,
          extract(day from at at time zone 'UTC')::int as day, big from eggs order by id`
        expect(await database.rows(statement)).to.deep.equal([
          { id: 'a', white: 'true', two: 'two', mark: 'y', day: 2, big: true },
          { id: 'b', white: null, two: null, mark: null, day: null, big: null },
        ])
      } finally {
        await rows.close()
        await database.rows('drop table eggs')
        await database.close()
      }
    })

    it('take JSON once a table is there that was missing', async () => {
      const database = await openDatabase(url())
      const rows = new Rows({ url: url(), log })
      const late = rows.of('late')
      try {
        late.waits = true
        late.append({ id: 'a', facts: '{"white":true}' })
        await until(() => late.counters.failing !== undefined)
        await database.rows('create table late (id text primary key, facts jsonb)')
        await rows.flush()
        expect(await database.rows(`select id, facts->>'white' as white from late`)).to.deep.equal([
          { id: 'a', white: 'true' },
        ])
      } finally {
        await rows.close()
        await database.rows('drop table if exists late')
        await database.close()
      }
    })

    it('are written while others wait for locked tables, which alone are failing', async function () {
      this.timeout(60_000)
      const database = await openDatabase(url())
      const rows = new Rows({ url: url(), log })
      const locked = ['ducks', 'swans', 'quails', 'doves', 'larks', 'owls']
      const eggs = rows.of('eggs')
      const held = Promise.withResolvers<void>()
      const done = Promise.withResolvers<void>()
      try {
        for (const table of [...locked, 'eggs']) await database.rows(`create table ${table} (id text primary key)`)
        const lock = database.query.transaction().execute(async (transaction) => {
          await sql.raw(`lock table ${locked.join()}`).execute(transaction)
          held.resolve()
          await done.promise
        })
        await held.promise
        for (const table of locked) rows.of(table).append({ id: 'a' })
        await until(() => locked.some((table) => rows.of(table).counters.failing !== undefined))
        eggs.append({ id: 'a' })
        await eggs.flush()
        expect(eggs.counters).to.deep.equal({ written: 1, dropped: 0, pending: 0, failing: undefined })
        const ofLock = /^55P03: .*lock timeout/
        await until(() => locked.every((table) => ofLock.test(rows.of(table).counters.failing ?? '')))
        done.resolve()
        await lock
        await rows.flush()
        for (const table of locked) expect(rows.of(table).counters).to.include({ written: 1, failing: undefined })
      } finally {
        done.resolve()
        await rows.close()
        for (const table of [...locked, 'eggs']) await database.rows(`drop table ${table}`)
        await database.close()
      }
    })
  })

  it('of one table push out no rows of another', async () => {
    const thread = new Silent()
    const rows = new Rows({ url: 'sqlite:unused', log, limit: 10, spawn: () => thread as unknown as Worker })
    for (let count = 0; count < 15; count += 1) rows.of('hens').append({ id: String(count) })
    for (let count = 0; count < 5; count += 1) rows.of('eggs').append({ id: String(count) })
    expect(rows.of('hens').counters).to.include({ dropped: 5, pending: 10 })
    expect(rows.of('eggs').counters).to.include({ dropped: 0, pending: 5 })
    const flushed = rows.flush()
    await rows.close(0)
    await flushed
    expect(rows.of('eggs').counters).to.include({ dropped: 5, pending: 0 })
  })

  it('take no more memory than all tables may, and the table that takes most loses its oldest', async () => {
    const thread = new Silent()
    const rows = new Rows({ url: 'sqlite:unused', log, memory: 100_000, spawn: () => thread as unknown as Worker })
    const [hens, eggs] = [rows.of('hens'), rows.of('eggs')]
    for (let count = 0; count < 5; count += 1) eggs.append({ id: String(count), text: 'e'.repeat(1_000) })
    for (let count = 0; count < 30; count += 1) hens.append({ id: String(count), text: 'h'.repeat(10_000) })
    // 5 of about 1,000 characters and 9 of about 10,000 fit.
    expect(eggs.counters).to.include({ dropped: 0, pending: 5 })
    expect(hens.counters).to.include({ dropped: 21, pending: 9 })
    const flushed = rows.flush()
    hens.append({ id: 'later', text: 'h'.repeat(10_000) })
    expect(hens.counters).to.include({ dropped: 22, pending: 9 })
    thread.emit('message', { table: 'eggs', written: 5, dropped: 0 })
    thread.emit('message', { table: 'hens', written: 9, dropped: 0 })
    await flushed
    for (let count = 0; count < 30; count += 1) eggs.append({ id: String(count), text: 'e'.repeat(10_000) })
    expect(eggs.counters).to.include({ written: 5, dropped: 21, pending: 9 })
    thread.emit('exit')
    await rows.close(0)
    expect(eggs.counters).to.include({ dropped: 30, pending: 0 })
  })

  it('go to one thread, a batch of each table at a time', async () => {
    const thread = new Silent()
    let born = 0
    const spawn = () => {
      born += 1
      return thread as unknown as Worker
    }
    const rows = new Rows({ url: 'sqlite:unused', log, spawn })
    for (const table of ['hens', 'eggs', 'hens']) rows.of(table).append({ id: table })
    const flushed = rows.flush()
    rows.of('hens').append({ id: 'late' })
    await new Promise(setImmediate)
    expect(thread.tables).to.deep.equal(['hens', 'eggs'])
    for (const [table, written] of [
      ['hens', 2],
      ['eggs', 1],
    ])
      thread.emit('message', { table, written, dropped: 0 })
    await flushed
    expect(rows.of('hens').counters).to.include({ written: 2, pending: 1 })
    expect(born).to.equal(1)
    await rows.close(0)
  })
})
