import { DelayedError, Worker } from 'bullmq'
import type { Job as QueuedJob } from 'bullmq'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import type { GatewayError } from '../spec/error.ts'
import type { Job } from '../spec/key-value.ts'
import { OWNED } from './job-ownership.ts'
import { redisOptions } from './key-value-redis.ts'

/** The keys of the queue begin with `sluice:jobs:`. */
export const PREFIX = 'sluice'
export const QUEUE = 'jobs'

/** On this channel every process hears the ids of jobs that are to end. */
export const CANCEL = 'sluice:jobs:cancel'

/** Jobs that one process runs at a time; more of them wait until a process has room. */
const CONCURRENCY = 64

/**
 * Milliseconds between two looks for jobs whose owner gives no sign of life. A sign is given every 2.5 to 5 s: a process
 * must stand still, or be cut off from the server, for more than 5 s to lose a job. One whose owner was killed is found
 * after at most 12 s: the rest of its ownership, and one look.
 */
const LOOK = 2_000

/** Milliseconds until a job that this process cannot run is there for all again. */
const AGAIN = 1_000

/** Longest pause between two attempts to connect, and before work that failed is taken up again, in milliseconds. */
const PAUSE = 1_000

/** What the queue says of a job whose owner it could not confirm. */
const unrenewed = /^could not renew lock for job /

/** Who waits for jobs waits for the server, too. */
const patient = {
  maxRetriesPerRequest: null,
  connectTimeout: redisOptions.connectTimeout,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, PAUSE),
} as const satisfies RedisOptions

/**
 * What becomes of a job that was worked on: it is `over` and leaves the queue; somebody else may begin it (`elsewhere`);
 * it is `unended`, and comes back as stalled once this process does not own it any more; or it is `taken` over, by
 * another process or by this one under a newer token, and nothing is to be done with it here.
 */
export type Fate = 'over' | 'elsewhere' | 'unended' | 'taken'

/** What is made of what the queue brings. */
export interface JobWorkerOptions {
  /** Runs a job. Never rejects. */
  readonly work: (job: QueuedJob<Job>) => Promise<Fate>
  /** A job is to end, if it runs here. */
  readonly cancelled: (id: string) => void
  /** This process has just given a sign of life as the owner of these jobs. */
  readonly owned: (ids: readonly string[]) => void
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
  const { work, cancelled, owned, disowned, stalled, failed } = options
  const connection = new Redis(url, patient)
  const processed = async (job: QueuedJob<Job>, token?: string) => {
    const fate = await work(job)
    if (fate === 'over') return
    if (fate === 'elsewhere') await job.moveToDelayed(Date.now() + AGAIN, token).catch(failed)
    // What else is thrown, or nothing, takes the job out of the queue.
    throw new DelayedError()
  }
  const worker = new Worker<Job, void>(QUEUE, processed, {
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
  // Each job that could not be renewed is told by `disowned`, too, which says what came of it.
  worker.on('error', (error) => void (unrenewed.test(error.message) || failed(error)))
  worker.on('stalled', stalled)
  worker.on('locksRenewed', ({ jobIds }) => owned(jobIds))
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

/** A job that is under way. */
export interface RunningJob {
  /** Resolves once its pipeline and its `finally` are over. Rejects when `finally` has to be run again. */
  readonly done: Promise<void>
  /** Ends it early. */
  abort(reason: GatewayError): void
}

/** Runs jobs through the pipelines of the running configuration. */
export interface JobRunner {
  /** Begins a job; undefined: the configuration of this process has no such pipeline. */
  run(pipeline: string, job: Job): RunningJob | undefined
  /**
   * Runs `finally` alone, for a job that ended with `error` before or outside of this process. Rejects when that has to
   * be done again, or elsewhere: this process has no such pipeline.
   */
  end(pipeline: string, job: Job, error: GatewayError): Promise<void>
}
