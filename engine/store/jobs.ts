import { once } from 'node:events'
import { Queue } from 'bullmq'
import type { Job as QueuedJob } from 'bullmq'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { GatewayError } from '../spec/error.ts'
import type { Job, Jobs } from '../spec/key-value.ts'
import type { Dispatch, RunningJob } from '../live/dispatch.ts'
import { CANCEL, PREFIX, QUEUE, startJobWorker } from './job-worker.ts'
import type { JobWorker } from './job-worker.ts'
import { redisOptions } from './key-value-redis.ts'
import { storeUnavailable } from './key-value.ts'

/** Most bytes of JSON of a job: it is to name what it needs, not to carry it. */
const PAYLOAD = 16 * 1024

/**
 * Takes a job that nobody owns out of the queue: of all who try, one is told 1. The queue's own `remove` says the same of
 * a job that is not there any more.
 */
const CLAIM = `
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[1] .. ':lock') == 1 then return 0 end
redis.call('LREM', KEYS[2], 0, ARGV[1])
redis.call('LREM', KEYS[3], 0, ARGV[1])
redis.call('SREM', KEYS[4], ARGV[1])
return redis.call('DEL', KEYS[1])`

/** Jobs in a queue that all processes on one key-value store share. */
export interface OpenJobs extends Jobs {
  /** From now on this process takes jobs. */
  start(dispatch: Dispatch): void
  /**
   * Takes no further jobs and lets those under way finish, for at most `deadline` milliseconds; then they end with the
   * error `draining`, for which they have another `lastWords` milliseconds.
   */
  drain(deadline: number, lastWords: number): Promise<void>
  close(): Promise<void>
}

/** Opens the queue in the key-value store at `url`. One that cannot be reached comes back by itself. */
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
  readonly #running = new Map<string, RunningJob>()
  #dispatch: Dispatch | undefined
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

  /** Tells the log of an error of a connection or of the queue itself; while the server is away, the first says it all. */
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
    const job = await this.#ask(() => this.#queue.getJob(id))
    if (!job) return
    if (await this.#claim(id)) await this.#end(job, 'cancelled')
    else await this.#ask(() => this.#redis.publish(CANCEL, id))
  }

  start(dispatch: Dispatch): void {
    this.#dispatch = dispatch
    this.#worker = startJobWorker(this.#url, {
      work: (job) => this.#work(job, dispatch),
      cancelled: (id) => this.#abort(id, 'cancelled'),
      disowned: (id) => void this.#disown(id).catch(this.failed),
      stalled: (id) => void this.#rescue(id).catch(this.failed),
      failed: this.failed,
    })
  }

  async drain(deadline: number, lastWords: number): Promise<void> {
    if (!this.#worker) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cut = () => [...this.#running.keys()].forEach((id) => this.#abort(id, 'draining'))
    const timers = [setTimeout(cut, deadline), setTimeout(resolve, deadline + lastWords)]
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

  /** Runs a job that this process owns now. One that another process has begun and lost only comes to its end. */
  async #work(queued: QueuedJob<Job>, dispatch: Dispatch): Promise<void> {
    if (queued.stalledCounter > 0) return this.#lost(queued)
    const { name, data } = queued
    const running = dispatch.run(name, data)
    this.#running.set(data.id, running)
    try {
      await running.done
    } catch (error) {
      this.#log.error({ err: error, id: data.id }, 'a job could not be run')
    } finally {
      this.#running.delete(data.id)
    }
  }

  /** Ends a job whose owner is lost, without waiting until a process has room for another job. */
  async #rescue(id: string): Promise<void> {
    const job = await this.#ask(() => this.#queue.getJob(id))
    if (job && (await this.#claim(id))) await this.#lost(job)
  }

  /** Ends a job that runs here although this process does not own it any more; if nobody else does, nobody else will. */
  async #disown(id: string): Promise<void> {
    try {
      await this.#claim(id)
    } finally {
      this.#abort(id, 'worker_lost')
    }
  }

  /** It may be this process that was silent for too long: then the job is still under way and comes to its end by itself. */
  async #lost(job: QueuedJob<Job>): Promise<void> {
    if (!this.#abort(job.data.id, 'worker_lost')) await this.#end(job, 'worker_lost')
  }

  /** Takes a job that nobody owns out of the queue, so that nobody else will; answers whether it did. */
  #claim(id: string): Promise<boolean> {
    const keys = [id, 'wait', 'active', 'stalled'].map((name) => this.#queue.toKey(name))
    return this.#ask(async () => (await this.#redis.eval(CLAIM, keys.length, ...keys, id)) === 1)
  }

  async #end({ name, data }: QueuedJob<Job>, code: Ending): Promise<void> {
    this.#log[code === 'cancelled' ? 'info' : 'warn']({ id: data.id, code }, 'a job ends unfinished')
    try {
      await this.#dispatch?.end(name, data, new GatewayError(code))
    } catch (error) {
      this.#log.error({ err: error, id: data.id }, 'a job could not be ended')
    }
  }

  #abort(id: string, code: Ending): boolean {
    const running = this.#running.get(id)
    running?.abort(new GatewayError(code))
    return running !== undefined
  }

  /** Asks the server, which may be away: commands then wait for it, and a request must not. */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (this.#redis.status !== 'ready') throw new Error('the connection is closed')
      return await work()
    } catch (error) {
      throw storeUnavailable(error)
    }
  }
}

type Ending = 'cancelled' | 'draining' | 'worker_lost'
