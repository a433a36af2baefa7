import { Worker } from 'bullmq'
import type { Job as QueuedJob } from 'bullmq'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import type { Job } from '../spec/key-value.ts'
import { redisOptions } from './key-value-redis.ts'

/** The keys of the queue begin with `sluice:jobs:`. */
export const PREFIX = 'sluice'
export const QUEUE = 'jobs'

/** On this channel every process hears the ids of jobs that are to end. */
export const CANCEL = 'sluice:jobs:cancel'

/** Jobs that one process runs at a time; more of them wait until a process has room. */
const CONCURRENCY = 64

/**
 * Milliseconds that a process owns a job without a sign of life, and between two looks for jobs whose owner gives none.
 * A sign is given every 2.5 to 5 s: a process must stand still, or be cut off from the server, for more than 5 s to lose
 * a job. One whose owner was killed is found after at most 12 s: the rest of its ownership, and one look.
 */
const OWNED = 10_000
const LOOK = 2_000

/** Longest pause between two attempts to connect, and before work that failed is taken up again, in milliseconds. */
const PAUSE = 1_000

/** Who waits for jobs waits for the server, too. */
const patient = {
  maxRetriesPerRequest: null,
  connectTimeout: redisOptions.connectTimeout,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, PAUSE),
} as const satisfies RedisOptions

/** What is made of what the queue brings. */
export interface JobWorkerOptions {
  /** Runs a job. Never rejects. */
  readonly work: (job: QueuedJob<Job>) => Promise<void>
  /** A job is to end, if it runs here. */
  readonly cancelled: (id: string) => void
  /** A job that runs here belongs to another process by now. */
  readonly disowned: (id: string) => void
  /** The owner of a job is lost; the job stands in the queue again. */
  readonly stalled: (id: string) => void
  readonly failed: (error: Error) => void
}

/** This process's hand in the queue. */
export interface JobWorker {
  /** Takes no further jobs; resolves once those under way are over and gone from the queue, which takes its server. */
  stop(reachable: boolean): Promise<void>
  /** Lets go of the server. */
  close(): void
}

/** Begins to take jobs from the queue in the Redis at `url`. */
export function startJobWorker(url: string, options: JobWorkerOptions): JobWorker {
  const { work, cancelled, disowned, stalled, failed } = options
  const connection = new Redis(url, patient)
  const worker = new Worker<Job, void>(QUEUE, (job) => work(job), {
    connection,
    prefix: PREFIX,
    skipVersionCheck: true,
    concurrency: CONCURRENCY,
    lockDuration: OWNED,
    stalledInterval: LOOK,
    // A job is never failed by the queue: whoever takes it next sees that it was lost, and ends it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: PAUSE,
  })
  worker.on('error', failed)
  worker.on('stalled', stalled)
  worker.on('lockRenewalFailed', (ids) => ids.forEach(disowned))
  const subscriber = new Redis(url, patient)
  subscriber.on('error', failed)
  subscriber.on('message', (_, id) => cancelled(id))
  subscriber.subscribe(CANCEL).catch(failed)
  return {
    // Without its server, the worker would wait for that for ever.
    stop: (reachable) => worker.close(!reachable),
    close() {
      connection.disconnect()
      subscriber.disconnect()
    },
  }
}
