import { expect } from 'chai'
import { pino } from 'pino'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { dispatcher } from '../../../engine/live/dispatch.ts'
import type { Snapshot } from '../../../engine/live/snapshot.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import type { CompiledPipeline } from '../../../engine/pipeline/run.ts'
import type { RunScope, Step } from '../../../engine/pipeline/step.ts'
import { ReadyStage, stageStep } from '../../../engine/pipeline/run.ts'
import { settling } from '../../../engine/pipeline/settle.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import type { Reply } from '../../../engine/spec/slots.ts'
import type { Sink } from '../../../engine/spec/source.ts'
import { byteBudgetOf } from '../../../engine/stream/byte-budget.ts'

const log = pino({ level: 'silent' })
const job = { id: '0199-job', input: null }

interface Rig {
  readonly last?: Step
  readonly inputs?: readonly string[]
  readonly bytes?: number
  readonly hold?: () => () => void
  readonly routes?: CompiledPipeline['routes']
}

/** A configuration with one pipeline, `work`, that does `run`, and what its `finally` saw. */
function rig(run: Step, { last = () => undefined, inputs = [], bytes = Infinity, hold, routes = [] }: Rig = {}) {
  const lines: string[] = []
  const ends: { readonly slots: Bag; readonly scope: RunScope }[] = []
  const held: string[] = []
  const cuts: ((reason: GatewayError) => void)[] = []
  const pipeline: CompiledPipeline = {
    name: 'work',
    summary: 's',
    file: 'work.yaml',
    relays: false,
    public: false,
    routes,
    inputs,
    run,
    access: () => undefined,
    unreached: [],
    finally: [last, (slots, scope) => void ends.push({ slots: { ...slots }, scope })],
    log: pino({ level: 'silent' }),
    scrub: (text) => text,
  }
  const snapshot = { pipelines: new Map([['work', pipeline]]), registry: { codecs: new Map() } } as unknown as Snapshot
  const dispatch = dispatcher(() => snapshot, {
    gateway: {
      byteBudget: byteBudgetOf(bytes),
      log: pino({ base: null }, { write: (line) => void lines.push(line) }),
      scrub: (text) => text,
    },
    hold: (_, cut) => {
      if (hold) return hold()
      held.push('held')
      cuts.push(cut)
      return () => void held.push('released')
    },
  })
  return { dispatch, ends, held, cuts, lines, parent: new ExchangeScope('0199-parent') }
}

const replies =
  (body: Reply['body']): Step =>
  (slots) => {
    slots.reply = { status: 200, headers: {}, body }
    return undefined
  }

/** A stage that never ends, whatever it is told. */
const stuck = stageStep(
  new ReadyStage({
    place: { name: 'stuck', path: 'stuck', inTry: false },
    at: 'work.yaml:1:1',
    provides: [],
    gives: [],
    run: () => new Promise<never>(() => undefined),
    timeout: 600_000,
    strict: true,
  }),
)

/** A stream in the hand of the test. */
function stream() {
  const opened = Promise.withResolvers<Sink>()
  const cancelled: Error[] = []
  const source = {
    open(sink: Sink) {
      opened.resolve(sink)
      return { pause() {}, resume() {}, cancel: (reason: Error) => void cancelled.push(reason) }
    },
  }
  return { body: { kind: 'stream', source, type: 'text/plain' } as const, cancelled, opened: opened.promise }
}

describe('dispatch', () => {
  it('refuses an answer that lasts, which would never end', async () => {
    const { dispatch, parent } = rig(replies({ ...stream().body, lasting: true }))
    const { outcome } = await dispatch('work', {}, parent)
    expect(outcome.error).to.include({ code: 'internal_error' })
  })

  it('runs a pipeline with the slots it is handed, which stay as they were, and an id of its own', async () => {
    const step: Step = (slots) => {
      slots.measurement = { read: () => ({ complete: true, losses: [] }) }
      return replies({ kind: 'json', value: 1 })(slots, new ExchangeScope())
    }
    const { dispatch, ends, held, parent } = rig(step, { inputs: ['job'] })
    const given = { job }
    const { id, slots, outcome, reply } = await dispatch('work', given, parent)
    expect(given).to.deep.equal({ job })
    expect(id).not.to.equal(parent.id)
    expect(ends).to.have.length(1)
    expect(ends[0]?.scope).to.deep.include({ id, parent: parent.id })
    expect(slots.measurement).to.be.an('object')
    expect(outcome).to.equal(ends[0]?.slots.outcome)
    expect(outcome).to.include({ status: 200, result: 'completed' })
    expect(reply?.body).to.deep.equal({ kind: 'json', value: 1 })
    expect(held).to.deep.equal(['held', 'released'])
  })

  it('runs a pipeline that gives no reply', async () => {
    const { dispatch, parent } = rig(() => undefined)
    const { outcome, reply } = await dispatch('work', {}, parent)
    expect(outcome).to.include({ status: 204, result: 'completed' })
    expect(reply).to.equal(undefined)
  })

  it('fails for a pipeline that is not there, and for one that does not get what it begins with', async () => {
    const { dispatch, ends, held, lines, parent } = rig(() => undefined, { inputs: ['job'] })
    for (const [name, given, why] of [
      ['wrok', { job }, 'no pipeline "wrok"'],
      ['work', {}, '"work" begins with job, which it did not get'],
    ] as const) {
      // Who does not wait for it must not be hit by a rejection.
      const { id, outcome, reply } = await dispatch(name, given, parent)
      expect(outcome).to.include({ status: 500, result: 'failed' })
      expect(outcome.error?.code).to.equal('internal_error')
      expect(reply?.status).to.equal(500)
      expect(JSON.stringify(reply)).not.to.include('work')
      const line = lines.pop() ?? ''
      expect(line).to.include(why.replaceAll('"', '\\"'))
      expect(JSON.parse(line)).to.include({ id, parent: parent.id })
    }
    expect(ends).to.deep.equal([])
    expect(held).to.deep.equal([])
    const served = rig(() => undefined, { routes: [{ method: 'POST', path: '/work' }] })
    await served.dispatch('work', {}, parent)
    expect(served.lines.join()).to.include('begins with ingress')
  })

  it('fails when its configuration is closed already', async () => {
    const { dispatch, ends, parent } = rig(() => undefined, {
      hold: () => {
        throw new Error('the configuration is closed')
      },
    })
    expect((await dispatch('work', {}, parent)).outcome.error?.code).to.equal('internal_error')
    expect(ends).to.deep.equal([])
  })

  it('runs nothing but its finally when its parent has ended before', async () => {
    let ran = false
    const { dispatch, ends, parent } = rig(() => void (ran = true))
    parent.abort(new GatewayError('client_closed'))
    const { outcome } = await dispatch('work', {}, parent, { deadline: 600_000 })
    expect(outcome).to.include({ status: 499, result: 'client_closed' })
    expect(ran).to.equal(false)
    expect(ends).to.have.length(1)
  })

  it('answers when it failed, with the error for a reply', async () => {
    const { dispatch, parent } = rig(() => {
      throw new GatewayError('model_not_found', { model: 'm' })
    })
    const { outcome, reply } = await dispatch('work', {}, parent)
    expect(outcome).to.include({ status: 404, result: 'failed' })
    expect(outcome.error?.code).to.equal('model_not_found')
    expect(reply?.status).to.equal(404)
  })

  it('gathers a stream, and waits for its finally', async () => {
    const { body, opened } = stream()
    const after = Promise.withResolvers<void>()
    const { dispatch, ends, parent } = rig(replies(body), { last: () => after.promise })
    const running = dispatch('work', {}, parent)
    const sink = await opened
    sink.data(Buffer.from('four'))
    sink.data(Buffer.from('more'))
    sink.end()
    after.resolve()
    const { reply, outcome } = await running
    expect(ends).to.have.length(1)
    expect(reply?.body).to.deep.equal({ kind: 'bytes', bytes: Buffer.from('fourmore'), type: 'text/plain' })
    expect(outcome).to.include({ bytes: 8, result: 'completed' })
  })

  it('refuses a stream beyond its limit, and one for which there is no room', async () => {
    for (const [options, bytes, code] of [
      [{ limit: 5 }, Infinity, 'upstream_invalid_response'],
      [{}, 1, 'overloaded'],
    ] as const) {
      const { body, opened, cancelled } = stream()
      const { dispatch, parent } = rig(replies(body), { bytes })
      const running = dispatch('work', {}, parent, options)
      ;(await opened).data(Buffer.alloc(20_000))
      const { outcome, reply } = await running
      expect(outcome.error?.code).to.equal(code)
      expect(reply?.status).to.equal(outcome.status)
      expect(cancelled).to.have.length(1)
    }
  })

  it('gives back what a stream took of the budget', async () => {
    const streams = [stream(), stream()]
    const bodies = streams.map(({ body }) => body)
    const step: Step = (slots, scope) => replies(bodies.shift() as Reply['body'])(slots, scope)
    const { dispatch, parent } = rig(step, { bytes: 10_000 })
    for (const { opened } of streams) {
      const running = dispatch('work', {}, parent)
      const sink = await opened
      sink.data(Buffer.alloc(20_000))
      sink.end()
      expect((await running).outcome.result).to.equal('completed')
    }
  })

  it('settles by itself, before it answers, and leaves to its parent what that has taken', async () => {
    const settled: string[] = []
    const by = { name: 'takes', at: 'work.yaml:1:1 (takes)', afterFinally: false, log, scrub: String }
    const takes = (what: string) =>
      settling((_, __, settle) => {
        settle?.(async ({ outcome }) => {
          await Promise.resolve()
          settled.push(`${what} ${outcome?.result}`)
        })
        return {}
      }, by)
    const { dispatch, parent } = rig((slots, scope) => {
      void takes('own')(slots, scope)
      return undefined
    })
    void takes('of its parent')({}, parent)
    await dispatch('work', {}, parent)
    expect(settled).to.deep.equal(['own completed'])
  })

  it('ends with its parent, and closes what it reads', async () => {
    const { body, opened, cancelled } = stream()
    const { dispatch, parent, ends } = rig(replies(body))
    const running = dispatch('work', {}, parent)
    await opened
    parent.abort(new GatewayError('client_closed'))
    const { outcome } = await running
    expect(outcome).to.include({ status: 499, result: 'client_closed' })
    expect(cancelled).to.have.length(1)
    expect(ends).to.have.length(1)
  })

  it('ends at its deadline, also a stage that heeds nothing, and gives its finally time of its own', async () => {
    const deadlines: number[] = []
    const last: Step = (_, { deadline }) => void deadlines.push(deadline)
    const { dispatch, parent, ends } = rig(stuck, { last })
    const { outcome, reply } = await dispatch('work', {}, parent, { deadline: 20 })
    expect(outcome.error?.code).to.equal('stage_timeout')
    expect(reply?.status).to.equal(504)
    expect(deadlines).to.deep.equal([Infinity])
    expect(ends).to.have.length(1)
  })

  it('is not ended any more once it has come to its finally', async () => {
    const reached = Promise.withResolvers<RunScope>()
    const after = Promise.withResolvers<void>()
    const last: Step = (_, scope) => {
      reached.resolve(scope)
      return after.promise
    }
    const { dispatch, parent } = rig(() => undefined, { last })
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    // The time limit of this test has begun.
    await new Promise(setImmediate)
    const before = timers()
    const running = dispatch('work', {}, parent, { deadline: 600_000 })
    const scope = await reached.promise
    expect(timers()).to.equal(before)
    parent.abort(new GatewayError('client_closed'))
    expect(scope.signal.aborted).to.equal(false)
    after.resolve()
    expect((await running).outcome.result).to.equal('completed')
  })

  it('ends when the gateway stops, though its parent is over', async () => {
    const { body, opened, cancelled } = stream()
    const { dispatch, parent, cuts, held } = rig(replies(body))
    const running = dispatch('work', {}, parent)
    await opened
    parent.end(() => undefined)
    cuts[0]?.(new GatewayError('draining'))
    expect((await running).outcome).to.include({ status: 503, result: 'failed' })
    expect(cancelled).to.have.length(1)
    expect(held).to.deep.equal(['held', 'released'])
  })
})
