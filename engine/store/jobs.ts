import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Queue } from 'bullmq'
import type { Job as QueuedJob } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { GatewayError } from '../spec/error.ts'
import type { Job, Jobs } from '../spec/key-value.ts'
import type { JobRunner, RunningJob } from './job-worker.ts'
import { cancelledJobs, ownJob } from './job-ownership.ts'
import { CANCEL, PREFIX, QUEUE, startJobWorker } from './job-worker.ts'
import type { Fate, JobWorker } from './job-worker.ts'
import { redisOptions } from './key-value-redis.ts'
import { storeUnavailable } from './key-value.ts'

/** Maximum bytes of a job's JSON: it should refer to its data, not contain it. */
const PAYLOAD = 16 * 1024

/**
 * Milliseconds after which a job that cannot be run or ended leaves the queue: one day, the lifetime of its results.
 */
const LIFETIME = 24 * 60 * 60 * 1000

/** A job that runs here, and the token by which this process owns it. */
interface OwnJob extends RunningJob {
  readonly token: string
}

/** A queue of jobs shared by all processes on one key-value store. */
export interface OpenJobs extends Jobs {
  /** Starts taking jobs. */
  start(runner: JobRunner): void
  /**
   * Takes no further jobs and lets running ones finish for at most `deadline` milliseconds. Then they are aborted with
   * the error `draining`, for which they have another `abortTimeout` milliseconds.
   */
  drain(deadline: number, abortTimeout: number): Promise<void>
  close(): Promise<void>
}

/** Opens the queue in the key-value store at `url`. It reconnects on its own. */
export async function openJobs(url: string, log: Logger): Promise<OpenJobs> {
  const redis = new Redis(url, redisOptions)
  const tried = Promise.race([once(redis, 'ready'), once(redis, 'close')])
  const jobs = new JobQueue(url, redis, log)
  await tried.catch(jobs.failed)
  return jobs
}

class JobQueue implements OpenJobs {
  readonly #url: string
  readonly #redis: Redis
  readonly #log: Logger
  readonly #queue: Queue<Job, void>
  readonly #running = new Map<string, OwnJob>()
  #runner: JobRunner | undefined
  #worker: JobWorker | undefined
  #away = false
  #closed = false

  constructor(url: string, redis: Redis, log: Logger) {
    this.#url = url
    this.#redis = redis
    this.#log = log
    redis.on('error', this.failed)
    redis.on('ready', () => {
      if (this.#away) log.info('the job queue can be reached again')
      this.#away = false
    })
    this.#queue = new Queue(QUEUE, {
      connection: redis,
      prefix: PREFIX,
      skipVersionCheck: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    })
    this.#queue.on('error', this.failed)
  }

  /** Logs an error of a connection or of the queue; while the server is unavailable, only the first one. */
  readonly failed = ({ message }: Error): void => {
    if (this.#closed || this.#away) return
    this.#away = this.#redis.status !== 'ready'
    if (this.#away) this.#log.warn({ reason: message }, 'the job queue cannot be reached')
    else this.#log.error({ reason: message }, 'the job queue failed')
  }

  async add(pipeline: string, job: Job): Promise<void> {
    const size = Buffer.byteLength(JSON.stringify(job))
    if (size > PAYLOAD) throw new Error(`a job for "${pipeline}" has ${size} bytes; it may have ${PAYLOAD}`)
    await this.#ask(() => this.#queue.add(pipeline, job, { jobId: job.id }))
  }

  async cancel(id: string): Promise<void> {
    if (this.#abort(id, 'cancelled')) return
    if (!(await this.#take(id, 'cancelled'))) await this.#ask(() => this.#redis.publish(CANCEL, id))
  }

  start(runner: JobRunner): void {
    this.#runner = runner
    this.#worker = startJobWorker(this.#url, {
      work: (job) => this.#work(job, runner),
      cancelled: (id) => this.#abort(id, 'cancelled'),
      owned: (ids) => void this.#obey(ids).catch(this.failed),
      disowned: (id) => void this.#reclaim(id).catch(this.failed),
      stalled: (id) =>
        void (this.#running.has(id) ? this.#reclaim(id) : this.#take(id, 'worker_lost')).catch(this.failed),
      failed: this.failed,
    })
  }

  async drain(deadline: number, abortTimeout: number): Promise<void> {
    if (!this.#worker) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cut = () => [...this.#running.keys()].forEach((id) => this.#abort(id, 'draining'))
    const timers = [setTimeout(cut, deadline), setTimeout(resolve, deadline + abortTimeout)]
    const under = [...this.#running.values()].map(({ done }) => done)
    await Promise.race([late, Promise.allSettled([this.#worker.stop(this.#redis.status === 'ready'), ...under])])
    timers.forEach(clearTimeout)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#worker?.close()
    await this.#queue.close()
    this.#redis.disconnect()
  }

  /** Runs a job that this process now owns. A job that another process has started and lost is only ended. */
  async #work(queued: QueuedJob<Job>, runner: JobRunner): Promise<Fate> {
    const { name, data, token = '' } = queued
    const underway = this.#running.get(data.id)
    if (!underway && queued.stalledCounter > 0) return this.#end(queued, 'worker_lost')
    // This process itself may have failed to renew: a job that it lost and no other process has taken continues.
    if (underway) this.#goesOn(data.id)
    const running = underway ?? runner.run(name, data)
    if (!running) return this.#pass(queued)
    this.#running.set(data.id, { ...running, token })
    const mine = () => this.#running.get(data.id)?.token === token
    try {
      await running.done
      return mine() ? 'over' : 'taken'
    } catch (error) {
      return mine() ? this.#unended(queued, error) : 'taken'
    } finally {
      if (mine()) this.#running.delete(data.id)
    }
  }

  /** Takes back a job that runs here without being owned, if no other process owns it; otherwise aborts it. */
  async #reclaim(id: string): Promise<void> {
    const running = this.#running.get(id)
    if (!running) return
    if (await this.#own(id, running.token)) return this.#goesOn(id)
    this.#log.warn({ id }, 'a job that runs here now belongs to another process')
    this.#abort(id, 'worker_lost')
    this.#running.delete(id)
  }

  #goesOn(id: string): void {
    this.#log.info({ id }, 'this process continues a job that it had lost')
  }

  /** Ends a job without an owner. Returns false if another process still owns it. */
  async #take(id: string, code: Ending): Promise<boolean> {
    const job = await this.#ask(() => this.#queue.getJob(id))
    if (!job) return true
    const token = randomUUID()
    if (!(await this.#own(id, token, code === 'cancelled'))) return false
    if ((await this.#end(job, code)) === 'over') await this.#ask(() => job.moveToCompleted(undefined, token, false))
    return true
  }

  /** Aborts cancelled jobs here: the message on the channel may have been missed. */
  async #obey(ids: readonly string[]): Promise<void> {
    const cancelled = await this.#ask(() => cancelledJobs(this.#redis, this.#queue, ids))
    cancelled.forEach((id) => this.#abort(id, 'cancelled'))
  }

  #own(id: string, token: string, cancel = false): Promise<boolean> {
    return this.#ask(() => ownJob(this.#redis, this.#queue, { id, token, cancel }))
  }

  async #end(queued: QueuedJob<Job>, code: Ending): Promise<Fate> {
    const { name, data } = queued
    this.#log[code === 'cancelled' ? 'info' : 'warn']({ id: data.id, code }, 'a job ends unfinished')
    try {
      await this.#runner?.end(name, data, new GatewayError(code))
      return 'over'
    } catch (error) {
      return this.#unended(queued, error)
    }
  }

  /** Keeps a job whose end could not be stored in the queue; otherwise its end would be lost. */
  #unended(queued: QueuedJob<Job>, error: unknown): Fate {
    if (tooOld(queued)) return this.#giveUp(queued)
    this.#log.warn({ id: queued.data.id, reason: (error as Error).message }, 'a job could not be ended yet')
    return 'unended'
  }

  /** Passes on a job whose pipeline this process lacks: another process has a newer or older configuration. */
  #pass(queued: QueuedJob<Job>): Fate {
    if (tooOld(queued)) return this.#giveUp(queued)
    const { name, data, attemptsStarted } = queued
    if (attemptsStarted === 1) this.#log.warn({ id: data.id, pipeline: name }, 'a job waits for its pipeline')
    return 'elsewhere'
  }

  #giveUp({ name, data }: QueuedJob<Job>): Fate {
    this.#log.error({ id: data.id, pipeline: name }, 'a job is given up')
    return 'over'
  }

  #abort(id: string, code: Ending): boolean {
    const running = this.#running.get(id)
    running?.abort(new GatewayError(code))
    return running !== undefined
  }

  /** Sends a command only while connected: commands otherwise wait for the server, and requests must not. */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (this.#redis.status !== 'ready') throw new Error('the connection is closed')
      return await work()
    } catch (error) {
      throw storeUnavailable(error)
    }
  }
}

function tooOld({ timestamp }: QueuedJob<Job>): boolean {
  return Date.now() - timestamp > LIFETIME
}

type Ending = 'cancelled' | 'draining' | 'worker_lost'
