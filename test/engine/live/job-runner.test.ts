import { expect } from 'chai'
import { pino } from 'pino'
import { jobRunner } from '../../../engine/live/job-runner.ts'
import type { Snapshot } from '../../../engine/live/snapshot.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import type { CompiledPipeline } from '../../../engine/pipeline/run.ts'
import type { RunScope, Step } from '../../../engine/pipeline/step.ts'
import { settling } from '../../../engine/pipeline/settle.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import type { Reply } from '../../../engine/spec/slots.ts'
import type { Sink } from '../../../engine/spec/source.ts'

const silent = pino({ level: 'silent' })
const job = { id: '0199-job', input: { for: 'a test' } }

/** One pipeline that does `run`, and what its `finally` saw after `first`. */
function gateway(run: Step, first: Step = () => undefined) {
  const ends: { readonly slots: Bag; readonly id: string }[] = []
  const held: string[] = []
  const pipeline: CompiledPipeline = {
    name: 'work',
    summary: 's',
    file: 'work.yaml',
    relays: false,
    public: false,
    routes: [],
    inputs: ['job'],
    run,
    access: () => undefined,
    finally: [first, (slots, { id }) => void ends.push({ slots: { ...slots }, id })],
    unreached: [],
    log: silent,
    scrub: (text) => text,
  }
  const snapshot = { pipelines: new Map([['work', pipeline]]) } as unknown as Snapshot
  const live = {
    acquire: () => {
      held.push('acquired')
      return snapshot
    },
    release: () => void held.push('released'),
  }
  return { dispatch: jobRunner(live), ends, held }
}

const replies = (body: Reply['body'], seen: (slots: Bag, scope: RunScope) => void = () => undefined): Step => {
  return (slots, scope) => {
    seen(slots, scope)
    slots.reply = { status: 200, headers: {}, body }
    return undefined
  }
}

/** A stream in the hand of the test. */
function stream() {
  let sink: Sink | undefined
  const cancelled: Error[] = []
  const source = {
    open(to: Sink) {
      sink = to
      return { pause() {}, resume() {}, cancel: (reason: Error) => void cancelled.push(reason) }
    },
  }
  const body = { kind: 'stream', source, type: 'text/plain' } as const
  return { body, cancelled, sink: () => sink as Sink }
}

describe('job-runner', () => {
  it('refuses an answer that lasts, which would never end', async () => {
    const { body, sink } = stream()
    const { dispatch, ends } = gateway(replies({ ...body, lasting: true }))
    await dispatch.run('work', job)?.done
    expect(ends[0]?.slots.outcome).to.deep.include({ result: 'failed' })
    expect(ends[0]?.slots.outcome?.error).to.include({ code: 'internal_error' })
    expect(sink()).to.equal(undefined)
  })

  it('runs a pipeline as an exchange with the id of the job, and its end once', async () => {
    const seen: unknown[] = []
    const step = replies({ kind: 'json', value: 1 }, (slots, { id }) => seen.push({ ...slots }, id))
    const { dispatch, ends, held } = gateway(step)
    await dispatch.run('work', job)?.done
    expect(seen).to.deep.equal([{ job }, job.id])
    expect(ends).to.have.length(1)
    expect(ends[0]?.id).to.equal(job.id)
    expect(ends[0]?.slots.outcome).to.include({ status: 200, result: 'completed' })
    expect(held).to.deep.equal(['acquired', 'released'])
  })

  it('reads a stream to its end', async () => {
    const { body, sink } = stream()
    const { dispatch, ends } = gateway(replies(body))
    const done = dispatch.run('work', job)?.done
    await new Promise(setImmediate)
    sink().data(Buffer.from('four'))
    sink().data(Buffer.from('more'))
    expect(ends).to.deep.equal([])
    sink().end()
    await done
    expect(ends[0]?.slots.outcome).to.include({ result: 'completed', bytes: 8 })
  })

  it('tells of a stream that broke', async () => {
    const { body, sink } = stream()
    const { dispatch, ends } = gateway(replies(body))
    const done = dispatch.run('work', job)?.done
    await new Promise(setImmediate)
    sink().fail(new GatewayError('upstream_timeout', { model: 'm' }))
    await done
    expect(ends[0]?.slots.outcome).to.deep.include({ result: 'failed' })
    expect(ends[0]?.slots.outcome?.error).to.include({ code: 'upstream_timeout' })
  })

  it('closes a stream when the job is aborted', async () => {
    const { body, cancelled } = stream()
    const { dispatch, ends } = gateway(replies(body))
    const running = dispatch.run('work', job)
    await new Promise(setImmediate)
    const reason = new GatewayError('cancelled')
    running?.abort(reason)
    await running?.done
    expect(cancelled).to.deep.equal([reason])
    expect(ends).to.have.length(1)
    expect(ends[0]?.slots.outcome?.error).to.include({ code: 'cancelled' })
  })

  it('tells of a stage that failed', async () => {
    const { dispatch, ends } = gateway(() => {
      throw new GatewayError('model_not_found', { model: 'm' })
    })
    await dispatch.run('work', job)?.done
    expect(ends[0]?.slots.outcome).to.include({ status: 404, result: 'failed' })
  })

  it('runs the end alone of a job that did not end here', async () => {
    const { dispatch, ends, held } = gateway(() => {
      throw new Error('this must not run')
    })
    await dispatch.end('work', job, new GatewayError('worker_lost'))
    const error = { code: 'worker_lost', message: 'The process that worked on the response was lost.' }
    const outcome = { status: 500, result: 'failed', error, duration: 0, bytes: 0 }
    expect(ends).to.deep.equal([{ slots: { job, outcome }, id: job.id }])
    expect(held).to.deep.equal(['acquired', 'released'])
  })

  const away = new GatewayError('store_unavailable')
  const reported = (failure: Error | undefined) => failure

  it('rejects when its end could not be written, and only if that may pass', async () => {
    for (const [failure, expected] of [
      [away, away],
      [new GatewayError('not_found'), undefined],
      [new Error('a mistake'), undefined],
    ] as const) {
      const step = replies({ kind: 'json', value: 1 })
      const { dispatch, ends, held } = gateway(step, () => Promise.reject(failure))
      const refusals = [
        await dispatch.run('work', job)?.done.then(() => undefined, reported),
        await dispatch.end('work', job, new GatewayError('worker_lost')).then(() => undefined, reported),
      ]
      expect(refusals).to.deep.equal([expected, expected])
      // The stages after the one that failed have run all the same.
      expect(ends).to.have.length(2)
      expect(held).to.deep.equal(['acquired', 'released', 'acquired', 'released'])
    }
  })

  it('settles once, in the process that took something, though its end is run again', async () => {
    const settled: unknown[] = []
    const by = { name: 'takes', at: 'work.yaml:1:1 (takes)', afterFinally: false, log: silent, scrub: String }
    const takes = settling((_, __, settle) => {
      settle?.(({ job: settledJob }, { error }) => settled.push(settledJob?.id, error?.code))
      return {}
    }, by)
    const run: Step = (slots, scope) => {
      void takes(slots, scope)
      throw new GatewayError('overloaded')
    }
    const fails: Step = () => {
      throw new GatewayError('store_unavailable')
    }
    const { dispatch } = gateway(run, fails)
    expect(await dispatch.run('work', job)?.done.catch((error: GatewayError) => error.code)).to.equal(
      'store_unavailable',
    )
    expect(settled).to.deep.equal([job.id, 'overloaded'])
    await dispatch.end('work', job, new GatewayError('worker_lost')).catch(() => undefined) // Its store fails again.
    expect(settled).to.have.length(2)
  })

  it('holds its configuration until its stages have settled', async () => {
    const given = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const by = { name: 'takes', at: 'work.yaml:1:1 (takes)', afterFinally: true, log: silent, scrub: String }
    const takes = settling((_, __, settle) => {
      settle?.(() => {
        begun.resolve()
        return given.promise
      })
      return {}
    }, by)
    const { dispatch, held, ends } = gateway((slots, scope) => {
      void takes(slots, scope)
      return undefined
    })
    const done = dispatch.run('work', job)?.done
    await begun.promise
    expect({ held, ends: ends.length }).to.deep.equal({ held: ['acquired'], ends: 1 })
    given.resolve()
    await done
    expect(held).to.deep.equal(['acquired', 'released'])
  })

  it('leaves a job whose pipeline is not here, and holds nothing', async () => {
    const { dispatch, held } = gateway(() => undefined)
    expect(dispatch.run('gone', job)).to.equal(undefined)
    const refused = await dispatch.end('gone', job, away).catch((error: Error) => error.message)
    expect(refused).to.equal('there is no pipeline "gone" here')
    expect(held).to.deep.equal(['acquired', 'released', 'acquired', 'released'])
  })
})
