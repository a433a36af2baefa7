import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What the gateway notes about a stored record, which is not part of its value. */
export const recordNotes: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema.alterTable('records').addColumn('notes', 'text').execute()
  },
}
