import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration'
import { migrations } from './migrations/index.ts'
import type { Tables } from './tables.ts'

/** How a database's schema stands to this version's: `newer` names a migration this version does not know. */
export type SchemaState =
  | { readonly kind: 'current' | 'behind' }
  | { readonly kind: 'newer'; readonly migration: string }

/** Compares the migrations a database has seen with those of this version. Reads only. */
export async function schemaState(query: Kysely<Tables>): Promise<SchemaState> {
  const tables = await query.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return { kind: 'behind' }
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(query)
  const executed = new Set(rows.map((row) => row.name))
  const unknown = [...executed].find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) return { kind: 'newer', migration: unknown }
  return { kind: Object.keys(migrations).every((name) => executed.has(name)) ? 'current' : 'behind' }
}

/** Runs the migrations a database has not seen. Throws the first one's error. */
export async function migrateToLatest(query: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db: query, provider: { getMigrations: () => Promise.resolve({ ...migrations }) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
