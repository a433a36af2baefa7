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

/** The channel on which all processes receive the ids of cancelled jobs. */
export const CANCEL = 'sluice:jobs:cancel'

/** Maximum jobs that one process runs at a time; further jobs wait in the queue. */
const CONCURRENCY = 64

/**
 * Milliseconds between two checks for jobs whose owner is lost. Ownership is renewed every 2.5 to 5 s: a process loses
 * a job only if it is blocked, or cut off from the server, for more than 5 s. A job whose owner was killed is found
 * after at most 12 s: the rest of its ownership, and one check.
 */
const LOOK = 2_000

/** Milliseconds until a job that this process cannot run becomes available again. */
const AGAIN = 1_000

/** Maximum milliseconds between two attempts to connect, and before failed work is retried. */
const PAUSE = 1_000

/** The queue's message for a job whose ownership could not be renewed. */
const unrenewed = /^could not renew lock for job /

/** A worker that waits for jobs also waits for the server. */
const workerConnection = {
  maxRetriesPerRequest: null,
  connectTimeout: redisOptions.connectTimeout,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, PAUSE),
} as const satisfies RedisOptions

/**
 * The result of working on a job. `over`: it leaves the queue; `elsewhere`: another process may start it; `unended`: it
 * comes back as stalled once this process no longer owns it; `taken`: another process, or this one under a newer token,
 * has taken it over, and nothing is left to do here.
 */
export type Fate = 'over' | 'elsewhere' | 'unended' | 'taken'

/** Callbacks for the events of the queue. */
export interface JobWorkerOptions {
  /** Runs a job. Never rejects. */
  readonly work: (job: QueuedJob<Job>) => Promise<Fate>
  /** A job was cancelled; it may run here. */
  readonly cancelled: (id: string) => void
  /** This process has just renewed its ownership of these jobs. */
  readonly owned: (ids: readonly string[]) => void
  /** Another process now owns a job that runs here. */
  readonly disowned: (id: string) => void
  /** The owner of a job is lost; the job is in the queue again. */
  readonly stalled: (id: string) => void
  readonly failed: (error: Error) => void
}

/** The worker of this process. */
export interface JobWorker {
  /** Takes no further jobs. Resolves once running jobs have ended and left the queue, which needs the server. */
  stop(reachable: boolean): Promise<void>
  /** Closes the connections to the server. */
  close(): void
}

/** Starts taking jobs from the queue in the Redis at `url`. */
export function startJobWorker(url: string, options: JobWorkerOptions): JobWorker {
  const { work, cancelled, owned, disowned, stalled, failed } = options
  const connection = new Redis(url, workerConnection)
  const processed = async (job: QueuedJob<Job>, token?: string) => {
    const fate = await work(job)
    if (fate === 'over') return
    if (fate === 'elsewhere') await job.moveToDelayed(Date.now() + AGAIN, token).catch(failed)
    // Any other error, or none, would remove the job from the queue.
    throw new DelayedError()
  }
  const worker = new Worker<Job, void>(QUEUE, processed, {
    connection,
    prefix: PREFIX,
    skipVersionCheck: true,
    concurrency: CONCURRENCY,
    lockDuration: OWNED,
    stalledInterval: LOOK,
    // The queue never fails a job: its next owner sees that it was lost, and ends it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: PAUSE,
  })
  // A job that could not be renewed is also reported through `disowned`, which logs the outcome.
  worker.on('error', (error) => void (unrenewed.test(error.message) || failed(error)))
  worker.on('stalled', stalled)
  worker.on('locksRenewed', ({ jobIds }) => owned(jobIds))
  worker.on('lockRenewalFailed', (ids) => ids.forEach(disowned))
  const subscriber = new Redis(url, workerConnection)
  subscriber.on('error', failed)
  subscriber.on('message', (_, id) => cancelled(id))
  subscriber.subscribe(CANCEL).catch(failed)
  return {
    // Without its server, the worker would wait forever.
    stop: (reachable) => worker.close(!reachable),
    close() {
      connection.disconnect()
      subscriber.disconnect()
    },
  }
}

/** A running job. */
export interface RunningJob {
  /** Resolves at the end of its pipeline and its `finally`. Rejects when `finally` has to run again. */
  readonly done: Promise<void>
  /** Aborts it. */
  abort(reason: GatewayError): void
}

/** Runs jobs through the pipelines of the running configuration. */
export interface JobRunner {
  /** Starts a job; undefined: the configuration of this process has no such pipeline. */
  run(pipeline: string, job: Job): RunningJob | undefined
  /**
   * Runs only `finally`, for a job that ended with `error` before or outside of this process. Rejects when it has to
   * run again, or elsewhere because this process has no such pipeline.
   */
  end(pipeline: string, job: Job, error: GatewayError): Promise<void>
}
