import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The key-value store of gateways without a shared one. */
export const keyValues: Migration = {
  async up(query: Kysely<unknown>) {
    // Of the two databases, only PostgreSQL can create tables in a transaction.
    const bytes = query.getExecutor().adapter.supportsTransactionalDdl ? 'bytea' : 'blob'
    await query.schema
      .createTable('key_values')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      // Last column: SQLite reads the columns before it without loading a long value.
      .addColumn('value', bytes, (column) => column.notNull())
      .execute()
    await query.schema.createIndex('key_values_expires_at').on('key_values').column('expires_at').execute()
  },
}
