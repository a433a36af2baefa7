import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which batches of rows were written, as long as one of them may be repeated. */
export const writtenBatches: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('written_batches')
      .addColumn('batch', 'text', (column) => column.notNull())
      .addColumn('part', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('written_batches_key', ['batch', 'part'])
      .execute()
  },
}
