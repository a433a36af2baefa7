import { expect } from 'chai'
import type { AnyStage, Candidate, GatewayError, Scope } from '../../../engine/index.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { unwatch, waitForStage } from '../../../engine/pipeline/deadline.ts'
import { finish } from '../../../engine/pipeline/finish.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import { TestScope, compiled, stub } from './stubs.ts'

const never = new Promise<never>(() => undefined)

/** A stage that never answers, and says why the exchange told it to stop. */
function hanging(stopped: Error[], needs: Parameters<typeof stub>[1] = []): AnyStage {
  return stub('hang', needs, [], () => (_: unknown, scope: Scope) => {
    scope.onAbort((reason) => stopped.push(reason))
    return never
  })
}

describe('the deadline of a step', () => {
  let stopped: Error[]
  let ran: string[]
  let scope: TestScope
  beforeEach(() => {
    stopped = []
    ran = []
    scope = new TestScope()
  })

  /** A pipeline of these steps, and of what is included. */
  const pipeline = (stages: string, more: readonly AnyStage[] = [], included = '') => {
    const noted = (name: string) => stub(name, [], [], () => () => (ran.push(name), {}))
    const files = {
      'p.yaml': `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages:\n${stages}  - reply\n`,
      ...(included === '' ? {} : { 'q.yaml': `name: q\nsummary: s.\nstages:\n${included}` }),
    }
    const known = [hanging(stopped), noted('first'), noted('second'), stub('reply', [], ['reply']), ...more]
    return compiled(files, known).get('p')!
  }
  const failure = async (made: ReturnType<typeof pipeline>, slots: Bag = {}): Promise<GatewayError> => {
    const thrown = await execute(made, slots, scope).then(
      () => undefined,
      (error: GatewayError) => error,
    )
    if (!thrown) throw new Error('did not fail')
    return thrown
  }

  it('keeps nothing of what it has waited for', () => {
    const waiting = waitForStage('stage', 60_000, scope, () => undefined)
    const other = waitForStage('other', 60_000, scope, () => undefined)
    expect([waiting.after, other.before]).to.deep.equal([other, waiting])
    expect(unwatch(waiting)).to.equal(true)
    expect([waiting.before, waiting.after]).to.deep.equal([undefined, undefined])
    expect(other.before).not.to.equal(waiting)
    expect(unwatch(waiting)).to.equal(false)
    expect(unwatch(other)).to.equal(true)
  })

  it('is an error at the place of the stage, which is told to stop', async () => {
    const earlier: Error[] = []
    scope.onAbort((reason) => earlier.push(reason))
    const listens = stub('listens', [], [], () => (_: unknown, given: Scope) => {
      given.onAbort((reason) => earlier.push(reason))
      return {}
    })
    const error = await failure(pipeline('  - listens\n  - hang:\n    timeout: 20ms\n', [listens]))
    expect(error.failure).to.deep.include({ status: 504, code: 'stage_timeout', type: 'server_error' })
    expect(error.message).to.equal('The gateway did not finish in time: "hang" took too long.')
    expect(error.at).to.equal('p.yaml:7:5 (hang)')
    expect(stopped).to.deep.equal([error])
    // What others began goes on: the exchange is not over, and its signal not aborted.
    expect(earlier).to.deep.equal([])
    expect(scope.reason).to.equal(undefined)
    expect(scope.signal.aborted).to.equal(false)
  })

  it('aborts the signal that the stage has asked for', async () => {
    let signal: AbortSignal | undefined
    const listens = stub('listens', [], [], () => (_: unknown, given: Scope) => {
      signal = given.signal
      return never
    })
    const error = await failure(pipeline('  - listens: {}\n    timeout: 20ms\n', [listens]))
    expect(signal?.reason).to.equal(error)
    expect(scope.signal.aborted).to.equal(false)
  })

  it('leaves out what the stage answers later', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<Bag>()
    const late = stub('late', [], ['answer'], () => () => promise)
    const slots: Bag = {}
    await failure(pipeline('  - late:\n    timeout: 20ms\n', [late]), slots)
    resolve({ answer: 'late' } as unknown as Bag)
    reject(new Error('not heard'))
    await promise
    expect(slots).to.deep.equal({})
    expect(scope.laps.map(({ stage }) => stage.name)).to.deep.equal(['late'])
  })

  it('counts for all steps of an include together, and nothing runs after it', async () => {
    const made = pipeline('  - use: q\n    timeout: 30ms\n', [], '  - first\n  - hang\n  - second\n')
    const error = await failure(made)
    expect(error.at).to.equal('q.yaml:5:5 (hang)')
    expect(ran).to.deep.equal(['first'])
    expect(scope.deadline).to.equal(Infinity)
  })

  it('counts for a switch, and for an attempt with all its tries', async () => {
    const waits = stub('waits', ['model'], [], () => async () => {
      ran.push('try')
      await never
      return {}
    })
    const slots: Bag = { candidates: [{ model: { name: 'a' }, provider: { name: 'p' } }] } as unknown as Bag
    const chosen = stub('chosen', [], ['candidates'], () => () => slots)
    const over = await failure(
      pipeline(
        '  - chosen\n  - attempt: { on: [timeout], do: [waits], otherwise: [first] }\n    timeout: 30ms\n',
        [waits, chosen],
        '',
      ),
      slots,
    )
    expect(over).to.include({ code: 'stage_timeout' })
    expect(ran).to.deep.equal(['try'])
    const arm = await failure(pipeline('  - switch: [{ do: [first, hang] }]\n    timeout: 30ms\n'))
    expect(arm.at).to.equal('p.yaml:6:28 (hang)')
  })

  it('of a stage in an attempt lets the next candidate be tried', async () => {
    const candidates = ['slow', 'fast'].map((name) => ({ model: { name }, provider: { name } }))
    const asks = stub('asks', ['model'], ['answer'], () => ({ model }: { model?: Candidate }) => {
      ran.push(model!.model.name)
      return model!.model.name === 'slow' ? never : Promise.resolve({ answer: 'served' })
    })
    const chosen = stub('chosen', [], ['candidates'], () => () => ({ candidates }))
    const made = pipeline('  - chosen\n  - attempt:\n      do:\n        - asks:\n          timeout: 20ms\n', [
      asks,
      chosen,
    ])
    const slots: Bag = {}
    await execute(made, slots, scope)
    expect(ran).to.deep.equal(['slow', 'fast'])
    expect(slots).to.include({ answer: 'served' })
    expect(scope.notes.get('tries')).to.deep.equal([{ model: 'slow', provider: 'slow', code: 'stage_timeout' }])
  })

  it('does not count while the body of the client is read', async () => {
    const body = Promise.withResolvers<string>()
    const reads = stub('reads', [], [], () => async () => {
      ran.push(await scope.standStill(body.promise))
      return {}
    })
    const running = execute(pipeline('  - reads:\n    timeout: 20ms\n', [reads]), {}, scope)
    const other = pipeline('  - hang: {}\n    timeout: 50ms\n')
    const error = await execute(other, {}, new TestScope()).catch((thrown: unknown) => thrown)
    expect(error).to.include({ code: 'stage_timeout' })
    body.resolve('whole')
    await running
    expect(ran).to.deep.equal(['whole'])
  })

  it('holds after the reply too, where the next step runs all the same', async () => {
    const files = {
      'p.yaml':
        'name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: [reply]\nfinally:\n  - hang: {}\n    timeout: 20ms\n  - first\n',
    }
    const first = stub('first', [], [], () => () => (ran.push('first'), {}))
    const made = compiled(files, [hanging(stopped), first, stub('reply', [], ['reply'])]).get('p')!
    const failures = await finish(made, { outcome: 'done' } as unknown as Bag, scope)
    expect(failures.map(({ code, at }) => [code, at])).to.deep.equal([['stage_timeout', 'p.yaml:7:5 (hang)']])
    expect(ran).to.deep.equal(['first'])
  })
})
