import type { Kysely } from 'kysely'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf, openFile, locationOf } from './location.ts'
import { readLine } from './row-lines.ts'
import type { Columns, Stored } from './row-lines.ts'

/** The result of a batch. */
export interface Written {
  readonly written: number
  /** Rows that the database refused. */
  readonly dropped: number
  /** The reason of the last refusal. */
  readonly why?: string
}

/** Rows of one table. */
export interface Batch {
  readonly table: string
  /** The column lists to which the numbers in its lines refer. */
  readonly columns: readonly Columns[]
  /** Lines of `RowLines`, joined by line breaks. */
  readonly rows: string
  /** Whether they wait while their table is missing. */
  readonly waits: boolean
  /** Statements that run after the rows, in the same transaction; see `ServiceHost.appender`. */
  readonly sums: readonly string[]
}

/** Writes rows with its own database handle, on a worker thread. */
export interface RowWriter {
  /** Resolves once every row is in the database or was dropped because of its content; retries as long as necessary. */
  write(batch: Batch): Promise<Written>
  close(): Promise<void>
}

/** Milliseconds that a statement waits for another process's lock; only this thread is blocked. */
const BUSY = 5_000

/**
 * Connections to PostgreSQL, each for one table at a time, and milliseconds after which a statement stops waiting for a
 * lock: more locked tables than connections still leave room for the others.
 */
const CONNECTIONS = 4
const LOCKED = 1_000

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 2_000

/**
 * Opens the writer; the database is opened with the first row. `report` is called with the reason when rows cannot be
 * written yet.
 */
export function openRowWriter(url: string, report: (table: string, failing: string) => void): RowWriter {
  let target: Promise<Target> | undefined
  const opened = async () => {
    target ??= openTarget(url)
    try {
      return await target
    } catch (error) {
      target = undefined
      throw error
    }
  }

  async function write(batch: Batch, rows: readonly Row[]): Promise<Written> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        await (await opened()).insert(batch, rows)
        return { written: rows.length, dropped: 0 }
      } catch (error) {
        const ofRow = isFaultOfRow(error)
        const ofTable = isFaultOfTable(error)
        if (rows.length > 1 && (ofRow || ofTable)) return writeEach(batch, rows)
        if (ofRow || (ofTable && !batch.waits)) return { written: 0, dropped: rows.length, why: reasonOf(error) }
        report(batch.table, reasonOf(error))
        await wait(pause)
      }
    }
  }

  async function writeEach(batch: Batch, rows: readonly Row[]): Promise<Written> {
    let total: Written = { written: 0, dropped: 0 }
    for (const row of rows) {
      const { written, dropped, ...why } = await write(batch, [row])
      total = { ...total, ...why, written: total.written + written, dropped: total.dropped + dropped }
    }
    return total
  }

  return {
    write: (batch) => write(batch, batch.rows.split('\n').map(readLine)),
    close: async () => (await target)?.close(),
  }
}

type Row = ReturnType<typeof readLine>

/** The destination of rows. A batch may be repeated after an interruption: existing rows are skipped. */
interface Target {
  insert(batch: Batch, rows: readonly Row[]): Promise<void>
  close(): Promise<void>
}

async function openTarget(url: string): Promise<Target> {
  const place = locationOf(url)
  return place.dialect === 'sqlite' ? openSqlite(place.path, place.maxPages) : openPostgres(url)
}

/** Uses prepared statements: building the statement for every batch would take longer than running it. */
function openSqlite(path: string, maxPages: number | undefined): Target {
  const file = openFile(path, BUSY, maxPages)
  const prepared = new Map<string, ReturnType<typeof file.prepare>>()
  const prepare = (text: string) => {
    const made = prepared.get(text) ?? file.prepare(text)
    prepared.set(text, made)
    return made
  }
  const insertion = (table: string, columns: Columns) =>
    prepare(
      `insert into ${quoted(table)} (${columns.map(quoted).join()}) values (${columns.map(() => '?').join()}) on conflict do nothing`,
    )
  const lastOf = (table: string) =>
    prepare(`select coalesce(max(rowid), 0) from ${quoted(table)}`)
      .pluck()
      .get()
  const all = file.transaction(({ table, columns, sums }: Batch, rows: readonly Row[]) => {
    const last = sums.length === 0 ? 0 : lastOf(table)
    const statements: ReturnType<typeof prepare>[] = []
    for (const { columns: number, values } of rows)
      (statements[number] ??= insertion(table, columns[number] as Columns)).run(...values)
    // The rows of this transaction are the only ones after the last one of before.
    const added = `with added as (select * from ${quoted(table)} where rowid > ?)`
    for (const sum of sums) prepare(`${added} ${sum}`).run(last)
  })
  return {
    insert: async (batch, rows) => all.immediate(batch, rows),
    close: async () => void file.close(),
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Loads the query builder, which is large and not needed for SQLite. */
async function openPostgres(url: string): Promise<Target> {
  const { fromPool } = await import('./connect.ts')
  const { sql } = await import('kysely')
  const { query, close } = await fromPool(url, CONNECTIONS)
  const lockTimeout = sql.raw(`set local lock_timeout = ${LOCKED}`)
  const anywhere = query as unknown as Kysely<Record<string, Record<string, Stored>>>
  const placed = sql<string>`ctid::text`.as('place')
  return {
    insert: ({ table, columns: all, sums }, rows) =>
      anywhere.transaction().execute(async (transaction) => {
        await lockTimeout.execute(transaction)
        const places: string[] = []
        for (const [number, group] of Map.groupBy(rows, (row) => row.columns)) {
          const columns = all[number] as Columns
          const named = group.map(({ values }) =>
            Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null])),
          )
          const insertion = transaction
            .insertInto(table)
            .values(named)
            .onConflict((conflict) => conflict.doNothing())
          if (sums.length === 0) await insertion.execute()
          else for (const { place } of await insertion.returning(placed).execute()) places.push(place)
        }
        const added = sql`with added as (select * from ${sql.table(table)} where ctid = any(${places}::tid[]))`
        for (const sum of sums) await sql`${added} ${sql.raw(sum)}`.execute(transaction)
      }),
    close,
  }
}

/**
 * Whether an error is caused by the row itself, so that a retry is useless: constraints, sizes and bad values in
 * SQLite, classes 22, 23 and 54 in PostgreSQL, and values that a driver cannot bind.
 */
function isFaultOfRow(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|(22|23|54)[0-9A-Z]{3}$)/.test(codeOf(error) ?? '')
}

/** Whether a table or column is missing or not writable: class 42 in PostgreSQL. */
function isFaultOfTable(error: unknown): boolean {
  return /^(SQLITE_ERROR$|42[0-9A-Z]{3}$)/.test(codeOf(error) ?? '')
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return [codeOf(error), text].filter((word) => word !== undefined && word !== '').join(': ')
}
