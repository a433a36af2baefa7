import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    resilience_processes: ProcessesTable
    resilience_resets: ResetsTable
  }
}

/** What a process last told the others about its breakers. */
export interface ProcessesTable {
  id: string
  /** When it told it, in milliseconds since 1970. */
  seen_at: number
  /** Base64 of JSON (`Told`). */
  state: string
}

/** A reset of breakers, for every process. */
export interface ResetsTable {
  id: string
  /** Milliseconds since 1970. */
  at: number
  /** Null: of all providers. */
  provider: string | null
  /** Null: of all models. */
  model: string | null
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-processes',
    async up(queries) {
      await queries.schema
        .createTable('resilience_processes')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .execute()
      await queries.schema
        .createTable('resilience_resets')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('provider', 'text')
        .addColumn('model', 'text')
        .execute()
    },
  },
]
