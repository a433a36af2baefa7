import { expect } from 'chai'
import type { Script } from '../../support/upstream.ts'
import { until } from '../../support/until.ts'
import { decides, noted, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

describe('a judge in shadow', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  it('changes nothing, and nobody waits for it but the row of the request', async () => {
    await judged.begin({ shadow: true })
    const answered = Promise.withResolvers<Script>()
    judged.judge.answer(() => answered.promise)
    const answer = await judged.ask()
    expect(await answer.json()).to.deep.include({ object: 'chat.completion' })
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    // The client has its whole answer, and the judge has not said a word.
    answered.resolve(decides('COMPLEX', [0.1, 0.2, 0.7]))
    const { tier, complexity, notes, cost, block } = await judged.told()
    expect({ tier, complexity, notes, cost }).to.deep.equal({ tier: null, complexity: null, notes: [], cost: 0.000188 })
    const { own, judged: row } = await judged.rows()
    expect(block).to.deep.include({
      request_id: row?.id,
      shadow: true,
      gate_fired: true,
      sampled: false,
      sample_p: 1,
      asked: true,
      verdict: 'COMPLEX',
      mass: 0.7,
      escalation: 0.7,
      applied: false,
      held: false,
      input_tokens: 188,
      error: null,
    })
    expect(row).to.deep.include({ parent: own.id, status: 200, key_id: own.key_id })
  })

  it('has its deadline: then the row is written without a verdict', async () => {
    await judged.begin({ shadow: true, deadline_s: 0.2 })
    judged.judge.answer({ silent: true })
    expect((await judged.ask()).status).to.equal(200)
    await judged.judge.closed()
    const { tier, block } = await judged.told()
    expect(tier).to.equal(null)
    expect(block).to.deep.include({ asked: true, verdict: null, error: 'deadline', cost: null, cost_origin: 'unknown' })
    const { judged: row, own } = await judged.rows()
    expect(row).to.deep.include({ status: 504, result: 'failed', error: 'stage_timeout' })
    expect(noted(row ?? own)).to.deep.include({ error: 'deadline', shadow: true })
  })

  it('is heard to the end when the client leaves', async () => {
    await judged.begin({ shadow: true })
    const answered = Promise.withResolvers<Script>()
    const asked = judged.judge.requests.length
    judged.judge.answer(() => answered.promise)
    judged.main.answer({ silent: true })
    const leaving = new AbortController()
    const left = fetch(`${judged.gateway.url}/judged`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${judged.gateway.key}` },
      body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Sort.' }] }),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name)
    await judged.judge.received(asked + 1)
    leaving.abort()
    expect(await left).to.equal('AbortError')
    answered.resolve(decides('SIMPLE', [1, 0, 0]))
    const { own, judged: row } = await judged.rows()
    expect(own).to.include({ status: 499, result: 'client_closed' })
    expect(row).to.include({ status: 200, result: 'completed' })
    expect((await judged.told()).block).to.deep.include({ verdict: 'SIMPLE', error: null })
  })
})

describe('a judge that is waited for', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  it('has its deadline: then the request is served without it, and its call is closed', async () => {
    await judged.begin({ deadline_s: 0.2 })
    judged.judge.answer({ silent: true })
    expect((await judged.ask()).status).to.equal(200)
    await judged.judge.closed()
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    const { tier, notes, block } = await judged.told()
    expect({ tier, notes }).to.deep.equal({ tier: null, notes: [] })
    expect(block).to.deep.include({ asked: true, verdict: null, applied: false, error: 'deadline' })
  })

  it('has its deadline in the middle of its answer, too', async () => {
    await judged.begin({ deadline_s: 0.2 })
    judged.judge.answer({ headers: { 'content-type': 'application/json' }, chunks: ['{"answers":'], ending: 'hang' })
    expect((await judged.ask()).status).to.equal(200)
    await judged.judge.closed()
    expect((await judged.told()).block).to.deep.include({ verdict: null, error: 'deadline' })
  })

  it('is asked once, though the request is tried twice and the judge has a fallback', async () => {
    await judged.begin()
    judged.judge.answer({ status: 503, body: { error: { message: 'later' } } })
    judged.main.answer({ status: 500, body: { error: { message: 'broken' } } })
    expect((await judged.ask()).status).to.be.at.least(500)
    expect(judged.calls().judge).to.equal(1)
    expect(judged.calls().main).to.be.at.least(2)
    const { judged: row } = await judged.rows()
    expect(row).to.include({ attempts: 1, model: 'jury', status: 502 })
  })

  it('is left when the client leaves', async () => {
    await judged.begin()
    const asked = judged.judge.requests.length
    judged.judge.answer({ silent: true })
    const leaving = new AbortController()
    const left = fetch(`${judged.gateway.url}/judged`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${judged.gateway.key}` },
      body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Sort.' }] }),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name)
    await judged.judge.received(asked + 1)
    leaving.abort()
    expect(await left).to.equal('AbortError')
    await judged.judge.closed()
    const { own, judged: row } = await judged.rows()
    expect(row).to.include({ parent: own.id, status: 499, result: 'client_closed' })
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 0 })
  })
})

describe('a judge whose provider has several keys', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => {
    judged = await startJudged({ provider: { type: 'native', api_keys: ['sk-judge-one', 'sk-judge-two'] } })
  })
  after(() => judged.close())

  it('is asked with one of them, and with the other one the next time', async () => {
    await judged.begin()
    judged.judge.answer({ status: 429, body: { error: { message: 'slow down' } } }, decides('SIMPLE', [1, 0, 0]))
    expect((await judged.ask()).status).to.equal(200)
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    expect((await judged.told()).block).to.deep.include({ verdict: null, error: 'http_429' })
    await judged.begin()
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    await judged.ask()
    expect((await judged.told()).tier).to.equal('SIMPLE')
    const keys = judged.judge.requests.slice(-2).map(({ headers }) => headers['authorization'])
    expect(new Set(keys).size).to.equal(2)
  })
})

describe('the circuit of the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  const broken = { status: 500, body: { error: { message: 'broken' } } }
  const ask = async () => expect((await judged.ask()).status).to.equal(200)

  it('opens after failures in a row: then nobody is asked, and the row says so', async () => {
    await judged.begin({ circuit: { failures: 3, open_s: 3600 } })
    judged.judge.answer(
      broken,
      broken,
      decides('SIMPLE', [1, 0, 0]),
      broken,
      broken,
      broken,
      decides('SIMPLE', [1, 0, 0]),
    )
    for (let count = 0; count < 6; count++) await ask()
    expect(judged.calls().judge).to.equal(6)
    await judged.begin({ circuit: { failures: 3, open_s: 3600 } })
    await ask()
    expect(judged.calls()).to.deep.equal({ judge: 0, main: 1 })
    const { tier, notes, block } = await judged.told(1)
    expect({ tier, notes }).to.deep.equal({ tier: null, notes: [] })
    expect(block).to.deep.include({
      model: 'jury',
      request_id: null,
      gate_fired: true,
      asked: false,
      verdict: null,
      cost: null,
      error: 'circuit_open',
    })
  })

  it('is closed for other settings', async () => {
    await judged.begin({ circuit: { failures: 4, open_s: 3600 } })
    await ask()
    expect(judged.calls().judge).to.equal(1)
  })

  it('counts no refusal, and nothing that the judge could not tell', async () => {
    await judged.begin({ circuit: { failures: 1, open_s: 3600 } })
    judged.judge.answer(
      decides('UNCLEAR', [0, 0, 0, 1]),
      decides('SIMPLE', [0.5, 0.5, 0]),
      decides('SIMPLE', [1, 0, 0]),
    )
    for (let count = 0; count < 3; count++) await ask()
    expect(judged.calls().judge).to.equal(3)
  })

  it('lets one request ask after a while, whose end decides', async () => {
    const rules = { circuit: { failures: 1, open_s: 0.05 } }
    await judged.begin(rules)
    judged.judge.answer(broken)
    await ask()
    const reopened = async (asked: number) => {
      await until(async () => {
        await ask()
        return judged.calls().judge >= asked
      })
    }
    await reopened(2)
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    await reopened(3)
    await judged.begin(rules)
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    await ask()
    await ask()
    expect(judged.calls().judge).to.equal(2)
  })
})
