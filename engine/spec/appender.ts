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
