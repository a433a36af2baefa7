import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which exchange of the request log another one was a part of. */
export const parents: Migration = {
  async up(query: Kysely<unknown>) {
    const { sql } = await import('kysely')
    await query.schema.alterTable('requests').addColumn('parent', 'text').execute()
    // Most rows have none.
    await query.schema
      .createIndex('requests_parent')
      .on('requests')
      .column('parent')
      .where(sql.ref('parent'), 'is not', null)
      .execute()
  },
}
