import type BetterSqlite from 'better-sqlite3'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import { openFile, placeOf } from './place.ts'
import type { Tables } from './tables.ts'

export * from './place.ts'

/** An open database. */
export interface Database {
  readonly url: string
  readonly dialect: 'sqlite' | 'postgres'
  readonly query: Kysely<Tables>
  readonly close: () => Promise<void>
}

/** A SQLite handle as a database. */
export function fromFile(url: string, file: BetterSqlite.Database): Database {
  const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database: file }) })
  return { url, dialect: 'sqlite', query, close: () => query.destroy() }
}

/** Type number of 64-bit integers (PostgreSQL, catalog `pg_type`). */
const INT8 = 20

/** A pool of at most `connections` connections as a database. Connects on first use. */
export async function fromPool(url: string, connections: number): Promise<Database> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    allowExitOnIdle: true,
    types: {
      // Whole numbers stay far below 2^53, and the driver would otherwise answer text for 64-bit ones.
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === INT8 ? Number : pg.types.getTypeParser(type, format ?? 'text'),
    },
  })
  // A connection that breaks while idle leaves the pool by itself; unheard, the event would end the process.
  pool.on('error', () => undefined)
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { url, dialect: 'postgres', query, close: () => query.destroy() }
}

/** Opens a database that was made ready before, without looking at its schema. */
export async function connect(url: string, options: { busy: number; connections: number }): Promise<Database> {
  const place = placeOf(url)
  if (place.dialect === 'postgres') return fromPool(url, options.connections)
  return fromFile(url, openFile(place.path, options.busy, place.maxPages))
}
