import { mock } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import type { Logger } from 'pino'
import type { ServiceMigration } from '../../../engine/index.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { Rows } from '../../../engine/store/rows.ts'
import { isTableOf, migrateService } from '../../../engine/store/migrate-service.ts'
import type { Migrated } from '../../../engine/store/migrate-service.ts'
import { fromPool } from '../../../engine/store/connect.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'

type Anything = Kysely<Record<string, Record<string, unknown>>>

const makes = (table: string): ServiceMigration => ({
  name: `makes ${table}`,
  async up({ schema }) {
    await schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('eggs', 'integer', (column) => column.notNull())
      .execute()
  },
})

const fills = (table: string): ServiceMigration => ({
  name: `fills ${table}`,
  async up(queries) {
    await (queries as unknown as Anything).insertInto(table).values({ id: 'first', eggs: 6 }).execute()
  },
})

const fails: ServiceMigration = {
  name: 'fails',
  async up(queries) {
    await makes('stock_other').up(queries, 'sqlite')
    throw new Error('no more eggs')
  },
}

describe('engine/store/migrate-service', () => {
  let database: Database
  const stock = (...migrations: readonly ServiceMigration[]) => ({ name: 'stock', migrations })
  const journal = () => database.rows<{ name: string }>('select name from service_migrations order by name')
  const tables = async () => (await database.query.introspection.getTables()).map(({ name }) => name)
  const warned: string[] = []
  const log = { warn: (_: unknown, text?: string) => void warned.push(text ?? '') } as Pick<Logger, 'warn'>
  const migrate = (on: Database, service: Migrated) => migrateService(on, service, log)
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      ({ message }: Error) => message,
    )

  function contract(again: () => Promise<Database>): void {
    it('runs what the database has not seen, in order and once', async () => {
      await migrate(database, stock(makes('stock')))
      await migrate(database, stock(makes('stock'), makes('stock_eggs'), fills('stock_eggs')))
      await migrate(database, stock(makes('stock'), makes('stock_eggs'), fills('stock_eggs')))
      await migrate(database, { name: 'shop', migrations: [makes('shop')] })
      expect(await journal()).to.deep.equal(
        ['fills stock_eggs', 'makes shop', 'makes stock', 'makes stock_eggs'].map((name) => ({ name })),
      )
      expect(await database.rows('select * from stock_eggs')).to.deep.equal([{ id: 'first', eggs: 6 }])
    })

    it('asks without the query builder whether there is anything to do', async () => {
      const migrations = stock(makes('stock'), fills('stock'))
      await migrate(database, migrations)
      const lean: Database = {
        ...database,
        get query(): never {
          throw new Error('the query builder was loaded')
        },
        // Migrations have a connection of their own on PostgreSQL.
        get url(): never {
          throw new Error('a query builder of its own was loaded')
        },
      }
      await migrate(lean, migrations)
      expect(await failure(migrate(lean, stock(makes('stock'), makes('stock_eggs'))))).to.include('was loaded')
    })

    it('leaves nothing of one that fails, and keeps those before it', async () => {
      expect(await failure(migrate(database, stock(makes('stock'), fails)))).to.equal(
        'the migration "fails" failed: no more eggs',
      )
      expect(await journal()).to.deep.equal([{ name: 'makes stock' }])
      expect(await tables())
        .to.include('stock')
        .and.not.include('stock_other')
    })

    it('refuses a table that is named after something else', async () => {
      const message = await failure(migrate(database, stock(makes('stocks'))))
      expect(message).to.equal(
        'the migration "makes stocks" makes the table "stocks"; the name of a table of the service begins with "stock"',
      )
      expect(await tables()).to.not.include('stocks')
      expect(await journal()).to.deep.equal([])
    })

    it('runs each once when several processes start at the same time', async () => {
      const others = await Promise.all([again(), again(), again()])
      try {
        const migrations = stock(makes('stock'), fills('stock'), makes('stock_eggs'), fills('stock_eggs'))
        await Promise.all([database, ...others].map((one) => migrate(one, migrations)))
        expect(await journal()).to.have.length(4)
        expect(await database.rows('select id from stock')).to.deep.equal([{ id: 'first' }])
      } finally {
        for (const other of others) await other.close()
      }
    })

    it('tells of one that has not ended yet', async () => {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>()
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const waits: ServiceMigration = { name: 'waits', up: async () => (begin(), gate) }
      warned.length = 0
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const migrating = migrate(database, stock(waits))
        await begun
        mock.timers.tick(5_000)
        open()
        await migrating
      } finally {
        mock.timers.reset()
      }
      expect(warned).to.deep.equal(['a migration is still running; it may be waiting for another process'])
    })

    it('runs statements that give rows and statements that give none, apart from the transactions of others', async () => {
      await migrate(database, stock(makes('stock')))
      expect(await database.rows("insert into stock values ('kept', 1)")).to.deep.equal([])
      const { promise: gate, resolve: open } = Promise.withResolvers<void>()
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const broken = (database.query as unknown as Anything).transaction().execute(async (queries) => {
        await queries.insertInto('stock').values({ id: 'lost', eggs: 2 }).execute()
        begin()
        await gate
        throw new Error('no more eggs')
      })
      const failed = failure(broken)
      await begun
      const added = database.rows("insert into stock values ('added', 3)")
      const read = database.rows<{ id: string }>('select id from stock order by id')
      open()
      expect(await failed).to.equal('no more eggs')
      await added
      expect((await read).map(({ id }) => id)).to.not.include('lost')
      expect(await database.rows('select id from stock order by id')).to.deep.equal([{ id: 'added' }, { id: 'kept' }])
      expect(await database.rows('delete from stock')).to.deep.equal([])
      expect(await database.rows('select id from stock')).to.deep.equal([])
    })

    it('makes tables that rows in bulk are appended to', async () => {
      await migrate(database, stock(makes('stock'), makes('stock_notes')))
      const lines: string[] = []
      const log = pino({ base: null }, { write: (line) => void lines.push(line) })
      const rows = new Rows({ url: database.url, log })
      const notes = ['one\ttab', 'two\nlines', 'a\0b', '', 'ü', '"{}']
      notes.forEach((id, eggs) => rows.of('stock').append({ eggs, id }))
      rows.of('stock_notes').append({ id: 'x', eggs: 1 })
      rows.of('stock_notes').append({ eggs: 2, id: 'y' })
      rows.of('stock_notes').append({ id: 'no number', eggs: null })
      rows.of('stock_gone').append({ id: 'x' })
      rows.of('stock').append({ id: 'last', eggs: 7 })
      await rows.flush()
      const fared = ['stock', 'stock_notes', 'stock_gone'].map((table) => rows.of(table).counters)
      const done = { pending: 0, failing: undefined }
      expect(fared).to.deep.equal([
        { written: 7, dropped: 0, ...done },
        { written: 2, dropped: 1, ...done },
        { written: 0, dropped: 1, ...done },
      ])
      await rows.close()
      expect(
        (await database.rows<{ id: string }>('select id from stock order by eggs')).map(({ id }) => id),
      ).to.deep.equal([...notes.map((text) => text.replace('\0', '\ufffd')), 'last'])
      expect(await database.rows('select * from stock_notes order by id')).to.deep.equal([
        { id: 'x', eggs: 1 },
        { id: 'y', eggs: 2 },
      ])
      expect(lines.join())
        .to.include('rows were dropped because their table refused them')
        .and.match(/no such table|does not exist/)
    })
  }

  describe('on SQLite', () => {
    let folder: string
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-migrate-'))
      database = await openDatabase(`sqlite:${folder}/sluice.db`)
    })
    afterEach(async () => {
      await database.close()
      rmSync(folder, { recursive: true })
    })
    contract(() => openDatabase(`sqlite:${folder}/sluice.db`))

    it('waits for another process that holds the lock', async () => {
      const other = new BetterSqlite(join(folder, 'sluice.db'))
      other.exec('begin immediate')
      const tries: number[] = []
      const counted: Database = {
        ...database,
        get query() {
          tries.push(tries.length)
          return database.query
        },
      }
      const migrating = migrate(counted, stock(makes('stock')))
      await until(() => tries.length === 2)
      other.exec('commit')
      other.close()
      await migrating
      expect(await tables()).to.include('stock')
    })
  })

  describe('on PostgreSQL', function () {
    this.timeout(300_000)
    beforeEach(async function () {
      const { url } = await postgres(this)
      database = await openDatabase(url)
    })
    afterEach(() => database?.close())
    contract(() => openDatabase(database.url))

    it('may take longer than other statements may, and so may what waits for it', async () => {
      const hurried = await fromPool(database.url, 4, 1_000)
      try {
        const slow: ServiceMigration = {
          name: 'sleeps',
          async up(queries) {
            await makes('stock').up(queries, 'postgres')
            await sql`select pg_sleep(1.5)`.execute(queries)
          },
        }
        await Promise.all([migrate(hurried, stock(slow)), migrate(hurried, stock(slow))])
        expect(await journal()).to.deep.equal([{ name: 'sleeps' }])
      } finally {
        await hurried.close()
      }
    })

    it('is not blamed for the tables that others make meanwhile', async () => {
      const others: ServiceMigration = {
        name: 'is slow',
        async up(queries) {
          await makes('stock').up(queries, 'postgres')
          await database.query.schema.createTable('of_another_application').addColumn('id', 'text').execute()
        },
      }
      await migrate(database, stock(others))
      expect(await tables()).to.include.members(['stock', 'of_another_application'])
    })
  })

  it('tells the tables of a service by their names', () => {
    const names = ['stock', 'stock_eggs', 'stocks', 'stockeggs', 'other']
    expect(names.filter((name) => isTableOf('stock', name))).to.deep.equal(['stock', 'stock_eggs'])
  })
})
