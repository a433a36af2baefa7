import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import { sql } from 'kysely'
import { pino } from 'pino'
import { type Database, StartError, openDatabase } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import { migrations } from '../../../engine/store/migrations/index.ts'
import requests from '../../../plugins/request-log/requests.ts'
import { migrateKeys } from '../../support/keys.ts'
import { type Service, postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'

const KEY = { models: null, created_at: 1, expires_at: null, revoked_at: null, hint: 'abcd' }

/** What holds for a database whatever its dialect. */
function contract(open: () => Promise<Database>): void {
  it('holds whole numbers up to 2^53 as numbers', async () => {
    const database = await open()
    const query = tablesOf(database)
    const key = { ...KEY, id: 'a', name: 'a', hash: '1', created_at: Number.MAX_SAFE_INTEGER }
    await query.insertInto('api_keys').values(key).execute()
    expect(await query.selectFrom('api_keys').selectAll().executeTakeFirst()).to.include(key)
    await database.close()
  })

  it('refuses a second key of the same name or hash', async () => {
    const database = await open()
    const query = tablesOf(database)
    await query
      .insertInto('api_keys')
      .values({ ...KEY, id: 'b', name: 'b', hash: '2' })
      .execute()
    for (const twin of [
      { id: 'c', name: 'b', hash: '3' },
      { id: 'd', name: 'd', hash: '2' },
    ]) {
      const refusal = await query
        .insertInto('api_keys')
        .values({ ...KEY, ...twin })
        .execute()
        .catch((error: unknown) => error)
      expect(refusal)
        .to.be.an('error')
        .with.property('message')
        .that.matches(/unique/i)
    }
    await database.close()
  })

  it('opens again what it made', async () => {
    const first = await open()
    await tablesOf(first)
      .insertInto('api_keys')
      .values({ ...KEY, id: 'e', name: 'e', hash: '5' })
      .execute()
    await first.close()
    const again = await open()
    const found = await tablesOf(again).selectFrom('api_keys').select('name').where('id', '=', 'e').execute()
    expect(found).to.deep.equal([{ name: 'e' }])
    await again.close()
  })

  it('indexes the log by time and by key', async () => {
    const database = await open()
    const { query, close, dialect } = database
    await migrateService(database, requests, pino({ level: 'silent' }))
    const list =
      dialect === 'sqlite'
        ? sql`select name from sqlite_master where type = 'index'`
        : sql`select indexname as name from pg_indexes`
    const names = (await list.execute(query)).rows.map((row) => (row as { name: string }).name)
    expect(names).to.include.members(['requests_at', 'requests_key_id_at'])
    await close()
  })

  it('lets several processes make the schema at once', async () => {
    const { url, close } = await open()
    await close()
    const fresh = url.startsWith('sqlite') ? `${url}.fresh` : url
    if (!url.startsWith('sqlite')) await emptied(url)
    const source = `import { workerData, parentPort } from 'node:worker_threads'
      const { openDatabase } = await import(workerData.module)
      try { await (await openDatabase(workerData.url)).close(); parentPort.postMessage('open') }
      catch (error) { parentPort.postMessage(String(error)) }`
    const module = new URL('../../../engine/store/database.ts', import.meta.url).href
    const entry = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
    const workers = [1, 2, 3, 4].map(() => new Worker(entry, { workerData: { module, url: fresh } }))
    const answers = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as string))
    await Promise.all(workers.map((worker) => worker.terminate()))
    expect(answers).to.deep.equal(['open', 'open', 'open', 'open'])
  })

  it('refuses a schema newer than its own', async () => {
    const { query, close, url } = await open()
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', 'then')`.execute(query)
    await close()
    const refusal = await openDatabase(url).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(StartError)
    expect((refusal as Error).message).to.match(/was written by a newer version \(migration 9999-later\)/)
    expect((refusal as Error).message).not.to.include('\n')
  })
}

/** A database with a table that rows can be written into. */
async function withKeys(url: string): Promise<Database> {
  const database = await openDatabase(url)
  await migrateKeys(database)
  return database
}

async function emptied(url: string): Promise<void> {
  const { query, close } = await openDatabase(url)
  await sql`drop schema public cascade`.execute(query)
  await sql`create schema public`.execute(query)
  await close()
}

async function refusalOf(url: string): Promise<Error> {
  const error = await openDatabase(url).then(
    () => undefined,
    (refusal: unknown) => refusal,
  )
  expect(error).to.be.instanceOf(StartError)
  expect((error as Error).message).not.to.include('\n')
  return error as Error
}

describe('engine/store/database', () => {
  describe('on SQLite', () => {
    let folder: string
    before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-database-'))))
    after(() => rmSync(folder, { recursive: true }))

    contract(() => withKeys(`sqlite:${folder}/new/folder/sluice.db`))

    it('makes a folder and files that nobody else may read, and leaves those alone that were there', async () => {
      const modeOf = (...path: string[]) => (statSync(join(folder, ...path)).mode & 0o777).toString(8)
      const before = process.umask(0)
      try {
        const made = await withKeys(`sqlite:${join(folder, 'deep', 'own', 'db')}`)
        await tablesOf(made)
          .insertInto('api_keys')
          .values({ ...KEY, id: 'a', name: 'a', hash: '1' })
          .execute()
        const files = readdirSync(join(folder, 'deep', 'own')).sort()
        expect(files).to.deep.equal(['db', 'db-shm', 'db-wal'])
        expect(files.map((name) => modeOf('deep', 'own', name))).to.deep.equal(['600', '600', '600'])
        expect([modeOf('deep'), modeOf('deep', 'own')]).to.deep.equal(['700', '700'])
        await made.close()
        chmodSync(join(folder, 'deep'), 0o755)
        chmodSync(join(folder, 'deep', 'own', 'db'), 0o640)
        await (await openDatabase(`sqlite:${join(folder, 'deep', 'own', 'db')}`)).close()
        expect([modeOf('deep'), modeOf('deep', 'own', 'db')]).to.deep.equal(['755', '640'])
      } finally {
        process.umask(before)
      }
    })

    it('writes ahead, flushes as needed and gives up on a lock after 50 milliseconds', async () => {
      const { query, close } = await openDatabase(`sqlite:${folder}/settings.db`)
      const one = async (pragma: string): Promise<unknown> =>
        Object.values((await sql.raw(`pragma ${pragma}`).execute(query)).rows[0] as object)[0]
      expect(await one('journal_mode')).to.equal('wal')
      expect(await one('synchronous')).to.equal(1)
      expect(await one('busy_timeout')).to.equal(50)
      await close()
    })

    it('bounds the file by max_page_count', async () => {
      const { query, close } = await openDatabase(`sqlite:${folder}/bounded.db?max_page_count=64`)
      const { rows } = await sql<{ max_page_count: number }>`pragma max_page_count`.execute(query)
      expect(rows).to.deep.equal([{ max_page_count: 64 }])
      await close()
    })

    it('leaves no half schema behind when a migration fails', async () => {
      const path = join(folder, 'taken.db')
      const file = new BetterSqlite(path)
      file.exec('create table records (mine)')
      file.close()
      expect((await refusalOf(`sqlite:${path}`)).message).to.match(/cannot be used: table "records" already exists/)
      const tables = new BetterSqlite(path, { readonly: true }).prepare('select name from sqlite_master').all()
      expect(tables).to.deep.equal([{ name: 'records' }])
    })

    for (const [what, bytes] of [
      ['a file that is no database', Buffer.from('not a database, but somebody’s only copy\n'.repeat(100))],
      ['a database with a broken page', brokenDatabase()],
    ] as const) {
      it(`refuses ${what} and leaves it as it was`, async () => {
        const path = join(folder, 'damaged.db')
        writeFileSync(path, bytes)
        expect((await refusalOf(`sqlite:${path}`)).message).to.equal(
          `the database ${path} is damaged or not a SQLite file; restore a backup or move it away`,
        )
        expect(readFileSync(path).equals(bytes)).to.equal(true)
      })
    }

    it('leaves a newer file as it was', async () => {
      const path = join(folder, 'newer.db')
      const { query, close } = await openDatabase(`sqlite:${path}`)
      await sql`insert into kysely_migration (name, timestamp) values ('9999-later', 'then')`.execute(query)
      await close()
      const before = readFileSync(path)
      await refusalOf(`sqlite:${path}`)
      expect(readFileSync(path).equals(before)).to.equal(true)
    })

    it('refuses a folder that cannot be made', async () => {
      writeFileSync(join(folder, 'file'), '')
      const { message } = await refusalOf(`sqlite:${folder}/file/sluice.db`)
      expect(message).to.match(/^the folder .*\/file of the database cannot be written: E(EXIST|NOTDIR)/)
    })

    it('refuses a folder that may not be written', async function () {
      // Permissions do not bind the superuser.
      if (process.getuid?.() === 0) this.skip()
      const locked = join(folder, 'locked')
      mkdirSync(locked)
      chmodSync(locked, 0o555)
      expect((await refusalOf(`sqlite:${locked}/sluice.db`)).message).to.match(/cannot be written: EACCES/)
      expect(existsSync(join(locked, 'sluice.db'))).to.equal(false)
    })

    for (const url of [
      'sqlite:',
      'sqlite::memory:',
      'sqlite://x/y.db',
      'sqlite:a.db?mode=ro',
      'mysql://root:secretpassword@h/d',
      '',
    ]) {
      it(`refuses the URL "${url}"`, async () => {
        const { message } = await refusalOf(url)
        expect(message).to.equal(
          'database.url must be sqlite:<path> or postgres://<user>:<password>@<host>:<port>/<name>',
        )
      })
    }
  })

  describe('on PostgreSQL', () => {
    let service: Service
    before(async function () {
      service = await postgres(this)
    })
    beforeEach(() => emptied(service.url))

    contract(() => withKeys(service.url))
  })

  it('refuses a server that cannot be reached, without the password', async () => {
    const { message } = await refusalOf('postgres://me:verysecretpassword@127.0.0.1:1/sluice')
    expect(message).to.equal('the database 127.0.0.1:1/sluice cannot be used: connect ECONNREFUSED 127.0.0.1:1')
  })
})

/** A database whose schema reads well while the tree of its keys does not. */
function brokenDatabase(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-broken-'))
  const path = join(folder, 'x.db')
  const file = new BetterSqlite(path)
  file.exec('create table kysely_migration (name, timestamp); create table api_keys (name)')
  for (const name of Object.keys(migrations)) file.exec(`insert into kysely_migration values ('${name}', '')`)
  for (let count = 0; count < 500; count += 1) file.exec(`insert into api_keys values ('${'name'.repeat(20)}')`)
  file.close()
  const bytes = readFileSync(path)
  bytes.fill(0x5a, 4096 * 4, 4096 * 6)
  rmSync(folder, { recursive: true })
  return bytes
}
