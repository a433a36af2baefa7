import BetterSqlite from 'better-sqlite3'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import type { Tables } from './tables.ts'

/** An open database. */
export interface Database {
  readonly url: string
  readonly dialect: 'sqlite' | 'postgres'
  readonly query: Kysely<Tables>
  readonly close: () => Promise<void>
}

/** Why the gateway does not start: one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Where a database is, as its URL says. */
export type Place =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly maxPages?: number }
  | { readonly dialect: 'postgres'; readonly url: string; readonly where: string }

const SQLITE = /^sqlite:(?<path>(?!\/\/|:)[^?]+)(?:\?max_page_count=(?<pages>[1-9]\d*))?$/

/**
 * Reads a database URL: `sqlite:<path>`, with `?max_page_count=<pages>` to bound the file, or `postgres://…`.
 * Throws a `StartError` for anything else; the text never holds a password.
 */
export function placeOf(url: string): Place {
  const file = SQLITE.exec(url)?.groups
  if (file?.['path'] !== undefined) {
    const pages = file['pages']
    return { dialect: 'sqlite', path: file['path'], ...(pages === undefined ? {} : { maxPages: Number(pages) }) }
  }
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    const { hostname, port, pathname } = new URL(url)
    return { dialect: 'postgres', url, where: `${hostname}:${port || '5432'}${pathname}` }
  }
  throw new StartError('database.url must be sqlite:<path> or postgres://<user>:<password>@<host>:<port>/<name>')
}

/** Opens a SQLite file for writing. `busy` is how long, in milliseconds, a query blocks its thread for another's lock. */
export function openFile(path: string, busy: number, maxPages?: number): BetterSqlite.Database {
  const file = new BetterSqlite(path, { timeout: busy })
  try {
    file.pragma('journal_mode = WAL')
    file.pragma('synchronous = NORMAL')
    if (maxPages !== undefined) file.pragma(`max_page_count = ${maxPages}`)
    return file
  } catch (error) {
    file.close()
    throw error
  }
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

/** The code an error of Node, SQLite or PostgreSQL carries. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
