import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { decides, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

const key = 'sk-budget-0123456789abcdef0123456789'

describe('what the judge costs', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => {
    const budget = { usd: 10, period: 'day' }
    judged = await startJudged({
      api_keys: [
        { name: 'rich', key: `${key}-rich`, budget, rate_limit: { requests: 100, tokens: 100_000, period: '1h' } },
        { name: 'poor', key: `${key}-poor`, budget: { usd: 0.0021, period: 'day' } },
        { name: 'only-m', key: `${key}-only`, models: ['m'] },
      ],
      sections: { rate_limits: { budget: { server: { usd: 1000, period: 'day' } } } },
    })
  })
  after(() => judged.close())
  const askAs = (name: string, signals: JsonObject = {}) =>
    judged.gateway.post(
      '/judged',
      { model: 'auto', max_tokens: 10, messages: [{ role: 'user', content: 'Sort a list.' }] },
      { 'x-signals': JSON.stringify(signals), authorization: `Bearer ${key}-${name}` },
    )
  const spent = async (name: string) => {
    const { body } = await judged.gateway.asAdmin('GET /api/api-keys/spend-summary')
    const rows = body['data'] as readonly (JsonObject & { readonly key: JsonObject; readonly budget: JsonObject })[]
    return rows.find((row) => row.key['name'] === name)
  }

  it('is charged to the budgets of the request, and counts towards no rate limit', async () => {
    await judged.begin()
    const answer = await askAs('rich')
    expect(answer.status).to.equal(200)
    // Nine tokens in and four out, at 100 USD per million; 188 of the judge at 1 USD.
    const { own, judged: row } = await judged.rows()
    expect([own.cost_micros, row?.cost_micros]).to.deep.equal([1300, 188])
    const { body } = await judged.gateway.asAdmin(`GET /api/logs/${row?.id}`)
    expect(body['charged']).to.deep.equal([
      { bucket: 'key', usd: 0.000188 },
      { bucket: 'server', usd: 0.000188 },
    ])
    const shown = await spent('rich')
    expect(shown?.budget).to.deep.include({ spent: 0.001488, held: 0 })
    expect(shown).to.deep.include({ requests: 1, cost: 0.001488 })
    const again = await askAs('rich')
    // One request each, and the tokens of the answers alone.
    expect(again.headers.get('x-ratelimit-remaining-requests')).to.equal('98')
    expect(Number(again.headers.get('x-ratelimit-remaining-tokens'))).to.be.above(100_000 - 188)
  })

  it('is told with the request', async () => {
    await judged.begin()
    await askAs('rich')
    const { own, judged: row } = await judged.rows()
    const { body } = await judged.gateway.asAdmin(`GET /api/logs/${own.id}`)
    expect(body['children']).to.deep.equal([{ id: row?.id, type: 'judge', cost: 0.000188 }])
  })

  it('must leave room for the request itself: otherwise nobody is asked, in shadow or not', async () => {
    for (const shadow of [false, true]) {
      await judged.begin({ shadow })
      // The request alone would be admitted.
      const answer = await askAs('poor')
      expect(answer.status).to.equal(200)
      expect(judged.calls()).to.deep.equal({ judge: 0, main: 1 })
      expect((await judged.told(1)).block).to.equal(null)
    }
  })

  it('is that of the price in the settings, if there is one', async () => {
    await judged.begin({ price: { input: 0.05 } })
    await askAs('rich')
    const { judged: row } = await judged.rows()
    expect(row?.cost_micros).to.equal(9)
    const { cost, block } = await judged.told()
    expect(cost).to.equal(0.0000094)
    expect(block).to.deep.include({ cost: 0.0000094, cost_origin: 'override', input_tokens: 188 })
  })

  it('is nothing where the judge was not heard', async () => {
    await judged.begin()
    judged.judge.answer({ status: 500, body: {} })
    await askAs('rich')
    expect((await judged.told()).block).to.deep.include({ input_tokens: null, cost: null, cost_origin: 'unknown' })
  })

  it('needs no permission to use the judge itself', async () => {
    await judged.begin()
    expect((await askAs('only')).status).to.equal(200)
    expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
    expect((await judged.told()).tier).to.equal('MEDIUM')
  })

  it('is a part of sums of cost and usage, and no request', async () => {
    const sums = async () => (await judged.gateway.asAdmin('GET /api/logs/stats')).body
    const before = await sums()
    await judged.begin()
    judged.judge.answer(decides('SIMPLE', [1, 0, 0]))
    await askAs('rich')
    await judged.rows()
    const after = await sums()
    const grown = (name: string, from = before, to = after) => Number(to[name]) - Number(from[name])
    expect(grown('requests')).to.equal(1)
    expect(grown('cost')).to.be.closeTo(0.001488, 1e-9)
    expect(grown('input', before['usage'] as JsonObject, after['usage'] as JsonObject)).to.equal(9 + 188)
    expect(grown('2xx', before['by_status'] as JsonObject, after['by_status'] as JsonObject)).to.equal(1)
    const { body } = await judged.gateway.asAdmin('GET /api/logs/series?interval=1h')
    const points = body['data'] as readonly JsonObject[]
    const completed = points.reduce((sum, point) => sum + Number(point['completed']), 0)
    expect(completed).to.equal(Number(after['requests']) - Number(after['failed']))
  })
})

describe('a judge without a price', function () {
  this.timeout(60_000)
  let judged: Judged
  before(async () => {
    judged = await startJudged({
      pricing: null,
      api_keys: [{ name: 'rich', key: `${key}-rich`, budget: { usd: 10, period: 'day' } }],
    })
  })
  after(() => judged.close())

  it('is asked where no budget applies, at an unknown cost', async () => {
    await judged.begin()
    await judged.ask()
    expect((await judged.told()).block).to.deep.include({ asked: true, cost: null, cost_origin: 'unknown' })
  })

  it('costs what its upstream says, if that says it', async () => {
    await judged.begin()
    const { body } = decides('MEDIUM', [0.1, 0.8, 0.1])
    const usage = { input_tokens: 188, output_tokens: 4, total_tokens: 192, cost: 0.0000235 }
    judged.judge.answer({ body: { ...(body as object), usage } })
    await judged.ask()
    expect((await judged.told()).block).to.deep.include({
      input_tokens: 188,
      cost: 0.0000235,
      cost_origin: 'upstream',
    })
    const { judged: row } = await judged.rows()
    expect(row).to.include({ cost_micros: 24 })
  })

  it('is not asked where a budget applies', async () => {
    await judged.begin()
    const answer = await judged.gateway.post(
      '/judged',
      { model: 'auto', messages: [{ role: 'user', content: 'Sort.' }] },
      { authorization: `Bearer ${key}-rich` },
    )
    expect(answer.status).to.equal(200)
    expect(judged.calls()).to.deep.equal({ judge: 0, main: 1 })
  })
})
