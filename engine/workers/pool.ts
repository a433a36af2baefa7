import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { Done, Loading, Task } from './entry.ts'
import { moduleBeside } from './module-beside.ts'

/**
 * Why a task has no result. `late`: its deadline passed while it waited or ran; `full`: too many tasks were waiting;
 * `threw`: the module threw an error; `died`: its thread ended or could not take the task; `closed`: the pool is
 * closed.
 */
export type WorkFailure = 'late' | 'full' | 'threw' | 'died' | 'closed'

/** A task of the worker pool failed. `cause` is the original error. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
  readonly failure: WorkFailure

  constructor(failure: WorkFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

export interface WorkerPoolOptions {
  /** Maximum threads; default: one fewer than the machine has cores, and at least one. */
  readonly threads?: number
  /** Maximum tasks waiting for a thread; further tasks are refused. */
  readonly queue?: number
  /** Milliseconds after which an idle thread ends. */
  readonly idle?: number
  /** Maximum heap of a thread in MiB; with less than 32 a thread may fail to start, which ends the process. */
  readonly memory?: number
  /** Called when a thread fails outside of any task. */
  readonly onError?: (error: Error) => void
}

const entry = fileURLToPath(moduleBeside('entry', import.meta.url))

/**
 * Threads for work that would block the event loop. They start with the first task and never keep the process alive.
 * Whatever a task does (throw, loop, exit, run out of memory), only that task fails, with a `WorkError`.
 */
export class WorkerPool {
  readonly #threads: number
  readonly #queue: number
  readonly #idle: number
  readonly #options: WorkerPoolOptions
  readonly #waiting = new Set<() => void>()
  /** The modules to keep loaded, as often as each was asked for. A new thread loads them before its first task. */
  readonly #kept: string[] = []
  #refresh: NodeJS.Timeout | undefined
  #running = 0
  #pool: Promise<Piscina<Task | Loading, Done>> | undefined
  #closed = false

  constructor(options: WorkerPoolOptions = {}) {
    this.#options = options
    this.#threads = options.threads ?? Math.max(1, availableParallelism() - 1)
    this.#queue = options.queue ?? 64
    this.#idle = options.idle ?? 300_000
  }

  /**
   * Calls the default export of `module` with `input` and returns its result; both must be structured-cloneable. After
   * `deadline` milliseconds it rejects. If a thread is still running the task, it goes on for `grace` milliseconds more,
   * and ends then. Rejects with a `WorkError` only.
   */
  // The input's type stands there for callers to state, as in `Host.work`.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  async run<I, O>(module: URL, input: I, deadline: number, grace = 0): Promise<O> {
    if (this.#closed) throw closed()
    if (this.#running >= this.#threads && this.#waiting.size >= this.#queue) throw full(this.#waiting.size)
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(deadline)))
    await this.#turn(signal, deadline)
    const task = { module: module.href, input }
    if (grace <= 0) return this.#perform(task, signal, deadline) as Promise<O>
    const done = this.#perform(task, AbortSignal.timeout(Math.ceil(deadline + grace)), deadline + grace)
    return new Promise<O>((resolve, reject) => {
      const onLate = () => reject(late(deadline, signal.reason))
      signal.addEventListener('abort', onLate)
      done.then((output) => resolve(output as O), reject).finally(() => signal.removeEventListener('abort', onLate))
    })
  }

  /**
   * Keeps a thread running that has these modules loaded, so that no task waits for either, until the returned function
   * is called. A thread that died is replaced at once.
   */
  keep(modules: readonly URL[]): () => void {
    const hrefs = modules.map(({ href }) => href)
    this.#kept.push(...hrefs)
    this.#load()
    // A thread ends when it is idle for long, and this is work for it.
    this.#refresh ??= setInterval(() => this.#load(), this.#idle / 3).unref()
    return () => {
      for (const href of hrefs) this.#kept.splice(this.#kept.indexOf(href), 1)
      if (this.#kept.length === 0) this.#rest()
    }
  }

  /** Ends all threads; waiting and running tasks reject. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rest()
    for (const start of this.#waiting) start()
    const pool = await this.#pool
    await pool?.destroy()
  }

  /** Runs a task in a thread; its turn has come. */
  async #perform(task: Task, signal: AbortSignal, deadline: number): Promise<unknown> {
    try {
      const pool = await this.#open()
      return output(await pool.run(task, { signal }))
    } catch (cause) {
      if (cause instanceof WorkError) throw cause
      this.#load()
      if (signal.aborted) throw late(deadline, cause)
      throw this.#closed ? closed(cause) : new WorkError('died', 'The worker thread ended before its task did.', cause)
    } finally {
      this.#next()
    }
  }

  /** Has a thread load the modules to keep; starts one if there is none. */
  #load(): void {
    if (this.#kept.length === 0 || this.#closed) return
    this.#open()
      .then((pool) => pool.run({ load: this.#kept }))
      // The thread ended: the next task, or the next refreshment, starts another.
      .catch((error: unknown) => this.#closed || this.#options.onError?.(error as Error))
  }

  #rest(): void {
    clearInterval(this.#refresh)
    this.#refresh = undefined
  }

  /**
   * Waits for a free thread. The library's own queue is not used: it does not count tasks with a signal, and it does
   * not replace a thread that was terminated for one of them while others wait.
   */
  #turn(signal: AbortSignal, deadline: number): Promise<void> {
    if (this.#running < this.#threads) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(start)
        reject(late(deadline, signal.reason))
      }
      const start = () => {
        this.#waiting.delete(start)
        signal.removeEventListener('abort', onAbort)
        if (this.#closed) return reject(closed())
        this.#running++
        resolve()
      }
      this.#waiting.add(start)
      signal.addEventListener('abort', onAbort)
    })
  }

  #next(): void {
    this.#running--
    const [start] = this.#waiting
    start?.()
  }

  #open(): Promise<Piscina<Task | Loading, Done>> {
    if (this.#closed) throw closed()
    return (this.#pool ??= this.#make())
  }

  /** The library is loaded with the first task: most processes never need it. */
  async #make(): Promise<Piscina<Task | Loading, Done>> {
    const { Piscina } = await import('piscina')
    const { memory = 256, onError } = this.#options
    const pool = new Piscina<Task | Loading, Done>({
      filename: entry,
      minThreads: 0,
      maxThreads: this.#threads,
      idleTimeout: this.#idle,
      workerData: { load: this.#kept },
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: Math.max(32, memory), maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    })
    // Without a listener, a thread that fails between two tasks would end the process.
    pool.on('error', (error: Error) => {
      onError?.(error)
      this.#load()
    })
    return pool
  }
}

function output(done: Done): unknown {
  if ('output' in done) return done.output
  const { name, message, stack } = done.thrown
  const cause = new Error(message)
  cause.name = name
  if (stack !== undefined) cause.stack = stack
  throw new WorkError('threw', 'The task failed.', cause)
}

function late(deadline: number, cause: unknown): WorkError {
  return new WorkError('late', `The task was not done within ${deadline} ms.`, cause)
}

function full(waiting: number): WorkError {
  return new WorkError('full', `${waiting} tasks wait for a worker thread already.`)
}

function closed(cause?: unknown): WorkError {
  return new WorkError('closed', 'The worker pool is closed.', cause)
}
