import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import { wordsOfThrown } from '../config/plugin-error.ts'
import type { ServiceMigration, TableQueries } from '../spec/database.ts'
import { withoutLimit } from './connect.ts'
import type { Database } from './connect.ts'
import { codeOf } from '../config/location.ts'
import type { EngineTables } from './tables.ts'

/** A component with its own tables. */
export interface Migrated {
  readonly name: string
  readonly migrations: readonly ServiceMigration[]
}

/** Milliseconds between two attempts while another process holds SQLite's lock, and for all attempts together. */
const PAUSE = 100
const LONGEST = 60_000

/** Milliseconds after which a running migration is logged. */
const SLOW = 5_000

/** A migration that cannot be completed. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  /** The code of its cause: it decides whether the migration is retried. */
  readonly code: string | undefined

  constructor(migration: ServiceMigration, problem: string, cause?: unknown) {
    super(`the migration "${migration.name}" ${problem}`, { cause })
    this.code = codeOf(cause)
  }
}

/**
 * Migrates the tables of a service. Each pending migration runs in a transaction of its own. The query builder is
 * loaded only if one is pending. Rejects with the first error.
 */
export async function migrateService(database: Database, service: Migrated, log: Pick<Logger, 'warn'>): Promise<void> {
  if (service.migrations.length === 0) return
  const journal = await database.rows<Entry>('select service, name from service_migrations')
  const seen = new Set(journal.filter((entry) => entry.service === service.name).map(({ name }) => name))
  const unseen = service.migrations.filter(({ name }) => !seen.has(name))
  if (unseen.length === 0) return
  await withoutLimit(database, async (own) => {
    for (const migration of unseen) {
      const facts = { service: service.name, migration: migration.name }
      const late = () => log.warn(facts, 'a migration is still running; it may be waiting for another process')
      const slow = setTimeout(late, SLOW)
      await run(own, service, migration).finally(() => clearTimeout(slow))
    }
  })
}

/** Whether a table belongs to a service, by its name. */
export function isTableOf(service: string, table: string): boolean {
  return table === service || table.startsWith(`${service}_`)
}

type Entry = Pick<EngineTables['service_migrations'], 'service' | 'name'>

async function run(database: Database, service: Migrated, migration: ServiceMigration): Promise<void> {
  for (let waited = 0; ; waited += PAUSE)
    try {
      await database.query.transaction().execute((transaction) => migrate(transaction, database, service, migration))
      return
    } catch (error) {
      if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true || waited >= LONGEST) throw error
      await wait(PAUSE)
    }
}

async function migrate(
  transaction: Transaction<EngineTables>,
  { dialect }: Database,
  service: Migrated,
  migration: ServiceMigration,
): Promise<void> {
  // This insert waits for another process that runs the same migration; then there is nothing left to do.
  const entry = { service: service.name, name: migration.name, at: Date.now() }
  const [made] = await transaction
    .insertInto('service_migrations')
    .values(entry)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  if (made?.numInsertedOrUpdatedRows !== 1n) return
  const before = new Set(await tablesOf(transaction))
  try {
    await migration.up(transaction as unknown as TableQueries, dialect)
  } catch (error) {
    throw new MigrationError(migration, `failed: ${wordsOfThrown(error)}`, error)
  }
  const touched = dialect === 'sqlite' ? await tablesOf(transaction) : await touchedTables(transaction)
  const strange = touched.find((table) => !before.has(table) && !isTableOf(service.name, table))
  if (strange === undefined) return
  throw new MigrationError(
    migration,
    `makes the table "${strange}"; the name of a table of the service begins with "${service.name}"`,
  )
}

/**
 * Tables that a transaction on PostgreSQL has created or changed. A list of all tables would include those of
 * concurrent transactions.
 */
async function touchedTables(transaction: Transaction<EngineTables>): Promise<string[]> {
  const { sql } = await import('kysely')
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and relpersistence <> 't'
      and xmin::text::bigint = txid_current() & 4294967295`.execute(transaction)
  return rows.map(({ name }) => name)
}

async function tablesOf(transaction: Transaction<EngineTables>): Promise<string[]> {
  return (await transaction.introspection.getTables()).map((table) => table.name)
}
