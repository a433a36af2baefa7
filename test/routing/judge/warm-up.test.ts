import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { decides, noted, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

describe('the warm-up of the judge', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => (judged = await startJudged()))
  after(() => judged.close())

  /** The rows of calls that nobody asked for, oldest first. */
  const warmUps = async () => (await judged.gateway.rows()).filter((row) => noted(row)['warm'] === true)

  it('is a call of its own, for nobody, when the judge is switched on', async () => {
    expect(await warmUps()).to.deep.equal([])
    await judged.begin()
    const [row, ...others] = await warmUps()
    expect(others).to.deep.equal([])
    expect(row).to.deep.include({
      type: 'judge',
      key_id: null,
      parent: null,
      requested: 'jury',
      model: 'jury',
      status: 200,
    })
    expect(noted(row ?? { metadata: '' })).not.to.have.any.keys('shadow', 'gate_fired', 'sampled')
    expect(judged.question()['input']).to.equal('images=0 tools=0 schema=0\n\nhello')
  })

  it('happens again when the settings or the model change, and at no other change', async () => {
    const { asAdmin } = judged.gateway
    const { pricing, ...other } = { provider: 'judges', upstream_model: 'other-2026', pricing: { input: 1 } }
    const record = { name: 'other-jury', supports_mapeval: true, ...other }
    expect((await asAdmin('POST /api/config/models', record)).status).to.equal(201)
    await judged.begin({ model: 'other-jury' })
    let count = (await warmUps()).length
    const isWarm = () => until(async () => (await warmUps()).length > count)
    const change = async (route: string, body: object) => {
      count = (await warmUps()).length
      const { status } = await asAdmin(`PATCH /api/config/${route}`, body)
      expect(status).to.equal(200)
    }
    await change('server/smart_routing', { judge: { deadline_s: 2 } })
    await isWarm()
    await change('models/other-jury', { pricing })
    await isWarm()
    const before = count + 1
    await change('server/security', { self_service_keys: false })
    await change('server/smart_routing', { seed: 'other' })
    // This change proves that those before it have warmed nothing up.
    await change('server/smart_routing', { judge: { deadline_s: 3 } })
    await isWarm()
    expect(await warmUps()).to.have.length(before + 1)
  })

  it('does not happen while smart routing is off', async () => {
    await judged.begin({ modes: ['auto', 'fast'], routing: { enabled: false } })
    expect(judged.calls().judge).to.equal(0)
    const before = (await warmUps()).length
    await judged.begin({ modes: ['fast'] })
    expect(await warmUps()).to.have.length(before + 1)
  })

  it('of a judge that fails harms nobody', async () => {
    await judged.begin()
    judged.judge.answer({ status: 500, body: {} })
    const before = (await warmUps()).length
    const section = { judge: { user_turns: 7, circuit: { failures: 2, open_s: 3600 } } }
    expect((await judged.gateway.asAdmin('PATCH /api/config/server/smart_routing', section)).status).to.equal(200)
    const row = await judged.gateway.row((one) => noted(one)['warm'] === true && one.status >= 500)
    expect(noted(row)).to.deep.include({ warm: true, error: 'http_500' })
    expect(await warmUps()).to.have.length(before + 1)
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    expect((await judged.ask()).status).to.equal(200)
    const own = await judged.gateway.row((one) => noted(one)['verdict'] !== undefined)
    expect(noted(own)['verdict']).to.deep.include({ tier: 'SIMPLE' })
  })

  it('counts for the circuit', async () => {
    await judged.begin()
    judged.judge.answer({ status: 500, body: {} })
    const section = { judge: { user_turns: 6, circuit: { failures: 1, open_s: 3600 } } }
    expect((await judged.gateway.asAdmin('PATCH /api/config/server/smart_routing', section)).status).to.equal(200)
    await judged.gateway.row((one) => noted(one)['error'] === 'http_500' && judged.calls().judge === 1)
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    expect((await judged.ask()).status).to.equal(200)
    const { own } = await judged.rows(2)
    expect(noted(own)['verdict']).to.have.nested.property('block.error', 'circuit_open')
    expect(judged.calls().judge).to.equal(1)
  })
})

describe('the warm-up of the judge at start', function () {
  this.timeout(60_000)

  it('is one call, before anybody asks for anything', async () => {
    const judge = await scriptedUpstream()
    judge.answer(decides('SIMPLE', [1, 0, 0]))
    const gateway = await startGateway({
      providers: [{ name: 'judges', type: 'native', base_url: judge.url, api_key: 'sk-judge' }],
      models: [
        { name: 'jury', provider: 'judges', supports_mapeval: true, pricing: { input: 1 } },
        { name: 'm', provider: 'judges', auto_eligible: true },
      ],
      server_config: { smart_routing: { enabled: true, judge: { enabled: true, model: 'jury' } } },
    })
    const row = await gateway.row(({ type }) => type === 'judge')
    expect(row).to.include({ key_id: null, parent: null, requested: 'jury', model: 'jury', status: 200 })
    expect(noted(row)).to.include({ warm: true })
    expect(judge.requests).to.have.length(1)
    expect(JSON.parse(String(judge.requests[0]?.body))).to.include({ input: 'images=0 tools=0 schema=0\n\nhello' })
    await gateway.close()
    await judge.close()
  })
})
