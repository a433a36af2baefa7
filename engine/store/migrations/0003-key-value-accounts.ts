import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The accounts of values in the key-value store. */
export const keyValueAccounts: Migration = {
  async up(query: Kysely<unknown>) {
    const { sql } = await import('kysely')
    await query.schema.alterTable('key_values').addColumn('account', 'text').execute()
    await query.schema
      .alterTable('key_values')
      .addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    // The index covers all columns of the sum.
    await query.schema
      .createIndex('key_values_account')
      .on('key_values')
      .columns(['account', 'expires_at', 'bytes'])
      .where(sql.ref('account'), 'is not', null)
      .execute()
  },
}
