import { join } from 'node:path'
import { expect } from 'chai'
import type { Json, JsonObject } from '../../engine/index.ts'
import { shippedPrices } from '../../plugins/catalog/listed-price.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from './streams.ts'

const budgeted = 'sk-budgeted-0123456789abcdef0123456789abcdef'
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }
const listed = { input: 2, output: 10 }

describe('a model whose record has no price', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway | undefined
  before(async () => (upstream = await scriptedUpstream()))
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
  })
  after(() => upstream.close())

  const start = async (records: object = {}) => {
    const server = upstream.url
    const base_url = 'https://api.openai.com/v1'
    gateway = await startGateway({
      plugins: [join(import.meta.dirname, 'rerouted.ts')],
      providers: [
        { name: 'openai', type: 'rerouted', base_url, server, api_key: 'key' },
        { name: 'second', type: 'rerouted', base_url, server, api_key: 'key' },
        { name: 'region', type: 'rerouted', base_url: 'https://eu.api.openai.com/v1', server, api_key: 'key' },
        { name: 'router', type: 'native', base_url: server, api_key: 'key' },
        { name: 'partly', type: 'native', base_url, endpoint_base_urls: { chat: `${server}/chat` }, api_key: 'key' },
        { name: 'other', type: 'compatible', base_url: upstream.url },
      ],
      models: [
        { name: 'openai/*', provider: 'openai' },
        { name: 'other/*', provider: 'other' },
        { name: 'region/*', provider: 'region' },
        { name: 'router/*', provider: 'router' },
        { name: 'partly/*', provider: 'partly' },
        { name: 'sol', provider: 'openai', upstream_model: 'gpt-6.1-sol' },
        { name: 'own', provider: 'openai', upstream_model: 'gpt-6.1-sol', pricing: { input: 50, output: 50 } },
        { name: 'twice', provider: 'openai', upstream_model: 'gpt-6.1-sol', deployments: [{ provider: 'second' }] },
        { name: 'mixed', provider: 'openai', upstream_model: 'gpt-6.1-sol', deployments: [{ provider: 'other' }] },
      ],
      api_keys: [{ name: 'budgeted', key: budgeted, budget: { usd: 1, period: 'month' } }],
      records,
    })
  }

  /** What a request of the budgeted key gets: the code of its refusal, or its cost in micro-USD. */
  const ask = async (model: string) => {
    upstream.answer({ body: { ...(chatAnswer as JsonObject), model: model.replace(/^.*\//, ''), usage } as Json })
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await gateway!.post(
      '/v1/chat/completions',
      { model, messages, max_tokens: 200 },
      { authorization: `Bearer ${budgeted}` },
    )
    const body = (await answer.json()) as { readonly error?: { readonly code: string } }
    if (body.error) return { code: body.error.code, status: answer.status }
    const row = (await gateway!.rows()).at(-1)
    const { listed_price: date } = JSON.parse(row?.metadata ?? '{}') as JsonObject
    return { cost: row?.cost_micros, ...(date === undefined ? {} : { date }) }
  }

  it('is served to a key with a budget, and charged by the list that comes with the gateway', async () => {
    await start()
    const cost = 1_000 * listed.input + 100 * listed.output
    const row = shippedPrices.find(({ model }) => model === 'gpt-6.1-sol')
    expect(row?.pricing).to.include(listed)
    for (const model of ['openai/gpt-6.1-sol', 'openai/gpt-6.1-sol-2026-09-29', 'sol', 'twice'])
      expect(await ask(model), model).to.deep.equal({ cost, date: row?.date })
  })

  it('keeps the price of its record', async () => {
    await start()
    expect(await ask('own')).to.deep.equal({ cost: 1_100 * 50 })
  })

  it('stays without one where the list does not know the model, the vendor or one of the places', async () => {
    await start()
    const elsewhere = ['other', 'region', 'router', 'partly'].map((provider) => `${provider}/gpt-6.1-sol`)
    for (const model of ['openai/gpt-unheard-of', ...elsewhere, 'mixed'])
      expect(await ask(model), model).to.deep.equal({ code: 'price_unknown', status: 403 })
  })

  it('stays without one where the file turns the list off', async () => {
    await start({ catalog: { prices: 'off' } })
    for (const model of ['openai/gpt-6.1-sol', 'sol'])
      expect(await ask(model), model).to.deep.equal({ code: 'price_unknown', status: 403 })
    expect(await ask('own')).to.deep.equal({ cost: 1_100 * 50 })
  })
})

describe('admin/models, prices of the list', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      providers: [{ name: 'openai', type: 'native', base_url: 'https://api.openai.com/v1', api_key: 'key' }],
      models: [{ name: 'gpt-6.1-sol', provider: 'openai' }],
    })
  })
  after(() => gateway.close())

  it('are shown beside the record, with their page and day, until the record has its own', async () => {
    const at = '/api/config/models'
    const row = shippedPrices.find(({ model }) => model === 'gpt-6.1-sol')!
    const { pricing, source, date } = row
    const shown = {
      pricing: null,
      pricing_source: 'list',
      priced_at: new Date(date).toISOString(),
      listed_pricing: { pricing, source, date },
    }
    const made = await gateway.asAdmin(`POST ${at}`, { name: 'sol', provider: 'openai', upstream_model: row.model })
    for (const body of [made.body, (await gateway.asAdmin(`GET ${at}/gpt-6.1-sol`)).body])
      expect(body).to.deep.include(shown)
    const { data } = (await gateway.asAdmin('GET /api/catalog/models')).body as { data: readonly JsonObject[] }
    expect(data.find(({ name }) => name === 'sol')?.['pricing']).to.deep.equal(pricing)
    const named = await gateway.asAdmin(`PATCH ${at}/sol`, { display_name: 'Sol' })
    expect(named.body).to.deep.include(shown)
    const priced = await gateway.asAdmin(`PATCH ${at}/sol`, { pricing: { input: 1 } })
    expect(priced.body).to.deep.include({ pricing: { input: 1 }, pricing_source: 'hand' })
    expect(priced.body).not.to.have.property('listed_pricing')
  })
})

describe('the list of prices that comes with the gateway', () => {
  it('says of every row when and where its prices stood', () => {
    expect(shippedPrices.length).to.be.within(10, 60)
    const hosts = ['developers.openai.com', 'platform.claude.com']
    for (const { model, source, date } of shippedPrices) {
      expect(new URL(source), model).to.include({ protocol: 'https:' })
      expect(hosts, model).to.include(new URL(source).host)
      expect(new Date(date).toISOString().slice(0, 10), model).to.equal(date)
      expect(Date.parse(date), model).to.be.within(Date.UTC(2026, 0, 1), Date.now())
    }
  })

  it('names each model once, with prices that a vendor could ask', () => {
    const names = shippedPrices.map(({ vendor, model }) => `${vendor}/${model}`)
    expect(new Set(names).size).to.equal(names.length)
    for (const { model, pricing } of shippedPrices) {
      const usual = { input: NaN, output: NaN, cache_read: NaN, ...pricing }
      for (const [at, band] of [usual, ...(pricing.tiers ?? []).map((tier) => ({ ...usual, ...tier }))].entries()) {
        const where = `${model}, band ${at}`
        expect(band.input, where).to.be.within(0.01, 50)
        expect(band.output / band.input, where).to.be.within(1, 20)
        expect(band.cache_read / band.input, where).to.be.within(0.01, 0.5)
        expect((band.cache_write ?? band.input) / band.input, where).to.be.within(1, 1.25)
        expect(band.input, where).to.be.at.least(usual.input)
      }
    }
  })
})
