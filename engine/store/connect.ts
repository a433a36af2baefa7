import { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import type * as kysely from 'kysely'
import { withWork } from './after-commit.ts'
import { asked, withMarks } from './availability.ts'
import { openFile, locationOf } from '../config/location.ts'
import type { EngineTables } from './tables.ts'

export * from '../config/location.ts'

/** An open database. */
export interface Database {
  readonly url: string
  readonly dialect: 'sqlite' | 'postgres'
  /** The query builder, loaded on first use: it is large, and most requests do not need it. */
  readonly query: kysely.Kysely<EngineTables>
  /** Runs an internal statement without parameters, without the query builder, and returns its rows. */
  readonly rows: <R>(statement: string) => Promise<readonly R[]>
  readonly close: () => Promise<void>
}

const require = createRequire(import.meta.url)

/** A query builder created on first use. */
class Lazy {
  readonly #dialect: (builder: typeof kysely) => kysely.Dialect
  #query: kysely.Kysely<EngineTables> | undefined

  constructor(dialect: (builder: typeof kysely) => kysely.Dialect) {
    this.#dialect = dialect
  }

  /** Whether it has been created. */
  get made(): boolean {
    return this.#query !== undefined
  }

  get query(): kysely.Kysely<EngineTables> {
    if (this.#query) return this.#query
    const builder = require('kysely') as typeof kysely
    return (this.#query = new builder.Kysely<EngineTables>({ dialect: this.#dialect(builder) }))
  }

  async destroy(): Promise<void> {
    await this.#query?.destroy()
  }
}

/**
 * SQLite with transactions that take the write lock at their start. Otherwise a transaction that has only read so far
 * fails at its first write if another process has written meanwhile.
 */
function immediateDialect(
  { CompiledQuery, SqliteDialect, SqliteDriver }: typeof kysely,
  file: BetterSqlite.Database,
): kysely.Dialect {
  class ImmediateDriver extends SqliteDriver {
    override async beginTransaction(connection: kysely.DatabaseConnection): Promise<void> {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'))
    }
  }
  class ImmediateDialect extends SqliteDialect {
    override createDriver(): kysely.Driver {
      return withMarks(withWork(new ImmediateDriver({ database: file })))
    }
  }
  return new ImmediateDialect({ database: file })
}

/** PostgreSQL with work after a commit. */
function pooledDialect({ PostgresDialect }: typeof kysely, pool: kysely.PostgresPool): kysely.Dialect {
  class PooledDialect extends PostgresDialect {
    override createDriver(): kysely.Driver {
      return withMarks(withWork(super.createDriver()))
    }
  }
  return new PooledDialect({ pool })
}

/** A SQLite handle as a database. */
export function fromFile(url: string, file: BetterSqlite.Database): Database {
  const lazy = new Lazy((builder) => immediateDialect(builder, file))
  return {
    url,
    dialect: 'sqlite',
    get query() {
      return lazy.query
    },
    rows: <R>(statement: string) =>
      asked(async () => {
        // During a transaction of the query builder, a direct statement would become part of it.
        if (lazy.made) return (await lazy.query.executeQuery<R>(rawQuery(statement))).rows
        const prepared = file.prepare(statement)
        if (prepared.reader) return prepared.all() as R[]
        prepared.run()
        return []
      }),
    close: async () => {
      await lazy.destroy()
      file.close()
    },
  }
}

function rawQuery(statement: string): kysely.CompiledQuery {
  return (require('kysely') as typeof kysely).CompiledQuery.raw(statement)
}

/** Type id of 64-bit integers (PostgreSQL, catalog `pg_type`). */
const INT8 = 20

/** Maximum milliseconds for a statement. */
const longest = 30_000

/**
 * A pool of at most `connections` connections as a database. Connects on first use.
 * @param limit maximum milliseconds for a statement; 0: unlimited
 */
export async function fromPool(url: string, connections: number, limit = longest): Promise<Database> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
    ...(limit > 0 ? { query_timeout: limit } : {}),
    allowExitOnIdle: true,
    types: {
      // All integers stay far below 2^53; by default the driver returns 64-bit integers as text.
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === INT8 ? Number : pg.types.getTypeParser(type, format ?? 'text'),
    },
  })
  // The pool itself removes a broken idle connection; without a listener, the event would end the process.
  pool.on('error', () => undefined)
  const lazy = new Lazy((builder) => pooledDialect(builder, pool))
  return {
    url,
    dialect: 'postgres',
    get query() {
      return lazy.query
    },
    rows: async (statement) => (await asked(() => pool.query(statement))).rows,
    close: async () => {
      await lazy.destroy()
      if (!pool.ended) await pool.end()
    },
  }
}

/** Uses a database without a time limit for statements, which may wait for locks of other processes. */
export async function withoutLimit<T>(database: Database, use: (database: Database) => Promise<T>): Promise<T> {
  if (database.dialect === 'sqlite') return use(database)
  const own = await fromPool(database.url, 1, 0)
  try {
    return await use(own)
  } finally {
    await own.close()
  }
}

/** Opens a database that was migrated before, without checking its schema. */
export async function connect(url: string, options: { busy: number; connections: number }): Promise<Database> {
  const place = locationOf(url)
  if (place.dialect === 'postgres') return fromPool(url, options.connections)
  return fromFile(url, openFile(place.path, options.busy, place.maxPages))
}
