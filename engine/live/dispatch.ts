import type { GatewayError } from '../spec/error.ts'
import type { Job } from '../spec/key-value.ts'
import type { Reply } from '../spec/slots.ts'
import { runExchange } from '../http/exchange.ts'
import type { Sent } from '../http/reply.ts'
import { ExchangeScope } from '../http/scope.ts'
import { finish } from '../pipeline/run.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { Live } from './live.ts'

/** A job that is under way. */
export interface RunningJob {
  /** Resolves once its pipeline and its `finally` are over. Rejects when there is no such pipeline any more. */
  readonly done: Promise<void>
  /** Ends it early. */
  abort(reason: GatewayError): void
}

/** Runs jobs through the pipelines of the running configuration. */
export interface Dispatch {
  run(pipeline: string, job: Job): RunningJob
  /** Runs `finally` alone, for a job that ended with `error` before or outside of this process. Rejects like `run`. */
  end(pipeline: string, job: Job, error: GatewayError): Promise<void>
}

/** Each job is an exchange of its own: the slot `job`, the job's id, and no client. */
export function dispatchJobs(live: Pick<Live, 'acquire' | 'release'>): Dispatch {
  /** Works with a pipeline of the configuration that runs now, and holds that until it is done. */
  const withPipeline = async (name: string, work: (pipeline: CompiledPipeline) => Promise<unknown>) => {
    const snapshot = live.acquire()
    try {
      const pipeline = snapshot.pipelines.get(name)
      if (!pipeline) throw new Error(`the pipeline "${name}" of a job is gone`)
      await work(pipeline)
    } finally {
      live.release(snapshot)
    }
  }
  return {
    run(name, job) {
      const scope = new ExchangeScope(job.id)
      const done = withPipeline(name, (pipeline) =>
        runExchange(pipeline, undefined, { job }, scope, (reply) => readToEnd(reply, scope)),
      )
      return { done, abort: (reason) => scope.abort(reason) }
    },
    end(name, job, { code, message, failure }) {
      const scope = new ExchangeScope(job.id)
      return withPipeline(name, (pipeline) => {
        const outcome = {
          status: failure.status,
          result: 'failed',
          error: { code, message },
          duration: 0,
          bytes: 0,
        } as const
        return finish(pipeline, { job, outcome }, scope)
      })
    },
  }
}

/** Nobody waits for the reply: a stream is read so that its stages see all of it, and everything is let go. */
function readToEnd({ body }: Reply, scope: ExchangeScope): Promise<Sent> {
  if (body.kind !== 'stream') return Promise.resolve({ bytes: 0, firstByte: undefined, left: false })
  return new Promise((resolve) => {
    let bytes = 0
    let firstByte: number | undefined
    let forget: () => void = () => undefined
    const over = (broken?: Error) => {
      forget()
      resolve({ bytes, firstByte, left: false, ...(broken ? { broken } : {}) })
    }
    const flow = body.source.open({
      data(chunk) {
        firstByte ??= performance.now()
        bytes += chunk.length
      },
      end: () => over(),
      fail: over,
    })
    forget = scope.onAbort((reason) => {
      flow.cancel(reason)
      over(reason)
    })
  })
}
