import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    limits_ledger: LedgerTable
    limits_sums: SumsTable
    limits_resets: ResetsTable
    limits_overruns: OverrunsTable
  }
}

/** What one exchange cost. A row lasts an hour: until then, its exchange cannot be charged again. */
export interface LedgerTable {
  /** Id of the exchange. */
  id: string
  /** When its money was reserved, otherwise when it began, in milliseconds since 1970. */
  at: number
  key_id: string | null
  member_id: string | null
  /** In micro-USD. */
  micros: number
  /** The model that answered, and how many tenths of its estimate that cost (10 to 100); null: nobody knows. */
  model: string | null
  overrun: number | null
}

/** How many requests cost so many tenths of their estimates. */
export interface OverrunsTable {
  model: string
  /** Empty: none. */
  key_id: string
  /** Periods of five minutes since 1970. */
  slot: number
  /** Tenths of the estimate, from 10 to 100. */
  overrun: number
  count: number
}

/** What a bucket has spent on a day (UTC), since its last reset. */
export interface SumsTable {
  bucket: string
  /** Days since 1970. */
  day: number
  micros: number
}

/** The last reset of a bucket. */
export interface ResetsTable {
  bucket: string
  at: number
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-ledger',
    async up(queries) {
      await queries.schema
        .createTable('limits_ledger')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('key_id', 'text')
        .addColumn('member_id', 'text')
        .addColumn('micros', 'bigint', (column) => column.notNull())
        .execute()
      await queries.schema.createIndex('limits_ledger_at').on('limits_ledger').column('at').execute()
      await queries.schema
        .createTable('limits_sums')
        .addColumn('bucket', 'text', (column) => column.notNull())
        .addColumn('day', 'integer', (column) => column.notNull())
        .addColumn('micros', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('limits_sums_primary', ['bucket', 'day'])
        .execute()
      await queries.schema
        .createTable('limits_resets')
        .addColumn('bucket', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
  {
    name: '2-overruns',
    async up(queries) {
      await queries.schema.alterTable('limits_ledger').addColumn('model', 'text').execute()
      await queries.schema.alterTable('limits_ledger').addColumn('overrun', 'integer').execute()
      await queries.schema
        .createTable('limits_overruns')
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('slot', 'integer', (column) => column.notNull())
        .addColumn('overrun', 'integer', (column) => column.notNull())
        .addColumn('count', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('limits_overruns_primary', ['slot', 'model', 'key_id', 'overrun'])
        .execute()
    },
  },
]
