import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The last versions of deleted records, after which records of the same names continue. */
export const deletedRecords: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('deleted_records')
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('deleted_records_key', ['type', 'name'])
      .execute()
  },
}
