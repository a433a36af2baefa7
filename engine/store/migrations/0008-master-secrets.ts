import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The master secrets that were ever used, once there was a rotation. */
export const masterSecrets: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('master_secrets')
      .addColumn('mark', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('sealed', 'text')
      .execute()
  },
}
