import { execFile } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { RowCounters } from '../../../engine/index.ts'
import { type Database, openDatabase } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import { textOf } from '../../../engine/store/row-lines.ts'
import type { RowsOptions } from '../../../engine/store/rows.ts'
import type { ToWorker } from '../../../engine/store/worker.ts'
import requests from '../../../plugins/request-log/requests.ts'
import type { Requests } from '../../../plugins/request-log/requests.ts'
import { logRow as row, openRequestLog } from '../../support/request-log.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const COLUMNS = {
  id: 'a',
  at: 1_700_000_000_000,
  type: 'chat',
  key_id: 'k',
  key_name: 'app',
  member_id: 'm-1',
  member_name: 'ann',
  requested: 'small',
  model: 'small-1',
  provider: 'p',
  protocol: 'chat',
  upstream_protocol: 'messages',
  stream: 1,
  status: 200,
  result: 'completed',
  error: null,
  attempts: 1,
  input_tokens: 10,
  cache_read_tokens: 1,
  cache_write_tokens: 2,
  output_tokens: 3,
  reasoning_tokens: 4,
  cost_micros: 42,
  first_byte: 12,
  duration: 100,
  reference: 'r-1',
  parent: 'p-1',
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  tier: 'SIMPLE',
  tags: '{"team":"a"}',
  config_version: 'v1',
  ended: 1_700_000_000_100,
  savings_micros: -7,
  pipeline: 'chat-completions',
  failed_providers: '["p"]',
  guarded: null,
  charged_at: null,
  charged_micros: null,
  charged_overrun: null,
  metadata: '{"times":{"call":90.5}}',
}

function lines(): { readonly messages: string[]; readonly log: pino.Logger } {
  const messages: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      messages.push((JSON.parse(chunk.toString()) as { msg: string }).msg)
      done()
    },
  })
  return { messages, log: pino(sink) }
}

async function ids(database: Database): Promise<readonly string[]> {
  const rows = await tablesOf(database).selectFrom('requests').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** A program with a `queue` and a function `row`, then the given lines. */
function script(url: string, lines: string): string {
  const module = new URL('../../../engine/store/rows.ts', import.meta.url).href
  return `const { Rows } = await import(${JSON.stringify(module)})
    const log = { info() {}, error() {}, child: () => log }
    const queue = new Rows({ url: ${JSON.stringify(url)}, log }).of('requests')
    const row = (id) => ({ ...${JSON.stringify(COLUMNS)}, id })
    ${lines}`
}

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => String(index).padStart(6, '0'))

/** In place of a writer's thread: it is handed batches, and answers when it is told to. */
class Writer extends EventEmitter {
  readonly batches: string[] = []

  postMessage(message: ToWorker): void {
    if (typeof message === 'object') this.batches.push(textOf(message.rows))
    else this.emit('exit')
  }

  /** The last batch is in the database. */
  written(): void {
    this.emit('message', { table: 'requests', written: this.batches.at(-1)?.split('\n').length, dropped: 0 })
  }

  ref(): void {}
  unref(): void {}
  async terminate(): Promise<void> {}
}

/** The request log, and the queue that its rows go through. */
interface Queue extends Pick<Requests, 'write'> {
  readonly counters: RowCounters
  flush(): Promise<void>
  close(deadline?: number): Promise<void>
}

/** Opens a database that has the table of the request log. */
async function openWithTable(url: string): Promise<Database> {
  const database = await openDatabase(url)
  await migrateService(database, requests, pino({ level: 'silent' }))
  return database
}

describe('engine/store/row-queue', () => {
  const open: Queue[] = []
  let database: Database

  function queueOn(options: Partial<RowsOptions & { readonly scrub: (text: string) => string }> = {}): Queue {
    const { view, rows } = openRequestLog(database, options)
    const queue: Queue = {
      write: (row) => view.write(row),
      get counters() {
        return view.counters
      },
      flush: () => rows.flush(),
      close: (deadline) => rows.close(deadline),
    }
    open.push(queue)
    return queue
  }

  afterEach(async () => {
    for (const queue of open.splice(0)) await queue.close(0)
    await database.close()
  })

  function contract(): void {
    beforeEach(() => tablesOf(database).deleteFrom('requests').execute())

    it('writes every field of a row', async () => {
      const queue = queueOn()
      queue.write(row('a', { failedProviders: ['p'] }))
      expect(queue.counters).to.deep.equal({ written: 0, dropped: 0, pending: 1, failing: undefined })
      await queue.flush()
      expect(await tablesOf(database).selectFrom('requests').selectAll().execute()).to.deep.equal([COLUMNS])
      expect(queue.counters).to.deep.equal({ written: 1, dropped: 0, pending: 0, failing: undefined })
    })

    it('writes by itself, a full batch or after a while', async () => {
      const queue = queueOn()
      for (const id of numbered(450)) queue.write(row(id))
      await until(() => queue.counters.written === 450)
      expect(await ids(database)).to.deep.equal(numbered(450))
    })

    it('writes a row once, however often it comes', async () => {
      const queue = queueOn()
      for (const id of ['a', 'b', 'a']) queue.write(row(id))
      await queue.flush()
      expect(await ids(database)).to.deep.equal(['a', 'b'])
    })

    it('keeps rows while their table is away, and says so', async () => {
      const queue = queueOn()
      await sql`alter table requests rename to elsewhere`.execute(database.query)
      queue.write(row('a'))
      queue.write(row('b'))
      await until(() => queue.counters.failing !== undefined)
      expect(queue.counters).to.include({ written: 0, dropped: 0, pending: 2 })
      await sql`alter table elsewhere rename to requests`.execute(database.query)
      await queue.flush()
      expect(await ids(database)).to.deep.equal(['a', 'b'])
      expect(queue.counters.failing).to.equal(undefined)
    })

    it('drops a row that no database takes, and only that', async () => {
      const queue = queueOn()
      const broken = row('b', { duration: Number.NaN })
      for (const each of [row('a'), broken, row('c', { inputTokens: Number.NaN })]) queue.write(each)
      await queue.flush()
      expect(await ids(database)).to.deep.equal(['a', 'c'])
      expect(queue.counters).to.include({ written: 2, dropped: 1 })
    })

    it('keeps a row whose texts hold what columns cannot', async () => {
      const queue = queueOn()
      const texts = ['x\0y\ud800', 'x\0', '\udc00y']
      texts.forEach((requested, index) => queue.write(row(`${index}`, { requested, metadata: { odd: requested } })))
      await queue.flush()
      const rows = tablesOf(database).selectFrom('requests').select(['requested', 'metadata']).orderBy('id')
      expect(await rows.execute()).to.deep.equal([
        { requested: 'x\ufffdy\ufffd', metadata: '{"odd":"x\\u0000y\\ud800"}' },
        { requested: 'x\ufffd', metadata: '{"odd":"x\\u0000"}' },
        { requested: '\ufffdy', metadata: '{"odd":"\\udc00y"}' },
      ])
    })

    it('counts what comes after the end as dropped', async () => {
      const queue = queueOn()
      queue.write(row('a'))
      await queue.close()
      queue.write(row('b'))
      expect(await ids(database)).to.deep.equal(['a'])
      expect(queue.counters).to.deep.equal({ written: 1, dropped: 1, pending: 0, failing: undefined })
    })
  }

  describe('on SQLite', () => {
    let folder: string
    let url: string
    before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-log-'))))
    after(() => rmSync(folder, { recursive: true }))
    beforeEach(async () => {
      url = `sqlite:${folder}/sluice.db`
      database = await openWithTable(url)
    })
    contract()

    it('drops the oldest rows when the queue is full, and says so once', async () => {
      const { messages, log } = lines()
      const locker = new BetterSqlite(join(folder, 'sluice.db'))
      locker.exec('begin immediate')
      const queue = queueOn({ log, limit: 1_000 })
      queue.write(row('first'))
      const flushed = queue.flush()
      for (const id of numbered(1_500)) {
        queue.write(row(id))
        if (Number(id) % 100 === 0) await new Promise(setImmediate)
      }
      expect(queue.counters).to.include({ written: 0, dropped: 500, pending: 1_001 })
      expect(messages).to.deep.equal(['too many rows of a table are waiting; the oldest are dropped'])
      locker.exec('rollback')
      locker.close()
      await flushed
      await queue.flush()
      expect(await ids(database)).to.deep.equal([...numbered(1_500).slice(500), 'first'])
      expect(queue.counters).to.include({ written: 1_001, dropped: 500, pending: 0 })
    })

    it('takes a row as quickly when it is full as when it is not', async () => {
      const other = `sqlite:${folder}/other.db`
      await (await openWithTable(other)).close()
      const locker = new BetterSqlite(join(folder, 'other.db'))
      locker.exec('begin immediate')
      /** Microseconds of this thread for 20,000 rows. */
      const took = (limit: number): number => {
        const queue = queueOn({ url: other, log: lines().log, limit })
        for (const id of numbered(limit)) queue.write(row(`${limit}-${id}`))
        const before = process.threadCpuUsage()
        for (const id of numbered(20_000)) queue.write(row(`${limit}+${id}`))
        const { user, system } = process.threadCpuUsage(before)
        queues.push(queue)
        return user + system
      }
      const queues: Queue[] = []
      const [few, many] = [took(100), took(5_000)]
      locker.exec('rollback')
      locker.close()
      await Promise.all(queues.map((queue) => queue.close()))
      expect(many / few).to.be.below(10)
    })

    it('says why it fails on a full disk, and goes on when there is room', async () => {
      const { messages, log } = lines()
      await sql`create table filler (text text)`.execute(database.query)
      await sql`insert into filler values (${'x'.repeat(400_000)})`.execute(database.query)
      const pages = await sql<{ page_count: number }>`pragma page_count`.execute(database.query)
      const queue = queueOn({ url: `${url}?max_page_count=${pages.rows[0]?.page_count}`, log })
      for (const id of numbered(200)) queue.write(row(id, { metadata: { text: 'y'.repeat(500) } }))
      await until(() => queue.counters.failing !== undefined)
      expect(queue.counters.failing).to.equal('SQLITE_FULL: database or disk is full')
      expect(queue.counters).to.include({ written: 0, dropped: 0, pending: 200 })
      await sql`drop table filler`.execute(database.query)
      await queue.flush()
      expect(await ids(database)).to.deep.equal(numbered(200))
      expect(queue.counters.failing).to.equal(undefined)
      expect(messages).to.deep.equal(['the rows of a table cannot be written', 'the rows of a table are written again'])
    })

    it('writes the batch again that a dying worker had in hand', async () => {
      const { messages, log } = lines()
      let born = 0
      const spawn = (given: string): Worker => {
        born += 1
        if (born === 1) return new Worker('process.exit(1)', { eval: true })
        return new Worker(new URL('../../../engine/store/worker.ts', import.meta.url), { workerData: { url: given } })
      }
      const queue = queueOn({ log, spawn })
      queue.write(row('a'))
      await queue.flush()
      expect(born).to.equal(2)
      expect(await ids(database)).to.include('a')
      expect(messages).to.deep.equal(['the rows of a table cannot be written', 'the rows of a table are written again'])
    })

    it('has no row wait for more than 50 ms before it leaves, but for the batch before it', () => {
      const writer = new Writer()
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const queue = queueOn({ spawn: () => writer as unknown as Worker })
        queue.write(row('first'))
        mock.timers.tick(50)
        expect(writer.batches).to.have.length(1)
        queue.write(row('second'))
        mock.timers.tick(50)
        expect(writer.batches).to.have.length(1)
        writer.written()
        expect(writer.batches).to.have.length(2)
        queue.write(row('third'))
        mock.timers.tick(30)
        writer.written()
        expect(writer.batches).to.have.length(2)
        mock.timers.tick(20)
        expect(writer.batches).to.have.length(3)
        writer.written()
      } finally {
        mock.timers.reset()
      }
    })

    it('keeps rows whose metadata is no JSON', async () => {
      const { messages, log } = lines()
      const queue = queueOn({ log })
      const metadata = { wrong: 1n as unknown as null }
      queue.write(row('no JSON', { metadata }))
      await queue.flush()
      const stored = tablesOf(database).selectFrom('requests').select('metadata').where('id', '=', 'no JSON')
      expect(await stored.execute()).to.deep.equal([{ metadata: '{}' }])
      expect(messages).to.deep.equal(['a log row cannot be written down as it is'])
    })

    it('drops a row that cannot even be read, and does not throw', async () => {
      const { messages, log } = lines()
      let broken = true
      const scrub = (text: string) => {
        if (broken) throw new Error('scrub')
        return text
      }
      const queue = queueOn({ log, scrub })
      queue.write(row('a'))
      broken = false
      queue.write(row('b'))
      await queue.flush()
      expect(await ids(database)).to.deep.equal(['b'])
      expect(queue.counters).to.include({ written: 1, dropped: 1 })
      expect(messages).to.deep.equal(['a log row cannot be written down as it is', 'a log row cannot be written down'])
    })

    it('drops a row that cannot be written down, and only that', async () => {
      const queue = queueOn()
      queue.write(row('odd', { status: 10n as unknown as number }))
      queue.write(row('even', { metadata: undefined as unknown as {} }))
      await queue.flush()
      expect(queue.counters).to.include({ written: 1, dropped: 1, pending: 0 })
      const stored = tablesOf(database).selectFrom('requests').select('metadata').where('id', '=', 'even')
      expect(await stored.execute()).to.deep.equal([{ metadata: '{}' }])
    })

    it('gives up at its deadline and counts what it lost', async () => {
      const { messages, log } = lines()
      const locker = new BetterSqlite(join(folder, 'sluice.db'))
      locker.exec('begin immediate')
      const queue = queueOn({ log })
      queue.write(row('lost'))
      const closing = queue.close(100)
      await until(() => messages.length > 0)
      // The writer's thread ends when it is not held by the lock any more.
      locker.close()
      await closing
      expect(queue.counters).to.include({ written: 0, dropped: 1, pending: 0 })
      expect(messages).to.deep.equal(['the last rows of a table could not be written'])
    })

    it('starts no worker before the first row', async () => {
      let born = 0
      const queue = queueOn({
        spawn: () => {
          born += 1
          return new Worker('', { eval: true })
        },
      })
      await queue.flush()
      await queue.close()
      expect(born).to.equal(0)
    })

    it('lets the process end, but not before a flush it waits for', async () => {
      const run = promisify(execFile)
      const lines = `queue.append(row('held')); await queue.flush(); queue.append(row('loose'))`
      await run(process.execPath, ['--input-type=module', '-e', script(url, lines)])
      expect(await ids(database))
        .to.include('held')
        .and.not.to.include('loose')
    })

    it('loses no row that was reported as written when the process is killed', async () => {
      await tablesOf(database).deleteFrom('requests').execute()
      for (let round = 0; round < 3; round += 1) {
        const lines = `for (let id = 10000; id < 15000; id += 1) queue.append(row('${round}-' + id))
          setInterval(() => console.log(queue.counters.written), 1)`
        const child = execFile(process.execPath, ['--input-type=module', '-e', script(url, lines)])
        const exit = once(child, 'exit')
        let written = 0
        for await (const line of createInterface(child.stdout ?? Readable.from([]))) {
          written = Number(line)
          if (written >= 400) break
        }
        child.kill('SIGKILL')
        await exit
        const found = (await ids(database)).filter((id) => id.startsWith(`${round}-`))
        const expected = Array.from({ length: written }, (_, index) => `${round}-${10_000 + index}`)
        expect(written).to.be.within(400, 4_999)
        expect(found.slice(0, written)).to.deep.equal(expected)
        expect((await sql`pragma integrity_check`.execute(database.query)).rows).to.deep.equal([
          { integrity_check: 'ok' },
        ])
      }
    })
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    beforeEach(async () => {
      database = await openWithTable(url)
    })
    contract()

    it('goes on after its connection was cut', async () => {
      const { messages, log } = lines()
      const queue = queueOn({ log })
      queue.write(row('a'))
      await queue.flush()
      const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
      await cut.execute(database.query)
      queue.write(row('b'))
      await queue.flush()
      expect(await ids(database)).to.deep.equal(['a', 'b'])
      expect(queue.counters).to.include({ written: 2, dropped: 0 })
      expect(messages.length % 2).to.equal(0)
    })
  })
})
