import type { Redis } from 'ioredis'
import type { Insertable } from 'kysely'
import type { SqlDialect, TableQueries, Tables } from './database.ts'
import type { Host } from './host.ts'
import type { Json } from './json.ts'
import type { RunningState } from './running.ts'

/**
 * The gateway's interface for a service that is being opened. It has nothing of a configuration, because the service
 * outlives configurations.
 */
export interface ServiceHost extends Pick<
  Host,
  'log' | 'scrub' | 'byteBudget' | 'keyValue' | 'jobs' | 'seal' | 'unseal' | 'work' | 'warm' | 'version'
> {
  /** The configured database. The query builder is large, so it is loaded on first use. */
  readonly database: TableQueries
  readonly dialect: SqlDialect
  /**
   * Queues work for the moment when a transaction of `database` is committed; after a rollback it never runs. The
   * promise of the transaction resolves after the work. An error of the work is logged. The work must not wait for a
   * query, because the connection is still in use. Rejects outside a transaction.
   */
  afterCommit(transaction: TableQueries, work: () => void | Promise<void>): Promise<void>
  /**
   * Opens a connection of the service's own to the configured key-value store (Redis 7 or later); absent: none is
   * configured. Resolves even if the store is away: the connection then tries again on its own. A command fails after 3
   * seconds, and at once while there is no connection; it is never sent twice. The service closes the connection. Its
   * keys begin with `sluice:` and the name of the service.
   */
  connectRedis?: () => Promise<Redis>
  /** The process that has started this one; absent in a process that serves alone. */
  readonly firstProcess?: FirstProcess
  /** The variables of the environment that the gateway was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The names of what is degraded, and why newer files of the configuration were refused. */
  readonly state: () => { readonly degraded: readonly string[]; readonly refused?: RunningState['refused'] | undefined }
  /** Absolute path of the folder for the gateway's own files: the folder of the SQLite file; otherwise `data`. */
  readonly folder: string
  /**
   * Runs a statement without parameters, without loading the query builder, and returns its rows. It is not part of
   * any transaction; on SQLite it waits for the running one.
   */
  rows<R>(statement: string): Promise<readonly R[]>
  /**
   * Queues a row of texts, numbers and nulls for the thread that writes rows in bulk; never waits. A killed process
   * loses the rows of the last 100 ms; a full queue drops its oldest rows. A row that violates a constraint is
   * dropped; one that already exists is skipped. Throws when the table is not the service's own.
   */
  append<T extends keyof Tables>(table: T, row: Insertable<Tables[T]>): void
  /** An appender of rows to a table, with counters of lost rows. Throws when the table is not the service's own. */
  appender<T extends keyof Tables>(table: T, options?: AppenderOptions): Appender<Insertable<Tables[T]>>
  /**
   * A key of 32 bytes for the purpose that `info` names, the same in every process and after every start. Derived from
   * the master secret by HKDF-SHA-256 (RFC 5869) without salt. Another purpose gets another key, of which this one
   * reveals nothing.
   */
  deriveKey(info: string): Buffer
  /** Where the master secret stands: `SLUICE_SECRET`, or a file beside the database. */
  readonly masterSecret: 'environment' | 'file'
  /**
   * Keeps a thread of the worker pool running that has these modules loaded, until the returned function is called: no
   * task waits because a thread has yet to start. A thread that died is replaced at once.
   */
  keepLoaded(modules: readonly URL[]): () => void
  /**
   * Checks at once whether the clients of open sockets are still authorized, instead of at the next periodic check.
   * To be called after access was revoked.
   */
  recheck(): void
}

/** The first of several processes of a gateway. It serves nothing, and lives as long as the gateway. */
export interface FirstProcess {
  /**
   * Asks a module in that process, where it is loaded once, without configuration and stores. Its default export gets
   * the question and the number of the process that asks; its export `left`, if there is one, the number of a process
   * that has ended. Rejects when it throws, or does not answer in time.
   * @param limit milliseconds; default: 10 seconds
   */
  ask(module: URL, question: Json, limit?: number): Promise<Json | undefined>
  /**
   * Sends to such a module what `read` gives, as a question, now and every second. What a process that has ended sent
   * last is for the module to keep. When `read` throws there is no report, so it tells its errors itself. Returns a function that sends it a last time, to be called when the service closes;
   * it resolves when the module has it, and after a second at the latest.
   */
  report(module: URL, read: () => Json): () => Promise<void>
}

export interface AppenderOptions {
  /** Rows wait while their table is missing, as while a backup is restored; otherwise they are dropped. */
  readonly waits?: boolean
  /**
   * SQL statements that run after every batch of rows, in the transaction that writes it. In a statement, `added` is a
   * table of the rows that the batch has added: `insert into sums select … from added group by … order by … on conflict
   * (…) do update set …`. A row that is sent twice is added once, so sums count every row once, whatever is killed. On
   * PostgreSQL, several processes write at a time: statements that lock rows in one order (`order by`) do not deadlock.
   * A statement `with` a column runs only if a row of the batch has a value there.
   */
  readonly sums?: readonly (string | { readonly with: string; readonly sum: string })[]
}

/** Queues rows of a table for the thread that writes rows in bulk. */
export interface Appender<R> {
  /** Never waits, never throws. */
  append(row: R): void
  readonly counters: RowCounters
}

/** Counters of the rows that this process has appended to a table. */
export interface RowCounters {
  readonly written: number
  /** Rows lost because the queue was full or no database accepted them. */
  readonly dropped: number
  readonly pending: number
  /** Why rows cannot be written at present. */
  readonly failing: string | undefined
}
