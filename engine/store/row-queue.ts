import type { Logger } from 'pino'
import type { Appender, RowCounters } from '../spec/service-host.ts'
import type { Batch, Written } from './row-writer.ts'
import { RowLines, piecesOf } from './row-lines.ts'
import type { Line, Stored } from './row-lines.ts'
import type { FromWorker, Posted, Recovered } from './worker.ts'

/** What the thread says of a table. */
type Told = FromWorker extends infer One ? (One extends unknown ? Omit<One, 'table'> : never) : never

/**
 * Rows per batch, and milliseconds after which a smaller batch is sent. A killed process loses the rows of that time,
 * of the batch being written, and of the one before it: half a second in total while many rows come.
 */
const BATCH = 200
const PERIOD = 50

/** Rows and characters after which a batch takes no more of those that wait. */
const MOST = 4_000
const LARGEST = 8 * 1024 * 1024

/** Milliseconds before a batch is sent again that was lost because the thread died. */
const PAUSE = 1_000

/** Maximum rows of a table in memory; beyond it, the oldest are dropped, except of a table whose rows wait. */
const LIMIT = 10_000

/** The memory that all queues share for the text of their rows. */
export interface RowMemory {
  /** Characters of all rows not written yet. */
  used: number
  readonly limit: number
  /** Called when `used` is beyond `limit`. */
  readonly exceeded: () => void
}

export interface RowQueueOptions {
  readonly table: string
  /** Logs every change of state once. */
  readonly log: Logger
  readonly limit?: number | undefined
  readonly memory: RowMemory
  /** Whether rows that the database does not take go to a file. */
  readonly spills: boolean
  /** Sends a batch to the thread. The result arrives through `hear` or `interrupted`. */
  readonly send: (batch: Posted) => void
  /** Called when a caller starts waiting for rows, and when none waits any more. */
  readonly onWaited: () => void
}

/**
 * Queues the rows of one table for the thread that writes them. `append` only adds a line to a list. One batch is sent
 * at a time. A row is written at least once.
 */
export class RowQueue implements Appender<Readonly<Record<string, Stored>>> {
  /** Whether rows wait while their table is missing; and where rows go to files, none is dropped because there are many. */
  waits = false
  /** Statements that add up the rows of a batch. */
  sums: Batch['sums'] = []
  readonly #options: RowQueueOptions
  readonly #lines = new RowLines()
  readonly #limit: number
  #rows: Line[] = []
  #underWay: readonly Line[] = []
  /** Characters of the rows that wait, and of those under way. */
  #size = 0
  #sizeUnderWay = 0
  #timer: NodeJS.Timeout | undefined
  /** Whether a batch became due while another one was being written. */
  #due = false
  /** Rows in files, until the database takes them or this process ends. */
  #spilled = 0
  #left = 0
  #written = 0
  #dropped = 0
  #failing: string | undefined
  #overflowing = false
  /** Callers that wait until this many rows were written or dropped. */
  #flushes: { readonly until: number; readonly resolve: () => void }[] = []
  #closed = false

  constructor(options: RowQueueOptions) {
    this.#options = options
    this.#limit = options.limit ?? LIMIT
  }

  get counters(): RowCounters {
    return { written: this.#written, dropped: this.#dropped, pending: this.#pending, failing: this.#failing }
  }

  /** Characters of the rows that can still be dropped. */
  get size(): number {
    return this.#isKept ? 0 : this.#size
  }

  /** Whether a caller waits for rows. */
  get waited(): boolean {
    return this.#flushes.length > 0
  }

  append(row: Readonly<Record<string, Stored>>): void {
    const line = this.#closed ? undefined : this.#line(row)
    if (line === undefined) {
      this.#dropped += 1
      return
    }
    const { memory } = this.#options
    const length = this.#rows.push(line)
    const size = sizeOf(line)
    this.#size += size
    memory.used += size
    if (length === 1) this.#arm(PERIOD)
    // Posting a batch takes time, so the request that completes it does not do it.
    else if (length === BATCH) setImmediate(() => this.#send())
    else if (length > this.#limit && !this.#isKept) this.dropOldest()
    if (memory.used > memory.limit) memory.exceeded()
  }

  /** Drops the oldest row that waits; there must be one. */
  dropOldest(): void {
    const oldest = this.#rows.shift()
    const size = oldest ? sizeOf(oldest) : 0
    this.#size -= size
    this.#options.memory.used -= size
    this.#dropped += 1
    if (!this.#overflowing) this.#options.log.error('too many rows of a table are waiting; the oldest are dropped')
    this.#overflowing = true
  }

  /** Resolves once every row queued so far was written or dropped. */
  flush(): Promise<void> {
    if (this.#pending === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushes.push({ until: this.#done + this.#pending, resolve })
    this.#options.onWaited()
    this.#send()
    return promise
  }

  /** Accepts no more rows: later ones count as dropped. */
  close(): void {
    this.#closed = true
  }

  /** Asks for the rows in files to be written. */
  recover(): void {
    this.#options.send({ table: this.#options.table, columns: [], rows: [], waits: this.waits, sums: this.sums })
  }

  /** Drops all rows that are neither written nor in a file. */
  drop(): void {
    clearTimeout(this.#timer)
    if (this.#pending === 0) return
    const { log } = this.#options
    if (this.#spilled > 0) log.warn({ rows: this.#spilled }, 'rows of a table stay in a file until the next start')
    this.#left = this.#spilled
    this.#spilled = 0
    if (this.#pending > 0) log.error({ rows: this.#pending }, 'the last rows of a table could not be written')
    this.#dropped += this.#pending
    this.#rows = []
    this.#options.memory.used -= this.#size
    this.#size = 0
    this.#landed()
    this.#settle()
  }

  /** The result of the current batch, or why it cannot be written yet. */
  hear(told: Told): void {
    if ('failing' in told) return this.#turn(told.failing)
    if ('recovered' in told) return this.#recovered(told)
    this.#count(told)
    this.#spilled += told.spilled ?? 0
    this.#landed()
    if (this.#failing !== undefined && !told.spilled) this.#turn(undefined)
    this.#settle()
    if (this.#due || this.#rows.length >= BATCH || this.waited) return this.#send()
    if (this.#rows.length > 0) return this.#arm(PERIOD)
    this.#overflowing = false
  }

  /** The thread died: its batch becomes the next one again. */
  interrupted(reason: string): void {
    if (this.#underWay.length === 0 || this.#closed) return
    this.#turn(`the thread that writes rows died: ${reason}`)
    this.#rows = [...this.#underWay, ...this.#rows]
    this.#underWay = []
    this.#size += this.#sizeUnderWay
    this.#sizeUnderWay = 0
    this.#arm(PAUSE)
  }

  get #isKept(): boolean {
    return this.waits && this.#options.spills
  }

  get #done(): number {
    return this.#written + this.#dropped + this.#left
  }

  get #pending(): number {
    return this.#rows.length + this.#underWay.length + this.#spilled
  }

  /** Rows from a file are in the database. Those of another process were never counted here. */
  #recovered({ recovered, own }: Recovered): void {
    const { written, dropped } = recovered
    if (own) {
      this.#count(recovered)
      this.#spilled -= written + dropped
    } else this.#options.log.info({ rows: written }, 'rows that another process left in a file were written')
    if (this.#failing !== undefined) this.#turn(undefined)
    this.#settle()
  }

  #count({ written, dropped, why }: Written): void {
    this.#written += written
    this.#dropped += dropped
    if (why !== undefined)
      this.#options.log.error({ reason: why }, 'rows were dropped because their table refused them')
  }

  #arm(delay: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#due = this.#underWay.length > 0
      this.#send()
    }, delay)
    // Only a waiting caller keeps the process alive; the timer must not.
    if (!this.waited) this.#timer.unref()
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#rows.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#due = false
    const most = Math.min(this.#rows.length, MOST)
    let count = 0
    while (count < most && this.#sizeUnderWay < LARGEST) this.#sizeUnderWay += sizeOf(this.#rows[count++] as Line)
    this.#underWay = this.#rows.splice(0, count)
    this.#size -= this.#sizeUnderWay
    const { table, send } = this.#options
    send({ table, columns: this.#lines.columns, rows: piecesOf(this.#underWay), waits: this.waits, sums: this.sums })
  }

  /** The batch under way no longer takes memory. */
  #landed(): void {
    this.#underWay = []
    this.#options.memory.used -= this.#sizeUnderWay
    this.#sizeUnderWay = 0
  }

  #line(row: Readonly<Record<string, Stored>>): Line | undefined {
    try {
      return this.#lines.lineOf(row)
    } catch (error) {
      this.#options.log.error({ err: error }, 'a row cannot be written down')
      return undefined
    }
  }

  #settle(): void {
    const done = this.#done
    for (const flush of this.#flushes) if (flush.until <= done) flush.resolve()
    this.#flushes = this.#flushes.filter((flush) => flush.until > done)
    if (!this.waited) this.#options.onWaited()
  }

  #turn(failing: string | undefined): void {
    const { log } = this.#options
    if (failing === undefined) log.info({ dropped: this.#dropped }, 'the rows of a table are written again')
    else if (this.#failing === undefined) log.error({ reason: failing }, 'the rows of a table cannot be written')
    this.#failing = failing
  }
}

/** Characters of a row. */
function sizeOf({ values, last }: Line): number {
  return values.length + (last?.length ?? 0)
}
