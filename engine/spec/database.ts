import type { Kysely } from 'kysely'

/**
 * The tables of services, by name: what a row of each holds. A plugin adds its own by declaration merging:
 * `declare module 'sluice' { interface Tables { budgets: { key_id: string; spent: number } } }`.
 */
export interface Tables {}

/**
 * The query builder (https://kysely.dev) over the tables of every service, on SQLite or PostgreSQL. On SQLite a
 * transaction holds up everybody else's statements: nothing but the database may be waited for inside of one.
 */
export type TableQueries = Kysely<Tables>

/** What SQLite and PostgreSQL call what they store differently. */
export type SqlDialect = 'sqlite' | 'postgres'

/** A change of a service's tables. */
export interface ServiceMigration {
  /** Once it was released, it never changes. */
  readonly name: string
  /**
   * Runs once in a database, in a transaction. It only adds: older processes go on with the tables that they know. The
   * names of tables begin with the service's name: `budgets`, `budgets_spend`.
   */
  up(queries: TableQueries, dialect: SqlDialect): Promise<void>
}
