import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { moduleBeside } from '../workers/module-beside.ts'
import { RowQueue } from './row-queue.ts'
import type { RowMemory } from './row-queue.ts'
import { spilledTables } from './row-spill.ts'
import type { FromWorker, ToWorker, WriterSettings } from './worker.ts'

/**
 * Maximum characters of all rows not written yet: 64 MiB at most, as a character takes one byte, or two in a text with
 * other than Latin ones.
 */
const MEMORY = 32 * 1024 * 1024

export interface RowsOptions {
  /** URL of a database that `openDatabase` has migrated. */
  readonly url: string
  readonly log: Logger
  /** The folder for rows that the database does not take in time; absent: they wait in memory. */
  readonly spill?: string
  /** Maximum rows of a table kept while the database fails. */
  readonly limit?: number
  /** Maximum characters of all rows not written yet. */
  readonly memory?: number
  readonly spawn?: (url: string) => Worker
}

/**
 * Writes rows in bulk, outside of requests. Each table has a queue, so that no table delays another; one thread with
 * its own database handle writes all of them. The thread starts with the first batch.
 */
export class Rows {
  readonly #options: RowsOptions & Required<Pick<RowsOptions, 'spawn'>>
  readonly #memory: RowMemory
  readonly #queues = new Map<string, RowQueue>()
  #worker: Worker | undefined

  constructor(options: RowsOptions) {
    const { spill } = options
    // The same for every thread of this process: what an earlier one left is its own.
    const process = randomUUID()
    this.#options = { spawn: (url) => spawnWriter({ url, spill, process }), ...options }
    this.#memory = { used: 0, limit: options.memory ?? MEMORY, exceeded: () => this.#free() }
  }

  /** The queue of a table. */
  of(table: string): RowQueue {
    const known = this.#queues.get(table)
    if (known) return known
    const { log, limit, spill } = this.#options
    const made = new RowQueue({
      table,
      log: log.child({ table }),
      limit,
      memory: this.#memory,
      spills: spill !== undefined,
      send: (batch) => (this.#worker ??= this.#start()).postMessage(batch satisfies ToWorker),
      onWaited: () => this.#hold(),
    })
    this.#queues.set(table, made)
    return made
  }

  /** Resolves once every row queued so far was written or dropped. */
  async flush(): Promise<void> {
    await Promise.all(this.#all.map((queue) => queue.flush()))
  }

  /** Has the rows written that stand in files which belong to nobody: of processes that were killed, or are long silent. */
  recover(): void {
    const { spill } = this.#options
    if (spill !== undefined) for (const table of spilledTables(spill)) this.of(table).recover()
  }

  /** Writes the queued rows, for at most `deadline` milliseconds, and ends the thread. Later rows count as dropped. */
  async close(deadline = 5_000): Promise<void> {
    for (const queue of this.#all) queue.close()
    const timer = deadlineOf(deadline)
    await Promise.race([this.flush(), timer.passed])
    for (const queue of this.#all) queue.drop()
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

  get #all(): RowQueue[] {
    return [...this.#queues.values()]
  }

  /** Drops the oldest rows of the tables whose rows take most: a table that writes much takes no rows from others. */
  #free(): void {
    while (this.#memory.used > this.#memory.limit) {
      const largest = this.#all.reduce((one, other) => (other.size > one.size ? other : one))
      // The rest is under way.
      if (largest.size === 0) return
      largest.dropOldest()
    }
  }

  /** The thread keeps the process alive while a caller waits for rows. */
  #hold(): void {
    if (this.#all.some((queue) => queue.waited)) this.#worker?.ref()
    else this.#worker?.unref()
  }

  #start(): Worker {
    const worker = this.#options.spawn(this.#options.url)
    let reason = 'it ended'
    worker.on('message', ({ table, ...told }: FromWorker) => this.#queues.get(table)?.hear(told))
    worker.on('error', (error) => (reason = error instanceof Error ? error.message : String(error)))
    worker.on('exit', () => {
      this.#worker = undefined
      for (const queue of this.#all) queue.interrupted(reason)
    })
    this.#worker = worker
    this.#hold()
    return worker
  }
}

/** The thread gets no flags of the process, because workers refuse some of them. */
function spawnWriter(workerData: WriterSettings): Worker {
  return new Worker(moduleBeside('worker', import.meta.url), { workerData, execArgv: [] })
}

function deadlineOf(milliseconds: number): { readonly passed: Promise<void>; clear(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  return { passed: promise, clear: () => clearTimeout(timer) }
}
