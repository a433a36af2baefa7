import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The API keys and the request log. */
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
    await query.schema
      .createTable('requests')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text')
      .addColumn('requested', 'text')
      .addColumn('model', 'text')
      .addColumn('provider', 'text')
      .addColumn('protocol', 'text')
      .addColumn('upstream_protocol', 'text')
      .addColumn('stream', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('result', 'text', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint')
      .addColumn('cache_read_tokens', 'bigint')
      .addColumn('cache_write_tokens', 'bigint')
      .addColumn('output_tokens', 'bigint')
      .addColumn('reasoning_tokens', 'bigint')
      .addColumn('cost_micros', 'bigint')
      .addColumn('first_byte', 'bigint')
      .addColumn('duration', 'bigint', (column) => column.notNull())
      .addColumn('reference', 'text')
      .addColumn('metadata', 'text', (column) => column.notNull())
      .execute()
    await query.schema.createIndex('requests_at').on('requests').column('at').execute()
    await query.schema.createIndex('requests_key_id_at').on('requests').columns(['key_id', 'at']).execute()
  },
}
