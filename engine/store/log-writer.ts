import { setTimeout as wait } from 'node:timers/promises'
import { columns, storedOf } from './log-columns.ts'
import { codeOf, openFile, placeOf } from './place.ts'
import type { RequestsTable } from './tables.ts'

/** What became of a batch. */
export interface Written {
  readonly written: number
  /** Rows that no database would take. */
  readonly dropped: number
}

/** Writes rows of the request log, each a line of `lineOf`, with a database handle of its own. Runs on the log's worker thread. */
export interface LogWriter {
  /** Resolves once every row is in the database or was dropped for its own fault; tries for as long as that takes. */
  write(rows: readonly string[]): Promise<Written>
  close(): Promise<void>
}

/** Milliseconds a statement waits for another process's lock; only this thread stands still. */
const BUSY = 5_000

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 2_000

/** Opens the writer; the database itself at the first row. `report` hears why writing fails, and undefined when it works again. */
export function openLogWriter(url: string, report: (failing: string | undefined) => void): LogWriter {
  let target: Target | undefined
  let failing = false

  async function insert(rows: readonly string[]): Promise<void> {
    target ??= await openTarget(url)
    await target.insert(rows)
  }

  async function write(rows: readonly string[]): Promise<Written> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        await insert(rows)
        if (failing) report(undefined)
        failing = false
        return { written: rows.length, dropped: 0 }
      } catch (error) {
        if (isFaultOfRow(error)) return rows.length === 1 ? { written: 0, dropped: 1 } : await writeEach(rows)
        if (!failing) report(reasonOf(error))
        failing = true
        await wait(pause)
      }
    }
  }

  async function writeEach(rows: readonly string[]): Promise<Written> {
    const total = { written: 0, dropped: 0 }
    for (const row of rows) {
      const { written, dropped } = await write([row])
      total.written += written
      total.dropped += dropped
    }
    return total
  }

  return { write, close: async () => target?.close() }
}

/** Where rows go. A batch that was interrupted comes again: rows that are there already are passed over. */
interface Target {
  insert(rows: readonly string[]): Promise<void>
  close(): Promise<void>
}

function openTarget(url: string): Target | Promise<Target> {
  const place = placeOf(url)
  return place.dialect === 'sqlite' ? openSqlite(place.path, place.maxPages) : openPostgres(url)
}

/** One prepared statement: building the same one for every batch takes longer than SQLite takes to run it. */
function openSqlite(path: string, maxPages: number | undefined): Target {
  const file = openFile(path, BUSY, maxPages)
  const places = columns.map(() => '?')
  const statement = file.prepare(
    `insert into requests (${columns.join()}) values (${places.join()}) on conflict (id) do nothing`,
  )
  const all = file.transaction((rows: readonly string[]) => {
    // One by one: out of an array the driver would fetch each of them again.
    for (const row of rows) statement.run(...storedOf(row))
  })
  return {
    insert: async (rows) => all.immediate(rows),
    close: async () => void file.close(),
  }
}

/** The query builder is loaded for this alone: it is large, and SQLite needs none of it here. */
async function openPostgres(url: string): Promise<Target> {
  const { fromPool } = await import('./connect.ts')
  const { query, close } = await fromPool(url, 1)
  return {
    insert: (rows) =>
      query.transaction().execute(async (transaction) => {
        const values = rows.map(recordOf)
        await transaction
          .insertInto('requests')
          .values(values)
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute()
      }),
    close,
  }
}

function recordOf(line: string): RequestsTable {
  const own = storedOf(line)
  return Object.fromEntries(columns.map((column, index) => [column, own[index]])) as unknown as RequestsTable
}

/**
 * Whether an error is about the row itself, so that trying again is useless: constraints, sizes and bad values of SQLite,
 * classes 22, 23 and 54 of PostgreSQL, and values no driver can bind.
 */
function isFaultOfRow(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|(22|23|54)[0-9A-Z]{3}$)/.test(codeOf(error) ?? '')
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return [codeOf(error), text].filter((word) => word !== undefined && word !== '').join(': ')
}
