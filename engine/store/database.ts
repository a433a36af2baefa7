import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { StartError, codeOf, fromFile, fromPool, openFile, locationOf, withoutLimit } from './connect.ts'
import type { Database, Location } from './connect.ts'
import type { Kysely } from 'kysely'
import { migrations } from './migrations/index.ts'
import type { EngineTables } from './tables.ts'

export { type Database, StartError } from './connect.ts'

/**
 * Milliseconds that a query on the main thread waits for another process's lock; the event loop is blocked meanwhile.
 */
const BUSY = 50

/** The same at the start, when nothing is served yet and another process may be migrating. */
const BUSY_AT_START = 5_000

/** Maximum bytes of a file that is checked for damage before it is opened: a larger one would delay the start. */
const CHECKED = 16 * 1024 * 1024

/**
 * Opens and migrates the database: `sqlite:<path>` (folder and file are created) or `postgres://…`. Throws a
 * `StartError` of one line when the file is damaged, its schema is newer than this version, its folder cannot be
 * written, or the server cannot be reached. The file is then unchanged.
 */
export async function openDatabase(url: string): Promise<Database> {
  const place = locationOf(url)
  return place.dialect === 'sqlite' ? openSqlite(url, place) : openPostgres(url, place)
}

async function openSqlite(url: string, place: Extract<Location, { dialect: 'sqlite' }>): Promise<Database> {
  const path = resolve(place.path)
  await makeFolder(dirname(path))
  try {
    await inspect(path)
    const file = openFile(path, BUSY_AT_START, place.maxPages)
    const database = fromFile(url, file)
    try {
      await migrateFile(file, database)
      file.pragma(`busy_timeout = ${BUSY}`)
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  } catch (error) {
    throw refusal(path, error)
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK)
  } catch (error) {
    throw new StartError(`the folder ${folder} of the database cannot be written: ${reasonOf(error)}`, { cause: error })
  }
}

/** Checks an existing file without changing any byte of it: opening it for writing could. */
async function inspect(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.size === 0) return
  const file = new BetterSqlite(path, { readonly: true, timeout: BUSY_AT_START })
  const database = fromFile(path, file)
  try {
    const state = await schemaState(database)
    if (state.kind === 'newer') throw newer(path, state.migration)
    if (found.size <= CHECKED && file.pragma('quick_check', { simple: true }) !== 'ok') throw damaged(path)
  } finally {
    await database.close()
  }
}

/**
 * All migrations run in one transaction: SQLite's tables are created completely or not at all, and two processes never
 * migrate at the same time.
 */
async function migrateFile(file: BetterSqlite.Database, database: Database): Promise<void> {
  if ((await schemaState(database)).kind === 'current') return
  file.exec('begin immediate')
  try {
    await migrateToLatest(database.query)
    file.exec('commit')
  } catch (error) {
    if (file.inTransaction) file.exec('rollback')
    throw error
  }
}

async function openPostgres(url: string, { where }: Extract<Location, { dialect: 'postgres' }>): Promise<Database> {
  const database = await fromPool(url, 4)
  try {
    const state = await schemaState(database)
    if (state.kind === 'newer') throw newer(where, state.migration)
    if (state.kind === 'behind') await withoutLimit(database, ({ query }) => migrateToLatest(query))
    return database
  } catch (error) {
    await database.close()
    throw error instanceof StartError
      ? error
      : new StartError(`the database ${where} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

function refusal(path: string, error: unknown): StartError {
  if (error instanceof StartError) return error
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error) ?? '')) return damaged(path, error)
  return new StartError(`the database ${path} cannot be used: ${reasonOf(error)}`, { cause: error })
}

function damaged(path: string, cause?: unknown): StartError {
  const text = `the database ${path} is damaged or not a SQLite file; restore a backup or move it away`
  return new StartError(text, cause === undefined ? undefined : { cause })
}

function newer(where: string, migration: string): StartError {
  return new StartError(
    `the database ${where} was written by a newer version (migration ${migration}); start that version or restore a backup`,
  )
}

function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const text = first instanceof Error ? first.message : String(first)
  return text.split('\n', 1)[0] ?? text
}

/** The state of a database's schema for this version; `newer` names a migration that this version does not know. */
type SchemaState = { readonly kind: 'current' | 'behind' } | { readonly kind: 'newer'; readonly migration: string }

/** The table with the names of the migrations that ran. */
const LEDGER = 'kysely_migration'

const hasLedger = {
  sqlite: `select 1 from sqlite_master where type = 'table' and name = '${LEDGER}'`,
  postgres: `select 1 where to_regclass('${LEDGER}') is not null`,
}

/** Compares the migrations that ran in a database with those of this version. Only reads. */
async function schemaState({ dialect, rows }: Pick<Database, 'dialect' | 'rows'>): Promise<SchemaState> {
  if ((await rows(hasLedger[dialect])).length === 0) return { kind: 'behind' }
  const executed = new Set((await rows<{ name: string }>(`select name from ${LEDGER}`)).map(({ name }) => name))
  const unknown = [...executed].find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) return { kind: 'newer', migration: unknown }
  return { kind: Object.keys(migrations).every((name) => executed.has(name)) ? 'current' : 'behind' }
}

/** Runs the pending migrations. Throws the first error. */
async function migrateToLatest(query: Kysely<EngineTables>): Promise<void> {
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({ db: query, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
