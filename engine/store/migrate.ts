import type { Kysely } from 'kysely'
import type { Database } from './connect.ts'
import { migrations } from './migrations/index.ts'
import type { EngineTables } from './tables.ts'

/** The state of a database's schema for this version; `newer` names a migration that this version does not know. */
export type SchemaState =
  | { readonly kind: 'current' | 'behind' }
  | { readonly kind: 'newer'; readonly migration: string }

/** The table with the names of the migrations that ran. */
const LEDGER = 'kysely_migration'

const hasLedger = {
  sqlite: `select 1 from sqlite_master where type = 'table' and name = '${LEDGER}'`,
  postgres: `select 1 where to_regclass('${LEDGER}') is not null`,
}

/** Compares the migrations that ran in a database with those of this version. Only reads. */
export async function schemaState({ dialect, rows }: Pick<Database, 'dialect' | 'rows'>): Promise<SchemaState> {
  if ((await rows(hasLedger[dialect])).length === 0) return { kind: 'behind' }
  const executed = new Set((await rows<{ name: string }>(`select name from ${LEDGER}`)).map(({ name }) => name))
  const unknown = [...executed].find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) return { kind: 'newer', migration: unknown }
  return { kind: Object.keys(migrations).every((name) => executed.has(name)) ? 'current' : 'behind' }
}

/** Runs the pending migrations. Throws the first error. */
export async function migrateToLatest(query: Kysely<EngineTables>): Promise<void> {
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({ db: query, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
