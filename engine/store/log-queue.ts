import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { LogRow } from '../spec/store.ts'
import { moduleBeside } from '../workers/module-beside.ts'
import { requestOf } from './log-columns.ts'
import { RowLines } from './row-lines.ts'
import type { Stored } from './row-lines.ts'
import type { FromWorker, ToWorker } from './worker.ts'

/**
 * Rows of a batch, and the milliseconds after which a smaller one leaves. A process that is killed loses the rows of so
 * long and of one batch on its way, 100 ms in all with a database that keeps up.
 */
const BATCH = 200
const PERIOD = 50

/** Milliseconds before a worker that died is replaced. */
const PAUSE = 1_000

/** How the request log fares. */
export interface LogCounters {
  readonly written: number
  /** Rows that were lost: the queue was full, or no database would take them. */
  readonly dropped: number
  readonly pending: number
  /** Why rows cannot be written at present. */
  readonly failing: string | undefined
}

export interface LogQueueOptions {
  /** URL of a database that `openDatabase` made ready. */
  readonly url: string
  /** Hears every change of state once. */
  readonly log: Logger
  /** Takes secrets out of what a row says. */
  readonly scrub: (text: string) => string
  /** Rows kept while the database fails; beyond, the oldest are dropped. */
  readonly limit?: number
  readonly spawn?: (url: string) => Worker
}

/**
 * Takes the rows of the request log, and whatever else is written in bulk, off the requests' hands. `append` only adds a
 * line of text to a list; batches go to a worker thread with a database handle of its own, one batch at a time. A row is
 * written at least once, under its unique id.
 */
export class LogQueue {
  readonly #options: Required<LogQueueOptions>
  readonly #lines = new RowLines()
  #rows: string[] = []
  #underWay: readonly string[] = []
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  /** Rows have waited for their time while another batch was on its way. */
  #due = false
  #written = 0
  #dropped = 0
  #failing: string | undefined
  #overflowing = false
  /** Who waits until how many rows were written or dropped. */
  #flushes: { readonly until: number; readonly resolve: () => void }[] = []
  #closed = false

  constructor(options: LogQueueOptions) {
    this.#options = { limit: 10_000, spawn: spawnWriter, ...options }
  }

  get counters(): LogCounters {
    return { written: this.#written, dropped: this.#dropped, pending: this.#pending, failing: this.#failing }
  }

  /** Queues a row of the request log, without metadata that is no JSON. Never waits, never throws. */
  write(row: LogRow): void {
    const columns = this.#columns(row, 'a log row cannot be written down as it is')
    const plain = columns ?? this.#columns({ ...row, metadata: {} }, 'a log row cannot be written down')
    if (plain) this.append('requests', plain)
    else this.#dropped += 1
  }

  /** Queues a row of any table. Never waits, never throws. */
  append(table: string, row: Readonly<Record<string, Stored>>): void {
    const line = this.#closed ? undefined : this.#line(table, row)
    if (line === undefined) {
      this.#dropped += 1
      return
    }
    const length = this.#rows.push(line)
    if (length === 1) this.#arm(PERIOD)
    // Copying a batch to the worker takes its time: not in the request that completes it.
    else if (length === BATCH) setImmediate(() => this.#send())
    else if (length > this.#options.limit) this.#overflow()
  }

  /** Resolves once every row queued so far was written or dropped. */
  flush(): Promise<void> {
    if (this.#pending === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushes.push({ until: this.#done + this.#pending, resolve })
    this.#worker?.ref()
    this.#send()
    return promise
  }

  /** Writes what is queued, for at most `deadline` milliseconds, and ends the worker. Later rows count as dropped. */
  async close(deadline = 5_000): Promise<void> {
    this.#closed = true
    const timer = deadlineOf(deadline)
    await Promise.race([this.flush(), timer.passed])
    clearTimeout(this.#timer)
    if (this.#pending > 0) {
      this.#dropped += this.#pending
      this.#options.log.error({ rows: this.#pending }, 'the request log closes without its last rows')
      this.#rows = []
      this.#underWay = []
    }
    const worker = this.#worker
    if (worker !== undefined) {
      const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
      worker.ref()
      worker.postMessage('close' satisfies ToWorker)
      await Promise.race([gone, timer.passed])
      await worker.terminate()
    }
    timer.clear()
  }

  get #done(): number {
    return this.#written + this.#dropped
  }

  get #pending(): number {
    return this.#rows.length + this.#underWay.length
  }

  #arm(delay: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#due = this.#underWay.length > 0
      this.#send()
    }, delay)
    // Whoever waits for the rows holds the process; a timer alone must not.
    if (this.#flushes.length === 0) this.#timer.unref()
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#rows.length === 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#due = false
    this.#underWay = this.#rows.splice(0, BATCH)
    this.#post()
  }

  #post(): void {
    const worker = (this.#worker ??= this.#start())
    worker.postMessage({ rows: this.#underWay.join('\n'), shapes: this.#lines.shapes } satisfies ToWorker)
  }

  #columns(row: LogRow, problem: string): Readonly<Record<string, Stored>> | undefined {
    const { log, scrub } = this.#options
    try {
      return { ...requestOf(row, scrub) }
    } catch (error) {
      log.error({ err: error }, problem)
      return undefined
    }
  }

  #line(table: string, row: Readonly<Record<string, Stored>>): string | undefined {
    try {
      return this.#lines.lineOf(table, row)
    } catch (error) {
      this.#options.log.error({ err: error, table }, 'a row cannot be written down')
      return undefined
    }
  }

  #start(): Worker {
    const worker = this.#options.spawn(this.#options.url)
    let reason = 'it ended'
    worker.on('message', (message: FromWorker) => this.#hear(message))
    worker.on('error', (error) => (reason = error instanceof Error ? error.message : String(error)))
    worker.on('exit', () => this.#revive(reason))
    if (this.#flushes.length === 0) worker.unref()
    return worker
  }

  #hear(message: FromWorker): void {
    if ('failing' in message) return this.#turn(message.failing)
    this.#written += message.written
    this.#dropped += message.dropped
    if (message.why !== undefined)
      this.#options.log.error({ reason: message.why }, 'rows were dropped because their table refused them')
    this.#underWay = []
    if (this.#failing !== undefined) this.#turn(undefined)
    this.#settle()
    if (this.#due || this.#rows.length >= BATCH || this.#flushes.length > 0) return this.#send()
    if (this.#rows.length > 0) return this.#arm(PERIOD)
    this.#overflowing = false
  }

  #settle(): void {
    const done = this.#done
    for (const flush of this.#flushes) if (flush.until <= done) flush.resolve()
    this.#flushes = this.#flushes.filter((flush) => flush.until > done)
    if (this.#flushes.length === 0) this.#worker?.unref()
  }

  /** The worker died: what it had in hand comes first again. */
  #revive(reason: string): void {
    this.#worker = undefined
    if (this.#pending === 0 || this.#closed) return
    this.#turn(`the writer of the request log died: ${reason}`)
    this.#rows = [...this.#underWay, ...this.#rows]
    this.#underWay = []
    this.#arm(PAUSE)
  }

  #turn(failing: string | undefined): void {
    if (failing === undefined) this.#options.log.info({ dropped: this.#dropped }, 'the request log is written again')
    else if (this.#failing === undefined)
      this.#options.log.error({ reason: failing }, 'the request log cannot be written')
    this.#failing = failing
  }

  #overflow(): void {
    this.#rows.shift()
    this.#dropped += 1
    if (!this.#overflowing) this.#options.log.error('the queue of the request log is full; its oldest rows are dropped')
    this.#overflowing = true
  }
}

/** The worker runs from source as well as from the build; flags of the process may be such that no worker takes them. */
function spawnWriter(url: string): Worker {
  return new Worker(moduleBeside('worker', import.meta.url), { workerData: { url }, execArgv: [] })
}

function deadlineOf(milliseconds: number): { readonly passed: Promise<void>; clear(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  return { passed: promise, clear: () => clearTimeout(timer) }
}
