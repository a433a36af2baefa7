import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What the gateway notes about a stored record, which is not part of its value, and who changed it last. */
export const recordNotes: Migration = {
  async up(query: Kysely<unknown>) {
    for (const name of ['notes', 'updated_by'])
      await query.schema.alterTable('records').addColumn(name, 'text').execute()
  },
}
