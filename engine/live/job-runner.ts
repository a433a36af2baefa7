import type { GatewayError } from '../spec/error.ts'
import type { Reply } from '../spec/slots.ts'
import { runExchange } from '../http/exchange.ts'
import { readToEnd } from '../http/read-to-end.ts'
import type { Sent } from '../http/reply.ts'
import { ExchangeScope } from '../http/scope.ts'
import { finish } from '../pipeline/finish.ts'
import type { Bag } from '../pipeline/bag.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { JobRunner } from '../store/job-worker.ts'
import type { Live } from './live.ts'

/** Runs each job as an exchange without a client, with the slot `job` and the job's id. */
export function jobRunner(live: Pick<Live, 'acquire' | 'release'>): JobRunner {
  /** Runs `work` with a pipeline of the running configuration, which is held until `work` is done. */
  const withPipeline = (name: string, work: (pipeline: CompiledPipeline) => Promise<void>) => {
    const snapshot = live.acquire()
    const pipeline = snapshot.pipelines.get(name)
    if (pipeline) return work(pipeline).finally(() => live.release(snapshot))
    live.release(snapshot)
    return undefined
  }
  return {
    run(name, job) {
      const scope = new ExchangeScope(job.id)
      scope.trace = job.trace
      const done = withPipeline(name, async (pipeline) => {
        const slots: Bag = { job }
        const { failures } = await runExchange(pipeline, undefined, slots, scope, (reply) => forNobody(reply, scope))
        throwFirstRetryable(failures)
      })
      return done && { done, abort: (reason) => scope.abort(reason) }
    },
    async end(name, job, error) {
      const { code, message, failure } = error
      const { status } = failure
      const outcome = { status, result: 'failed', error: { code, message }, duration: 0, bytes: 0 } as const
      const ended = withPipeline(name, async (pipeline) =>
        throwFirstRetryable(await finish(pipeline, { job, outcome }, new ExchangeScope(job.id), error)),
      )
      if (!ended) throw new Error(`there is no pipeline "${name}" here`)
      await ended
    },
  }
}

/** Throws the first failure that a retry may resolve: something was not stored yet. */
function throwFirstRetryable(failures: readonly GatewayError[]): void {
  const retryable = failures.find(({ retry }) => retry !== 'never')
  if (retryable) throw retryable
}

/** Discards the reply. A stream is read to its end, so that its stages see all of it. */
async function forNobody({ body }: Reply, scope: ExchangeScope): Promise<Sent> {
  if (body.kind === 'stream' && body.lasting) throw new Error('a job cannot have an answer that lasts')
  if (body.kind === 'stream') return readToEnd(body.source, scope)
  return { bytes: 0, firstByte: undefined, left: false }
}
