import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

const at = '/api/config/models'

/** Prices per million tokens, by vendor. */
const byVendor = {
  deepseek: {
    id: 'deepseek',
    models: {
      chat: {
        id: 'chat',
        tool_call: true,
        cost: { input: 0.3, output: 1.2, cache_read: 0.03, context_over_200k: { input: 0.6, output: 2.4 } },
        limit: { context: 128_000, output: 8_192 },
        modalities: { input: ['text', 'image'], output: ['text'] },
      },
      shared: { id: 'shared', cost: { input: 1, output: 2 } },
    },
  },
  other: {
    id: 'other',
    models: {
      shared: { id: 'shared', cost: { input: 5, output: 6 } },
      alone: { id: 'alone', cost: { input: 7, output: 8 } },
    },
  },
}

/** Prices per token, by model. */
const flat = {
  sample_spec: { notes: 'not a model' },
  'deepseek/chat': {
    litellm_provider: 'deepseek',
    mode: 'chat',
    input_cost_per_token: 3e-7,
    output_cost_per_token: 0.0000012,
    cache_read_input_token_cost: 3e-8,
    input_cost_per_token_above_200k_tokens: 6e-7,
    output_cost_per_token_above_200k_tokens: 0.0000024,
    max_input_tokens: 128_000,
    max_output_tokens: 8_192,
    supports_vision: true,
    supports_function_calling: true,
  },
  alone: { litellm_provider: 'other', mode: 'chat', input_cost_per_token: 0.000007, output_cost_per_token: 0.000008 },
}

const chatPrices = {
  input: 0.3,
  output: 1.2,
  cache_read: 0.03,
  tiers: [{ above_input_tokens: 200_000, input: 0.6, output: 2.4 }],
}

describe('admin/models, sync', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  const list = join(tmpdir(), `sluice-prices-${process.pid}.json`)

  beforeEach(async () => {
    await writeFile(list, JSON.stringify(byVendor))
    gateway = await startAdmin({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'deep', type: 'compatible', preset: 'deepseek', api_key: 'sk-a-key-of-deepseek' },
      ],
      models: [{ name: 'echo', provider: 'echo', upstream_model: 'alone' }],
      records: { catalog: { source: list } },
    })
    const make = async (body: object) => expect((await ask('POST @', body)).status).to.equal(201)
    await make({ name: 'chat', provider: 'deep' })
    await make({
      name: 'hand',
      provider: 'deep',
      upstream_model: 'chat',
      pricing: { input: 0.31 },
      max_output_tokens: 4_096,
    })
    await make({ name: 'shared', provider: 'deep' })
    await make({ name: 'either', provider: 'echo', upstream_model: 'shared' })
    await make({ name: 'alone', provider: 'echo' })
  })
  afterEach(async () => {
    await gateway.close()
    await rm(list)
  })

  const ask = (route: string, body?: unknown) => gateway.asAdmin(route.replace('@', at), body)
  const refusal = async (route: string, body?: unknown) => {
    const { status, code, param } = await ask(route, body)
    return `${status} ${String(code)} ${String(param)}`
  }
  const told = ({ data }: JsonObject) =>
    (data as readonly JsonObject[]).map(
      ({ model, field, action }) => `${model as string} ${field as string} ${action as string}`,
    )
  const audited = async () => {
    const rows = await gateway.engine.database.rows<{ body: string }>(
      "select body from audit where action like 'model.sync%'",
    )
    return rows.map(({ body }) => JSON.parse(body) as JsonObject)
  }

  for (const [shape, data] of Object.entries({ 'by vendor': byVendor, 'as a flat map': flat }))
    it(`compare prices with a list ${shape}, and change nothing unless they are told to`, async () => {
      const { status, body } = await ask('POST @/sync-pricing', {
        data,
        models: ['chat', 'hand', 'alone', 'echo', 'either'],
      })
      expect(status, JSON.stringify(body)).to.equal(200)
      expect(body).to.have.all.keys('source', 'fetched_at', 'data', 'applied', 'counts')
      expect(body).to.include({ source: 'data', applied: false })
      expect(told(body)).to.deep.equal([
        'echo pricing.input keep_hand',
        'echo pricing.output keep_hand',
        'chat pricing.input set',
        'chat pricing.output set',
        'chat pricing.cache_read set',
        'chat pricing.tiers set',
        'hand pricing.input keep_hand',
        'hand pricing.output set',
        'hand pricing.cache_read set',
        'hand pricing.tiers set',
        'either null unmatched',
        'alone pricing.input set',
        'alone pricing.output set',
      ])
      expect(body['counts']).to.deep.equal({ set: 9, change: 0, keep_hand: 3, same: 0, refused: 0, unmatched: 1 })
      expect((body['data'] as readonly JsonObject[])[6]).to.deep.equal({
        model: 'hand',
        field: 'pricing.input',
        old: 0.31,
        new: 0.3,
        ratio: 0.3 / 0.31,
        action: 'keep_hand',
      })
      expect((await ask('GET @/chat')).body).to.include({ pricing: null, pricing_source: 'none' })
      expect(await audited()).to.deep.equal([])
    })

  it('take over prices, all at once, and know later whose they are', async () => {
    const { body } = await ask('POST @/sync-pricing', { apply: true })
    expect(body).to.include({ source: 'catalog.source', applied: true })
    const chat = (await ask('GET @/chat')).body
    expect(chat).to.deep.include({ pricing: chatPrices, pricing_source: 'sync' })
    expect(chat['priced_at']).to.match(/^\d{4}-/)
    expect((await ask('GET @/hand')).body).to.deep.include({
      pricing: { ...chatPrices, input: 0.31 },
      pricing_source: 'hand',
    })
    expect((await ask('GET @/shared')).body['pricing']).to.deep.equal({ input: 1, output: 2 })
    expect((await ask('GET @/echo')).body['pricing']).to.equal(null)
    const [row] = await audited()
    expect(row).to.deep.include({ action: 'model.sync_pricing', outcome: 'ok' })
    expect(row?.['details']).to.deep.include({ source: 'catalog.source', counts: body['counts'] })
    const again = await ask('POST @/sync-pricing', { apply: true, models: ['chat'] })
    expect(again.body['counts']).to.deep.include({ same: 4, set: 0, change: 0 })
    expect((await ask('GET @/chat')).body).to.deep.equal(chat)
    expect(await audited()).to.have.length(1)
    await ask('PATCH @/chat', { pricing: { output: 9 } })
    expect((await ask('GET @/chat')).body['pricing_source']).to.equal('hand')
    const kept = await ask('POST @/sync-pricing', { apply: true, force: true, models: ['chat'] })
    expect(kept.body['counts']).to.deep.include({ same: 3, keep_hand: 1 })
    expect((await ask('GET @/chat')).body).to.have.nested.property('pricing.output', 9)
  })

  it('refuse prices that differ more than tenfold, and then change none at all', async () => {
    await ask('POST @/sync-pricing', { apply: true })
    const prices = (input: number, output: number) => ({ v: { models: { chat: { cost: { input, output } } } } })
    const near = await ask('POST @/sync-pricing', { data: prices(3, 0.12), models: ['chat'] })
    expect(told(near.body)).to.deep.equal(['chat pricing.input change', 'chat pricing.output change'])
    for (const data of [prices(3.01, 1.2), prices(0.0299, 1.3), prices(0, 1.3)]) {
      const seen = await ask('POST @/sync-pricing', { data, models: ['chat'] })
      expect(told(seen.body)[0], JSON.stringify(data)).to.equal('chat pricing.input refused')
      expect(await refusal('POST @/sync-pricing', { data, models: ['chat'], apply: true })).to.equal(
        '409 sync_refused null',
      )
    }
    expect((await ask('GET @/chat')).body['pricing']).to.deep.equal(chatPrices)
    const forced = await ask('POST @/sync-pricing', {
      data: prices(30, 1.2),
      models: ['chat'],
      apply: true,
      force: true,
    })
    expect(told(forced.body)).to.deep.equal(['chat pricing.input change', 'chat pricing.output same'])
    expect((await ask('GET @/chat')).body).to.have.nested.property('pricing.input', 30)
  })

  it('take over limits and abilities, and keep those that were set by hand', async () => {
    const { body } = await ask('POST @/sync-metadata', { apply: true, models: ['chat', 'hand'] })
    expect(told(body)).to.deep.equal([
      'chat context_length set',
      'chat max_output_tokens set',
      'chat supports_images set',
      'chat supports_tools same',
      'hand context_length set',
      'hand max_output_tokens keep_hand',
      'hand supports_images set',
      'hand supports_tools same',
    ])
    const limits = { context_length: 128_000, supports_images: true, supports_tools: true, pricing: null }
    expect((await ask('GET @/chat')).body).to.include({ ...limits, max_output_tokens: 8_192 })
    expect((await ask('GET @/hand')).body).to.deep.include({ context_length: 128_000, max_output_tokens: 4_096 })
    expect((await audited())[0]).to.include({ action: 'model.sync_metadata' })
    await ask('PATCH @/chat', { supports_images: false })
    const again = await ask('POST @/sync-metadata', { models: ['chat'] })
    expect(told(again.body)).to.include('chat supports_images keep_hand')
  })

  it('are refused without a list, or with one that may not be read', async () => {
    const sync = (body: object) => refusal('POST @/sync-pricing', body)
    expect(await sync({ url: 'https://a.test/x', data: {} })).to.equal('422 invalid_field data')
    expect(await sync({ data: {} })).to.equal('422 invalid_field data')
    expect(await sync({ data: { a: 1 } })).to.equal('422 invalid_field data')
    expect(await sync({ data: [] })).to.equal('422 invalid_field data')
    expect(await sync({ data: byVendor, models: ['chat', 'nobody'] })).to.equal('422 invalid_reference models[1]')
    expect(await sync({ data: byVendor, aply: true })).to.equal('422 unknown_field aply')
    for (const url of ['http://198.41.0.4/x', 'file:///etc/passwd', 'prices.json', 'https://user:word@198.41.0.4/x'])
      expect(await sync({ url }), url).to.equal('422 invalid_field url')
    for (const url of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://localhost/x', 'https://169.254.169.254/x'])
      expect(await sync({ url }), url).to.equal('422 private_address url')
    expect((await gateway.asViewer(`POST ${at}/sync-pricing`, { data: byVendor })).code).to.equal('forbidden')
    const large = { ...byVendor, note: 'x'.repeat(3 * 1024 * 1024) }
    expect((await ask('POST @/sync-pricing', { data: large })).status).to.equal(200)
    const tooLarge = { data: { ...byVendor, note: 'x'.repeat(20 * 1024 * 1024) } }
    expect((await ask('POST @/sync-pricing', tooLarge)).status).to.equal(413)
    const none = await startAdmin()
    try {
      expect((await none.asAdmin(`POST ${at}/sync-pricing`, {})).code).to.equal('missing_field')
    } finally {
      await none.close()
    }
  })
})
