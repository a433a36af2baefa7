import type { Kysely } from 'kysely'

/**
 * The row types of services' tables, by table name. A plugin adds its own by declaration merging: `declare module
 * 'sluice' { interface Tables { budgets: { key_id: string; spent: number } } }`.
 */
export interface Tables {}

/**
 * The query builder (https://kysely.dev) over the tables of all services, on SQLite or PostgreSQL. On SQLite a
 * transaction blocks all other statements, so inside of one nothing but the database may be awaited.
 */
export type TableQueries = Kysely<Tables>

/** For statements in which SQLite and PostgreSQL differ. */
export type SqlDialect = 'sqlite' | 'postgres'

/** A change of a service's tables. */
export interface ServiceMigration {
  /** Must never change after its release. */
  readonly name: string
  /**
   * Runs once per database, in a transaction. It must only add tables, columns or indexes, because older processes
   * keep using the schema they know. Table names begin with the service's name: `budgets`, `budgets_spend`.
   */
  up(queries: TableQueries, dialect: SqlDialect): Promise<void>
}

/** A column with sealed data. */
export interface SealedColumn {
  readonly table: keyof Tables
  /** The column that identifies a row. */
  readonly key: string
  readonly column: string
  /** The context with which a row is sealed. */
  context(key: string | number): string
}
