import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The API keys. It made the table of the request log, too, which is now the service's that writes it. */
export const keysAndRequests: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('api_keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('hint', 'text', (column) => column.notNull())
      .addColumn('models', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .execute()
  },
}
