import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The migrations of services that ran in a database. */
export const serviceMigrations: Migration = {
  async up(query: Kysely<unknown>) {
    await query.schema
      .createTable('service_migrations')
      .addColumn('service', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('service_migrations_key', ['service', 'name'])
      .execute()
  },
}
