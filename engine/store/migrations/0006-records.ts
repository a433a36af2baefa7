import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Records that are not declared in a file, and the number of their changes so far. */
export const records: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('records')
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('sealed', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('records_key', ['type', 'name'])
      .execute()
    await query.schema
      .createTable('record_revision')
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .execute()
    await query
      .insertInto('record_revision' as never)
      .values({ revision: 0 })
      .execute()
  },
}
