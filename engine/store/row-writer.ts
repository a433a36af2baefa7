import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf, openFile, locationOf } from '../config/location.ts'
import { RowSpill, spilledTables } from './row-spill.ts'
import type { Spilled } from './row-spill.ts'
import { readLine } from './row-lines.ts'
import type { Columns } from './row-lines.ts'
import type { AppenderOptions } from '../spec/service-host.ts'

/** What became of rows. */
export interface Written {
  readonly written: number
  /** Rows that the database refused. */
  readonly dropped: number
  /** The reason of the last refusal. */
  readonly why?: string
  /** Rows that are in a file until the database takes them. */
  readonly spilled?: number
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
  readonly sums: NonNullable<AppenderOptions['sums']>
}

/** Writes rows with its own database handle, on a worker thread. */
export interface RowWriter {
  /**
   * Resolves once every row is in the database, was dropped because of its content, or is in a file. Without a folder
   * for files, retries as long as necessary. A batch without rows has those in files written.
   */
  write(batch: Batch): Promise<Written>
  close(): Promise<void>
}

export interface RowWriterOptions {
  /** Of a database that `openDatabase` has migrated; it is opened with the first row. */
  readonly url: string
  /** The folder for rows that the database does not take in time. */
  readonly spill?: string | undefined
  /** Identifies this process to others. */
  readonly process: string
  /** Called with the reason when rows cannot be written yet. */
  readonly report: (table: string, failing: string) => void
  /** Called when rows from a file are in the database or were dropped. `own`: this process has spilled them. */
  readonly recovered: (table: string, written: Written, own: boolean) => void
}

/** Milliseconds that a statement waits for another process's lock; only this thread is blocked. */
const BUSY = 250

/** Milliseconds after which a batch that is not in the database goes to a file, too. */
const PATIENCE = 350

/**
 * Connections to PostgreSQL, each for one table at a time, and milliseconds after which a statement stops waiting for a
 * lock: more locked tables than connections still leave room for the others.
 */
const CONNECTIONS = 4
const LOCKED = 1_000

/** Milliseconds after which the name of a batch is forgotten: a file that waited longer is not of a process that comes back. */
const REMEMBERED = 30 * 24 * 3_600_000

const FIRST_PAUSE = 100
const LONGEST_PAUSE = 2_000

/** Opens the writer. */
export function openRowWriter({ url, spill: folder, process, report, recovered }: RowWriterOptions): RowWriter {
  const spill = folder === undefined ? undefined : new RowSpill(folder, process)
  const run = randomUUID()
  let batches = 0
  /** Names of batches of which nothing is repeated any more. */
  const done: string[] = []
  let target: Promise<Target> | undefined
  /** Tables of which a batch waits for the database. Later ones go to a file at once. */
  const stuck = new Set<string>()
  /** Tables of which files are being read. */
  const reading = new Set<string>()

  const opened = async () => {
    target ??= openTarget(url).then(sweep)
    try {
      return await target
    } catch (error) {
      target = undefined
      throw error
    }
  }

  /** Forgets what processes that were killed have left. Files may repeat their batches, whatever their age. */
  async function sweep(open: Target): Promise<Target> {
    if (folder === undefined || spilledTables(folder).length === 0)
      await open.sweep(Date.now() - REMEMBERED).catch((error: unknown) => report('written_batches', reasonOf(error)))
    return open
  }

  async function close(): Promise<void> {
    const open = await target
    // Whoever starts next sweeps what cannot be deleted now.
    await open?.forget(done).catch(() => undefined)
    await open?.close()
  }

  /** Retries as long as necessary. The name is kept with the rows: nothing is written twice under it. */
  async function insist(batch: Batch, rows: readonly Row[], name: Name): Promise<Written> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      const past = done.splice(0)
      try {
        await (await opened()).insert(batch, rows, name, past)
        return { written: rows.length, dropped: 0 }
      } catch (error) {
        done.push(...past)
        const ofRow = isFaultOfRow(error)
        const ofTable = isFaultOfTable(error)
        if (rows.length > 1 && (ofRow || ofTable)) return insistOnHalves(batch, rows, name)
        if (ofRow || (ofTable && !batch.waits)) return { written: 0, dropped: rows.length, why: reasonOf(error) }
        report(batch.table, reasonOf(error))
        spill?.touch(batch.table)
        await wait(pause)
      }
    }
  }

  /** Finds the rows that are at fault, without a transaction for each of the others. */
  async function insistOnHalves(batch: Batch, rows: readonly Row[], { id, part }: Name): Promise<Written> {
    const middle = Math.floor(rows.length / 2)
    const first = 2 * (part || WHOLE)
    const one = await insist(batch, rows.slice(0, middle), { id, part: first })
    const other = await insist(batch, rows.slice(middle), { id, part: first + 1 })
    return { ...one, ...other, written: one.written + other.written, dropped: one.dropped + other.dropped }
  }

  async function write(batch: Batch): Promise<Written> {
    const rows = rowsOf(batch.rows)
    const id = `${Date.now()}.${run}.${++batches}`
    const { table } = batch
    if (rows.length > 0 && !stuck.has(table)) {
      const writing = insist(batch, rows, { id, part: 0 })
      const written = await (spill === undefined ? writing : Promise.race([writing, wait(PATIENCE)]))
      if (written !== undefined) {
        done.push(id)
        return written
      }
      stuck.add(table)
      void writing.then(() => {
        stuck.delete(table)
        return read(batch)
      })
    }
    if (rows.length > 0) await add(table, { ...batch, id })
    else void read(batch)
    return { written: 0, dropped: 0, spilled: rows.length }
  }

  /** Retries as long as necessary: a disk may be full for a while. */
  async function add(table: string, batch: Spilled): Promise<void> {
    for (;;)
      try {
        return spill?.add(table, batch)
      } catch (error) {
        report(table, reasonOf(error))
        await wait(LONGEST_PAUSE)
      }
  }

  /** Writes what stands in the files of a table. */
  async function read(of: Batch): Promise<void> {
    const { table } = of
    if (spill === undefined || reading.has(table)) return
    reading.add(table)
    try {
      for (let file = spill.take(table); file !== undefined; file = spill.take(table)) {
        const batches = spill.read(file.path)
        for (const { id, columns, rows } of batches)
          recovered(table, await insist({ ...of, columns }, rowsOf(rows), { id, part: 0 }), file.own)
        spill.remove(file.path)
        done.push(...batches.map(({ id }) => id))
      }
    } catch (error) {
      report(table, reasonOf(error))
    } finally {
      reading.delete(table)
    }
  }

  return { write, close }
}

function rowsOf(lines: string): Row[] {
  return lines === '' ? [] : lines.split('\n').map(readLine)
}

type Row = ReturnType<typeof readLine>

/** The statements that the rows of a batch need. */
function sumsFor({ columns, sums }: Batch, rows: readonly Row[]): readonly string[] {
  const has = (column: string) => (row: Row) =>
    (row.values[columns[row.columns]?.indexOf(column) ?? -1] ?? null) !== null
  return sums.flatMap((one) => (typeof one === 'string' ? one : rows.some(has(one.with)) ? one.sum : []))
}

/** The number that halves are counted from. Earlier versions numbered the rows of a batch below it. */
const WHOLE = 1 << 14

/** What was written in one transaction: a batch (part 0), its halves (twice `WHOLE` and one more), theirs, and so on. */
interface Name {
  readonly id: string
  readonly part: number
}

/** The destination of rows. A batch may be repeated after an interruption: existing rows are skipped. */
interface Target {
  /** Does nothing if the name is known. Forgets the batches of the names `past`, in the same transaction. */
  insert(batch: Batch, rows: readonly Row[], name: Name, past: readonly string[]): Promise<void>
  /** Forgets batches. */
  forget(past: readonly string[]): Promise<void>
  /** Forgets the batches of before a time, in milliseconds since 1970. */
  sweep(before: number): Promise<void>
  close(): Promise<void>
}

async function openTarget(url: string): Promise<Target> {
  const place = locationOf(url)
  return place.dialect === 'sqlite' ? openSqlite(place.path, place.maxPages) : openPostgres(url)
}

/** The condition that the name of a batch begins with an earlier time: 13 digits, and a dot behind them. */
const isEarlier = "substr(batch, 14, 1) = '.' and substr(batch, 1, 13) < "

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
  const note = 'insert into written_batches (batch, part) values (?, ?) on conflict do nothing'
  const forget = 'delete from written_batches where batch = ?'
  const forgetAll = file.transaction((past: readonly string[]) => {
    for (const batch of past) prepare(forget).run(batch)
  })
  const all = file.transaction((batch: Batch, rows: readonly Row[], { id, part }: Name, past: readonly string[]) => {
    forgetAll(past)
    if (prepare(note).run(id, part).changes === 0) return
    const { table, columns } = batch
    const sums = sumsFor(batch, rows)
    const last = sums.length === 0 ? 0 : lastOf(table)
    const statements: ReturnType<typeof prepare>[] = []
    for (const { columns: number, values } of rows)
      (statements[number] ??= insertion(table, columns[number] as Columns)).run(...values)
    // The rows of this transaction are the only ones after the last one of before.
    const added = `with added as (select * from ${quoted(table)} where rowid > ?)`
    for (const sum of sums) prepare(`${added} ${sum}`).run(last)
  })
  return {
    insert: async (batch, rows, name, past) => all.immediate(batch, rows, name, past),
    forget: async (past) => forgetAll.immediate(past),
    sweep: async (before) => void prepare(`delete from written_batches where ${isEarlier} ?`).run(String(before)),
    close: async () => void file.close(),
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Loads the query builder, which is large and not needed for SQLite. Rows go as one parameter of JSON: as a parameter for
 * each value, most of the time would go into counting them, here and in the server.
 */
async function openPostgres(url: string): Promise<Target> {
  const { fromPool } = await import('./connect.ts')
  const { sql } = await import('kysely')
  const { query, close } = await fromPool(url, CONNECTIONS)
  const lockTimeout = sql.raw(`set local lock_timeout = ${LOCKED}`)
  const forgetting = (past: readonly string[]) => sql`delete from written_batches where batch = any(${past})`
  /** The columns of a table that hold JSON: their texts are JSON already. */
  const jsonIn = new Map<string, ReadonlySet<string>>()
  const jsonOf = async (table: string, within: typeof query) => {
    const found = await sql<{ name: string }>`select attname as name from pg_attribute
      where attrelid = to_regclass(quote_ident(${table})) and atttypid in ('json'::regtype, 'jsonb'::regtype)`.execute(
      within,
    )
    return new Set(found.rows.map(({ name }) => name))
  }
  return {
    insert: (batch, rows, { id, part }, past) =>
      query.transaction().execute(async (transaction) => {
        const { table, columns: all } = batch
        const sums = sumsFor(batch, rows)
        await lockTimeout.execute(transaction)
        if (past.length > 0) await forgetting(past).execute(transaction)
        const noted = sql`insert into written_batches (batch, part) values (${id}, ${part}) on conflict do nothing`
        if ((await noted.execute(transaction)).numAffectedRows === 0n) return
        const json = jsonIn.get(table) ?? (await jsonOf(table, transaction))
        const value = (name: string) => (json.has(name) ? sql`(${sql.ref(name)} #>> '{}')::json` : sql.ref(name))
        const places: string[] = []
        for (const [number, group] of Map.groupBy(rows, (row) => row.columns)) {
          const columns = all[number] as Columns
          const named = group.map(({ values }) => Object.fromEntries(columns.map((name, at) => [name, values[at]])))
          const names = sql.join(columns.map((name) => sql.ref(name)))
          const added = await sql<{ place: string }>`insert into ${sql.table(table)} (${names})
            select ${sql.join(columns.map(value))} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(named)}::json)
            on conflict do nothing ${sums.length > 0 ? sql`returning ctid::text as place` : sql``}`.execute(transaction)
          for (const { place } of added.rows) places.push(place)
        }
        // Not before: a table that is missing has no columns.
        jsonIn.set(table, json)
        const added = sql`with added as (select * from ${sql.table(table)} where ctid = any(${places}::tid[]))`
        for (const sum of sums) await sql`${added} ${sql.raw(sum)}`.execute(transaction)
      }),
    forget: async (past) => void (await forgetting(past).execute(query)),
    async sweep(before) {
      await sql`delete from written_batches where ${sql.raw(isEarlier)} ${String(before)}`.execute(query)
    },
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
