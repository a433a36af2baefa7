import type { Kysely } from 'kysely'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf, openFile, placeOf } from './place.ts'
import { readLine } from './row-lines.ts'
import type { Shape, Stored } from './row-lines.ts'

/** What became of a batch. */
export interface Written {
  readonly written: number
  /** Rows that no database would take. */
  readonly dropped: number
  /** Why the last one of them was not taken. */
  readonly why?: string
}

/** Writes rows, each a line of `RowLines`, with a database handle of its own. Runs on the log's worker thread. */
export interface LogWriter {
  /** Resolves once every row is in the database or was dropped for its own fault; tries for as long as that takes. */
  write(rows: readonly string[], shapes: readonly Shape[]): Promise<Written>
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

  async function write(rows: readonly string[], shapes: readonly Shape[]): Promise<Written> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        target ??= await openTarget(url)
        await target.insert(rows.map(readLine), shapes)
        if (failing) report(undefined)
        failing = false
        return { written: rows.length, dropped: 0 }
      } catch (error) {
        const ofRow = isFaultOfRow(error)
        if (rows.length > 1 && (ofRow || isFaultOfTable(error))) return writeEach(rows, shapes)
        if (ofRow || (isFaultOfTable(error) && !waits(rows, shapes)))
          return { written: 0, dropped: rows.length, why: reasonOf(error) }
        if (!failing) report(reasonOf(error))
        failing = true
        await wait(pause)
      }
    }
  }

  async function writeEach(rows: readonly string[], shapes: readonly Shape[]): Promise<Written> {
    let total: Written = { written: 0, dropped: 0 }
    for (const row of rows) {
      const { written, dropped, ...why } = await write([row], shapes)
      total = { ...total, ...why, written: total.written + written, dropped: total.dropped + dropped }
    }
    return total
  }

  return { write, close: async () => target?.close() }
}

interface Row {
  readonly shape: number
  readonly values: readonly Stored[]
}

/** Where rows go. A batch that was interrupted comes again: rows that are there already are passed over. */
interface Target {
  insert(rows: readonly Row[], shapes: readonly Shape[]): Promise<void>
  close(): Promise<void>
}

function openTarget(url: string): Target | Promise<Target> {
  const place = placeOf(url)
  return place.dialect === 'sqlite' ? openSqlite(place.path, place.maxPages) : openPostgres(url)
}

/** Prepared statements: building the same one for every batch takes longer than SQLite takes to run it. */
function openSqlite(path: string, maxPages: number | undefined): Target {
  const file = openFile(path, BUSY, maxPages)
  const prepared = new Map<number, ReturnType<typeof file.prepare>>()
  const statementOf = (number: number, { table, columns }: Shape) => {
    const known = prepared.get(number)
    if (known) return known
    const names = columns.map(quoted).join()
    const places = columns.map(() => '?').join()
    const made = file.prepare(`insert into ${quoted(table)} (${names}) values (${places}) on conflict do nothing`)
    prepared.set(number, made)
    return made
  }
  const all = file.transaction((rows: readonly Row[], shapes: readonly Shape[]) => {
    for (const { shape, values } of rows) statementOf(shape, shapes[shape] as Shape).run(...values)
  })
  return {
    insert: async (rows, shapes) => all.immediate(rows, shapes),
    close: async () => void file.close(),
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The query builder is loaded for this alone: it is large, and SQLite needs none of it here. */
async function openPostgres(url: string): Promise<Target> {
  const { fromPool } = await import('./connect.ts')
  const { query, close } = await fromPool(url, 1)
  const anywhere = query as unknown as Kysely<Record<string, Record<string, Stored>>>
  return {
    insert: (rows, shapes) =>
      anywhere.transaction().execute(async (transaction) => {
        for (const [number, group] of Map.groupBy(rows, ({ shape }) => shape)) {
          const { table, columns } = shapes[number] as Shape
          await transaction
            .insertInto(table)
            .values(
              group.map(({ values }) => Object.fromEntries(columns.map((column, at) => [column, values[at] ?? null]))),
            )
            .onConflict((conflict) => conflict.doNothing())
            .execute()
        }
      }),
    close,
  }
}

/**
 * Whether an error is about the row itself, so that trying again is useless: constraints, sizes and bad values of SQLite,
 * classes 22, 23 and 54 of PostgreSQL, and values no driver can bind.
 */
function isFaultOfRow(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|(22|23|54)[0-9A-Z]{3}$)/.test(codeOf(error) ?? '')
}

/** Whether its table or a column of it is not there, or may not be written: class 42 of PostgreSQL. */
function isFaultOfTable(error: unknown): boolean {
  return /^(SQLITE_ERROR$|42[0-9A-Z]{3}$)/.test(codeOf(error) ?? '')
}

/** Rows of the request log are paid for: they wait until their table is back. A plugin's mistake must not hold them up. */
function waits(rows: readonly string[], shapes: readonly Shape[]): boolean {
  return rows.some((row) => shapes[readLine(row).shape]?.table === 'requests')
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return [codeOf(error), text].filter((word) => word !== undefined && word !== '').join(': ')
}
