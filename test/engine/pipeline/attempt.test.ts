import { expect } from 'chai'
import type { Candidate, ErrorCode, ErrorOptions } from '../../../engine/index.ts'
import { GatewayError, passedOver } from '../../../engine/index.ts'
import { Attempt, attemptStep } from '../../../engine/pipeline/attempt.ts'
import type { AttemptOptions } from '../../../engine/pipeline/attempt.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { RetryBudget } from '../../../engine/pipeline/retry-budget.ts'
import type { Step } from '../../../engine/pipeline/step.ts'
import { LapScope, TestScope } from './stubs.ts'

const busy = (options: ErrorOptions = {}, code: ErrorCode = 'upstream_error') =>
  new GatewayError(code, {}, { tags: ['503'], ...options })
const same = (options: ErrorOptions = {}) => busy(options, 'overloaded')

/** Tries candidates named by letters; each letter answers with its errors in turn, then serves. */
async function ask(
  script: Record<string, GatewayError[]>,
  {
    run: tried,
    otherwise,
    ...options
  }: Partial<AttemptOptions> & { readonly run?: Step; readonly otherwise?: Step } = {},
  scope = new TestScope(),
) {
  const asked: string[] = []
  const left = new Map(Object.entries(script).map(([name, errors]) => [name, [...errors]]))
  const asking: Step = async (slots, { attempt }) => {
    const name = String(slots.model?.model.name)
    asked.push(`${name}${attempt}`)
    if (slots.answer !== undefined) asked.push('saw a former try')
    slots.answer = `answer of ${name}` as never
    const error = left.get(name)?.shift()
    if (error) throw error
    await Promise.resolve()
  }
  const candidates = Object.keys(script).map(
    (name) => ({ model: { name }, provider: { name: `at-${name}` } }) as unknown as Candidate,
  )
  const slots: Bag = { candidates }
  const attempt = new Attempt({
    over: 'candidates',
    tries: 3,
    on: ['connect', 'timeout', 'invalid', 'guard', '429', '5xx'],
    wait: 0,
    waitMax: 0,
    at: 'p.yaml:1:1',
    retries: new RetryBudget(),
    budget: { floor: 3, share: 0.2 },
    gives: ['answer'],
    ...options,
  })
  const step = attemptStep(attempt, tried ?? asking, otherwise)
  const outcome = await Promise.try(async () => step(slots, scope)).then(
    () => 'served',
    (error: GatewayError) => error,
  )
  return { asked: asked.join(' '), outcome, slots, scope }
}

describe('attempt', () => {
  it('counts the time between two tries for no stage', async () => {
    const scope = new LapScope()
    await ask({ a: [busy()], b: [] }, {}, scope)
    expect(scope.timed).to.deep.equal(['begin'])
  })

  it('goes on to the next candidate, from the same slots, and binds the one that served', async () => {
    const { asked, outcome, slots, scope } = await ask({
      a: [busy()],
      b: [busy({ tags: ['connect'] }, 'upstream_unreachable')],
      c: [],
    })
    expect(asked).to.equal('a1 b2 c3')
    expect(outcome).to.equal('served')
    expect(slots.model?.model.name).to.equal('c')
    expect(slots.answer).to.equal('answer of c')
    expect(scope.attempt).to.equal(3)
    expect(scope.notes.get('tries')).to.deep.equal([
      { model: 'a', provider: 'at-a', code: 'upstream_error', status: 503 },
      { model: 'b', provider: 'at-b', code: 'upstream_unreachable' },
    ])
  })

  it('begins again with the first one and throws the last error', async () => {
    const last = busy()
    const { asked, outcome, slots } = await ask({ a: [busy(), last], b: [busy()] })
    expect(asked).to.equal('a1 b2 a3')
    expect(outcome).to.equal(last)
    expect(slots).to.have.all.keys('candidates')
  })

  it('asks the same candidate again when its error says so, or when another list than the default names it', async () => {
    expect((await ask({ a: [same(), same()] })).asked).to.equal('a1 a2 a3')
    expect((await ask({ a: [busy(), busy()] })).asked).to.equal('a1')
    expect((await ask({ a: [busy(), busy()] }, { on: ['5xx'] })).asked).to.equal('a1 a2 a3')
    const final = () => new GatewayError('upstream_rejected', {}, { tags: ['418'] })
    expect((await ask({ a: [final(), final()] }, { on: ['4xx'] })).asked).to.equal('a1 a2 a3')
    expect((await ask({ a: [final(), final()] })).asked).to.equal('a1')
  })

  it('asks the candidate that a guard wants, whatever words name it', async () => {
    for (const on of [['guard', '5xx'], undefined])
      for (const [retry, asked] of [
        ['same', 'a1 a2'],
        ['other', 'a1 b2'],
      ] as const) {
        const denied = busy({ tags: ['guard'], retry })
        expect((await ask({ a: [denied], b: [] }, on ? { on } : {})).asked).to.equal(asked)
      }
  })

  it('does not wait for a try that the time of the steps around it does not allow', async () => {
    const scope = new TestScope()
    // How long it waits is drawn by lot, up to the given time.
    scope.deadline = scope.clock() + 60_000
    const { asked, outcome } = await ask({ a: [same()] }, { wait: 1e15, waitMax: 1e15 }, scope)
    expect(asked).to.equal('a1')
    expect(outcome).to.include({ code: 'overloaded' })
  })

  it('leaves out a candidate that asked to wait', async () => {
    const { asked } = await ask({ a: [busy({ retryAfter: 20 })], b: [same(), same(), same()] }, { tries: 4 })
    expect(asked).to.equal('a1 b2 b3 b4')
    expect((await ask({ a: [same({ retryAfter: 1 })] })).asked).to.equal('a1')
  })

  it('stops at errors that are final or not listed', async () => {
    const listed = (tags: string[], on: string[]) => ask({ a: [busy({ tags })], b: [] }, { on })
    expect((await listed(['404'], ['429', '5xx'])).asked).to.equal('a1')
    expect((await listed(['404'], ['4xx'])).asked).to.equal('a1 b2')
    expect((await listed(['429'], ['429'])).asked).to.equal('a1 b2')
    expect((await listed(['invalid'], ['connect', 'invalid'])).asked).to.equal('a1 b2')
    expect((await listed([], ['connect', '5xx'])).asked).to.equal('a1')
    expect((await ask({ a: [new GatewayError('invalid_request', {}, { tags: ['503'] })], b: [] })).asked).to.equal('a1')
  })

  it('stops when the exchange is aborted, also while it waits', async () => {
    const gone = new TestScope()
    gone.abort()
    expect((await ask({ a: [busy()], b: [] }, {}, gone)).asked).to.equal('a1')
    const leaving = new TestScope()
    const error = same()
    const asking = ask({ a: [error] }, { wait: 3_600_000, waitMax: 3_600_000 }, leaving)
    setImmediate(() => leaving.abort())
    const { asked, outcome } = await asking
    expect(asked).to.equal('a1')
    expect(outcome).to.equal(error)
  })

  describe('otherwise', () => {
    const notFound = () => new GatewayError('upstream_rejected', {}, { tags: ['404'], status: 404 })
    const instead: Step = async (slots) => {
      expect(slots.model, 'a try left its model').to.equal(undefined)
      expect(slots.answer, 'a try left its answer').to.equal(undefined)
      await Promise.resolve()
      slots.answer = 'instead' as never
    }
    const on = ['connect', '404', '5xx']

    it('runs from the slots before the attempt when every try failed', async () => {
      const { asked, outcome, slots, scope } = await ask(
        { a: [busy()], b: [busy({ tags: ['connect'] })] },
        { on, tries: 2, otherwise: instead },
      )
      expect(asked).to.equal('a1 b2')
      expect(outcome).to.equal('served')
      expect([slots.answer, slots.model]).to.deep.equal(['instead', undefined])
      expect(scope.notes.get('tries')).to.have.length(2)
    })

    it('runs after an error that allows no further try', async () => {
      const { asked, outcome, slots } = await ask({ a: [notFound()], b: [] }, { on, tries: 1, otherwise: instead })
      expect([asked, outcome, slots.answer]).to.deep.equal(['a1', 'served', 'instead'])
    })

    it('runs neither after an error of no word, nor where a try served, nor for a client that left', async () => {
      const never: Step = () => {
        throw new Error('it ran')
      }
      const refused = new GatewayError('upstream_rejected', {}, { tags: ['400'] })
      expect((await ask({ a: [refused] }, { on, otherwise: never })).outcome).to.equal(refused)
      const own = new TypeError('a mistake')
      expect((await ask({ a: [own as never] }, { on, otherwise: never })).outcome).to.include({ cause: own })
      expect((await ask({}, { on, otherwise: never })).outcome).to.include({ code: 'internal_error' })
      const { outcome, slots } = await ask({ a: [busy()], b: [] }, { on, otherwise: never })
      expect([outcome, slots.model?.model.name]).to.deep.equal(['served', 'b'])
      const gone = new TestScope()
      gone.abort()
      const lost = notFound()
      expect((await ask({ a: [lost] }, { on, otherwise: never }, gone)).outcome).to.equal(lost)
    })

    it('fails with the error of its own steps', async () => {
      const own = new GatewayError('invalid_request', { reason: 'no' })
      const failing: Step = () => Promise.reject(own)
      expect((await ask({ a: [notFound()] }, { on, tries: 1, otherwise: failing })).outcome).to.equal(own)
    })
  })

  it('does not count a candidate that a stage passed over, does not come back to it, and keeps the error of a try', async () => {
    const passed = () => new GatewayError('breaker_open', {}, { tags: [passedOver, '503'] })
    const last = same()
    const { asked, outcome, scope } = await ask({ a: [passed()], b: [same(), same(), last], c: [passed()] })
    expect(asked).to.equal('a1 b1 c2 b2 b3')
    expect(outcome).to.equal(last)
    expect(scope.attempt).to.equal(3)
    const failed = busy()
    expect(await ask({ a: [failed], b: [passed()] })).to.include({ asked: 'a1 b2', outcome: failed })
    const nobody = passed()
    expect(await ask({ a: [nobody] })).to.include({ asked: 'a1', outcome: nobody })
  })

  it('asks another provider when the retries of one are used up, and otherwise throws the error of the try', async () => {
    const budget = { floor: 0, share: 0 }
    const error = same()
    expect(await ask({ a: [error] }, { budget })).to.include({ asked: 'a1', outcome: error })
    expect(await ask({ a: [same(), same()], b: [error] }, { budget })).to.include({ asked: 'a1 b2', outcome: error })
  })

  it('tells its steps whether another try would follow, and those around it nothing', async () => {
    const scope = new TestScope()
    const around = { follows: () => true }
    scope.tries = around
    const seen: unknown[] = []
    const failing = (error: GatewayError): Step => {
      return (_, { tries }) => {
        seen.push(tries?.follows(error))
        throw error
      }
    }
    const beside: Step = (_, { tries }) => void seen.push(tries === around)
    await ask({ a: [], b: [] }, { run: failing(busy()), tries: 2, otherwise: beside }, scope)
    expect(seen.splice(0)).to.deep.equal([true, false, true])
    await ask({ a: [] }, { run: (_, { tries }) => void seen.push(tries?.follows(busy())) }, scope)
    beside({}, scope)
    expect(seen.splice(0)).to.deep.equal([false, true])
    scope.deadline = scope.clock()
    await ask({ a: [], b: [] }, { run: failing(busy()) }, scope)
    expect([...seen, scope.tries]).to.deep.equal([false, around])
  })

  it('says where there was nothing to try', async () => {
    const { outcome } = await ask({})
    expect(outcome).to.include({ code: 'internal_error', at: 'p.yaml:1:1 (attempt)' })
  })
})
