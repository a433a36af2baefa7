import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    api_keys: ApiKeysTable
  }
}

/** An API key of the database. Times in milliseconds since 1970. */
export interface ApiKeysTable {
  id: string
  name: string
  /** SHA-256 of the key's text, in hex. */
  hash: string
  /** The last four characters of the key's text. */
  hint: string
  /** JSON list of the models that the key may use; null: all. */
  models: string | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-keys',
    // In databases of the first versions, the engine created the table.
    async up(queries) {
      await queries.schema
        .createTable('api_keys')
        .ifNotExists()
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
  },
]
