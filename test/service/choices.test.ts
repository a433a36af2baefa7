import { expect } from 'chai'
import type { Json, JsonObject } from '../../engine/index.ts'
import { presets } from '../../plugins/providers/presets.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames, messagesAnswer, responsesAnswer } from './streams.ts'

const keys = {
  listed: 'sk-listed-0123456789abcdef0123456789abcdef',
  budget: 'sk-budget-0123456789abcdef0123456789abcdef',
}
type Key = keyof typeof keys

const pricing = { input: 100, output: 100 }
const content = 'Hello'
const bodies: Record<string, { readonly path: string; readonly body: JsonObject; readonly answer: Json }> = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content }] }, answer: chatAnswer },
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 9, messages: [{ role: 'user', content }] },
    answer: messagesAnswer,
  },
  responses: { path: '/v1/responses', body: { input: content, store: false }, answer: responsesAnswer },
  gemini: {
    path: '/v1beta/models/gemini:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: content }] }] },
    answer: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] },
  },
}

/** What clients of each provider may not choose without a price, and what changes nothing. */
const cases: readonly {
  readonly of: string
  readonly protocol: string
  readonly fields: JsonObject
  readonly param?: string
}[] = [
  {
    of: 'router',
    protocol: 'chat',
    fields: { models: ['vendor-model', 'nowhere'], route: 'fallback' },
    param: 'models[1]',
  },
  { of: 'router', protocol: 'chat', fields: { provider: { order: ['x'] } }, param: 'provider' },
  { of: 'router', protocol: 'chat', fields: { plugins: [{ id: 'web' }] }, param: 'plugins[0].id' },
  { of: 'router', protocol: 'chat', fields: { route: 'fallback', models: [], provider: null, plugins: [] } },
  { of: 'plain', protocol: 'chat', fields: { fallbacks: [{ model: 'dear' }] }, param: 'fallbacks[0].model' },
  { of: 'plain', protocol: 'chat', fields: { service_tier: 'priority' }, param: 'service_tier' },
  { of: 'plain', protocol: 'chat', fields: { service_tier: 'auto', modalities: ['text'] } },
  {
    of: 'plain',
    protocol: 'chat',
    fields: { web_search_options: { search_context_size: 'high' } },
    param: 'web_search_options',
  },
  { of: 'plain', protocol: 'chat', fields: { web_search_options: {} }, param: 'web_search_options' },
  { of: 'plain', protocol: 'chat', fields: { modalities: ['text', 'audio'] }, param: 'modalities[1]' },
  { of: 'messages', protocol: 'messages', fields: { fallbacks: [{ model: 'dear' }] }, param: 'fallbacks[0].model' },
  {
    of: 'messages',
    protocol: 'messages',
    fields: { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dear' }] },
    param: 'tools[0].model',
  },
  { of: 'messages', protocol: 'messages', fields: { speed: 'fast' }, param: 'speed' },
  { of: 'messages', protocol: 'messages', fields: { inference_geo: 'us' }, param: 'inference_geo' },
  {
    of: 'messages',
    protocol: 'messages',
    fields: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    param: 'tools[0].type',
  },
  { of: 'messages', protocol: 'messages', fields: { service_tier: 'standard_only', speed: 'standard' } },
  { of: 'responses', protocol: 'responses', fields: { service_tier: 'flex' }, param: 'service_tier' },
  {
    of: 'responses',
    protocol: 'responses',
    fields: { tools: [{ type: 'image_generation', model: 'dear' }] },
    param: 'tools[0].model',
  },
  { of: 'responses', protocol: 'responses', fields: { tools: [{ type: 'image_generation' }] }, param: 'tools[0].type' },
  {
    of: 'responses',
    protocol: 'responses',
    fields: { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'image_generation' }] }] },
    param: 'tools[0].tools[0].type',
  },
  {
    of: 'responses',
    protocol: 'responses',
    fields: {
      input: [
        { role: 'user', content },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation', model: 'dear' }] },
      ],
    },
    param: 'input[1].tools[0].model',
  },
  { of: 'responses', protocol: 'responses', fields: { service_tier: 'auto', tools: [] } },
  { of: 'gemini', protocol: 'gemini', fields: { serviceTier: 'priority' }, param: 'serviceTier' },
  {
    of: 'gemini',
    protocol: 'gemini',
    fields: { tools: [{ google_search: { exclude_domains: ['x.example'] } }] },
    param: 'tools[0].google_search',
  },
  {
    of: 'gemini',
    protocol: 'gemini',
    fields: { generationConfig: { responseModalities: ['IMAGE'] } },
    param: 'generationConfig.responseModalities[0]',
  },
  { of: 'gemini', protocol: 'gemini', fields: { serviceTier: 'standard' } },
  // Through a translation: the tier would reach the provider, the router's fields would not.
  { of: 'responses', protocol: 'chat', fields: { service_tier: 'priority' }, param: 'service_tier' },
  { of: 'messages', protocol: 'chat', fields: { models: ['dear'] } },
]

describe('models, tiers and extras that a body chooses', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const start = async (more: object = {}) => {
    const base_url = upstream.url
    gateway = await startGateway({
      providers: [
        { name: 'router', type: 'compatible', preset: 'openrouter', base_url, api_key: 'k' },
        { name: 'plain', type: 'compatible', base_url, traits: { service_tier: true } },
        { name: 'messages', type: 'messages', base_url, api_key: 'k' },
        { name: 'responses', type: 'compatible', base_url, offers: ['responses'] },
        { name: 'gemini', type: 'gemini', base_url, api_key: 'k' },
      ],
      models: [
        ...['router', 'plain', 'messages', 'responses', 'gemini'].map((name) => ({
          name,
          provider: name,
          upstream_model: 'vendor-model',
          pricing,
        })),
        { name: 'or-dear', provider: 'router', upstream_model: 'dear', pricing: { input: 9_000, output: 9_000 } },
        { name: 'or-odd', provider: 'router', upstream_model: 'odd' },
      ],
      api_keys: [
        { name: 'listed', key: keys.listed, models: ['router', 'plain', 'messages', 'responses', 'gemini', 'or-odd'] },
        { name: 'budget', key: keys.budget, budget: { usd: 1 } },
      ],
      ...more,
    })
  }
  beforeEach(async () => void (upstream = await scriptedUpstream()))
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (key: Key | undefined, protocol: string, model: string, fields: JsonObject) => {
    const { path, body } = bodies[protocol] as (typeof bodies)[string]
    const named = protocol === 'gemini' ? {} : { model }
    return gateway.post(path, { ...body, ...named, ...fields }, key && { authorization: `Bearer ${keys[key]}` })
  }
  const refusal = async (response: Response) => {
    const text = await response.text()
    const { error } = JSON.parse(text) as { error: { code?: string; param?: string; message: string } }
    return { ...error, status: response.status, text }
  }

  it('are refused to keys with a list or a budget, unless they have a price or change none', async () => {
    await start()
    for (const { of, protocol, fields, param } of cases)
      for (const key of ['listed', 'budget'] as const) {
        upstream.answer({ body: bodies[of === 'router' || of === 'plain' ? 'chat' : of]?.answer as Json })
        const before = upstream.requests.length
        const answer = await ask(key, protocol, of, fields)
        const name = `${key} ${of} ${JSON.stringify(fields)}`
        if (param === undefined) {
          expect(answer.status, name + (answer.ok ? '' : await answer.text())).to.equal(200)
          continue
        }
        const { status, text } = await refusal(answer)
        expect(status, `${name} ${text}`).to.equal(403)
        expect(upstream.requests.length, name).to.equal(before)
        const code = key === 'listed' && /model$|models\[/.test(param) ? 'model_not_allowed' : 'price_unknown'
        expect((await gateway.rows()).at(-1)?.error, name).to.equal(code)
        if (protocol === 'chat' || protocol === 'responses')
          expect(JSON.parse(text)).to.have.nested.property('error.param', param)
      }
  })

  const row = async () => (await gateway.rows()).at(-1)
  const chat = (more: JsonObject) => upstream.answer({ body: { ...chatAnswer, ...more } })
  const dear = { models: ['dear'], route: 'fallback' }

  it('reach only the listed ones of several models, and name the first other one', async () => {
    await start()
    chat({})
    const refused = await refusal(await ask('listed', 'chat', 'router', dear))
    expect(refused).to.include({ status: 403, code: 'model_not_allowed', param: 'models[0]' })
    expect(refused.message).to.include('"dear"')
    expect(await refusal(await ask('listed', 'chat', 'router', { models: ['odd'] }))).to.include({
      status: 403,
      code: 'price_unknown',
      param: 'models[0]',
    })
    expect(refused.text).not.to.include('or-dear')
    expect(upstream.requests).to.have.length(0)
    expect((await ask('listed', 'chat', 'router', { models: ['vendor-model'] })).status).to.equal(200)
    expect((await ask(undefined, 'chat', 'router', { ...dear, provider: { order: ['x'] } })).status).to.equal(200)
  })

  it('hold what the dearest of the models may cost', async () => {
    await start()
    chat({})
    // 1,000 tokens at 9,000 USD per million are more than the budget, and at 100 they are not.
    const dearer = await refusal(await ask('budget', 'chat', 'router', { ...dear, max_tokens: 1_000, stream: false }))
    expect(dearer).to.include({ status: 200 })
    const capped = { routing: { max_cost: 1 }, max_tokens: 1_000 }
    expect(await refusal(await ask('budget', 'chat', 'router', { ...dear, ...capped }))).to.include({ status: 429 })
    expect((await ask('budget', 'chat', 'router', capped)).status).to.equal(200)
  })

  it('pass without a price where the operator says so, but never beyond the list', async () => {
    await start({ server_config: { rate_limits: { budget: { unknown_price: 'allow' } } } })
    chat({})
    expect((await ask('budget', 'chat', 'plain', { service_tier: 'priority' })).status).to.equal(200)
    expect((await ask('listed', 'chat', 'plain', { service_tier: 'priority' })).status).to.equal(200)
    expect(await refusal(await ask('listed', 'chat', 'router', dear))).to.include({ code: 'model_not_allowed' })
  })

  it('are refused, too, where the policy of the gateway adds them', async () => {
    await start({ server_config: { request_policy: { default_parameters: { service_tier: 'priority' } } } })
    expect(await refusal(await ask('budget', 'chat', 'plain', {}))).to.include({ status: 403, param: 'service_tier' })
    expect(upstream.requests).to.have.length(0)
  })

  it('are told by the message with the setting that lets them pass', async () => {
    await start()
    const { message } = await refusal(await ask('budget', 'chat', 'plain', { service_tier: 'priority' }))
    expect(message).to.include('rate_limits.budget.unknown_price').and.include('service_tier')
  })

  it('cost what the provider reports, whole, streamed and translated', async () => {
    await start()
    const usage = { ...chatAnswer.usage, cost: 0.5 }
    for (const client of ['chat', 'messages'])
      for (const stream of [false, true]) {
        const frames = chatFrames('Hello').map((frame) =>
          JSON.stringify(frame).includes('prompt_tokens')
            ? { data: { ...(frame as { data: JsonObject }).data, usage } }
            : frame,
        )
        upstream.answer(stream ? { frames } : { body: { ...chatAnswer, model: 'dear', usage } })
        const answer = await ask(undefined, client, 'router', { ...(client === 'chat' ? dear : {}), stream })
        expect(await answer.text()).to.include('Hello')
        expect(await row(), `${client} ${stream}`).to.include({ cost_micros: 500_000 })
      }
    chat({ usage: { ...chatAnswer.usage, cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } } })
    await (await ask(undefined, 'chat', 'router', {})).text()
    expect((await row())?.cost_micros).to.equal(210_000)
  })

  it('cost without a report what the answering model costs, and nobody knows of one without a record', async () => {
    await start()
    const after = async (model: string, fields: JsonObject = dear) => {
      chat({ model })
      await (await ask(undefined, 'chat', 'router', fields)).text()
      return (await row())?.cost_micros
    }
    expect(await after('vendor-model')).to.equal(1_300)
    expect(await after('vendor-model-2026-01-31')).to.equal(1_300)
    expect(await after('dear')).to.equal(117_000)
    expect(await after('other/dear-20260131')).to.equal(117_000)
    expect(await after('stranger')).to.equal(null)
    // Without a choice it is the name of a deployment.
    expect(await after('stranger', {})).to.equal(1_300)
  })

  it('are those of routers, too, where a preset has another address than its own', async () => {
    const provider = { type: 'compatible', preset: 'groq', base_url: upstream.url, api_key: 'k' }
    await start({
      providers: [{ name: 'plain', ...provider }],
      models: [{ name: 'plain', provider: 'plain', pricing }],
      api_keys: [{ name: 'budget', key: keys.budget, budget: { usd: 1 } }],
    })
    for (const [fields, param] of [
      [{ models: ['dear'] }, 'models[0]'],
      [{ provider: { order: ['x'] } }, 'provider'],
      [{ tools: [{ type: 'browser_search' }] }, 'tools[0].type'],
    ] as const)
      expect(await refusal(await ask('budget', 'chat', 'plain', fields))).to.include({
        status: 403,
        param,
      })
    expect(upstream.requests).to.have.length(0)
  })

  it('are every paid tool of moonshot and zai', async () => {
    const at = (preset: string) => ({ name: preset, type: 'compatible', preset, base_url: upstream.url, api_key: 'k' })
    await start({
      providers: [at('moonshot'), at('zai')],
      models: ['moonshot', 'zai'].map((name) => ({ name, provider: name, pricing })),
      api_keys: [{ name: 'budget', key: keys.budget, budget: { usd: 1 } }],
    })
    for (const [of, tool] of [
      ['moonshot', { type: 'builtin_function', function: { name: '$web_search' } }],
      ['zai', { type: 'web_search', web_search: { enable: true } }],
      ['zai', { type: 'retrieval', retrieval: { knowledge_id: 'x' } }],
    ] as const) {
      const refused = await refusal(await ask('budget', 'chat', of, { tools: [tool] }))
      expect(refused, refused.text).to.include({ status: 403, code: 'price_unknown', param: 'tools[0].type' })
    }
    expect(upstream.requests).to.have.length(0)
  })

  for (const [preset, { choices = [], offers = [] }] of presets)
    it(`are refused by the offers of the preset ${preset}`, async () => {
      const base_url = upstream.url
      const protocols = ['chat', ...offers].filter((protocol) => protocol === 'chat' || protocol === 'responses')
      await start({
        providers: [
          { name: 'one', type: 'compatible', preset, base_url, api_key: 'k', traits: { service_tier: true } },
        ],
        models: [{ name: 'one', provider: 'one', pricing }],
        api_keys: [{ name: 'budget', key: keys.budget, budget: { usd: 1 } }],
      })
      const declared = choices.map(({ path, values }) => fieldsOf(path, values?.[0]?.replace('*', 'x') ?? 'x'))
      for (const protocol of protocols)
        for (const fields of [{ service_tier: 'priority' }, ...declared]) {
          const answer = await refusal(await ask('budget', protocol, 'one', fields))
          expect(answer, `${protocol} ${JSON.stringify(fields)} ${answer.text}`).to.include({
            status: 403,
            code: 'price_unknown',
          })
        }
      expect(upstream.requests).to.have.length(0)
    })
})

/** A body's fields with a value at the path of a choice. */
function fieldsOf(path: string, value: Json): JsonObject {
  const [step = '', ...rest] = path.split('.')
  const below = rest.length > 0 ? fieldsOf(rest.join('.'), value) : value
  if (step === 'tools[]') return { tools: [{ type: 'openrouter:tool', ...(below as JsonObject) }] }
  return step.endsWith('[]') ? { [step.slice(0, -2)]: [below] } : { [step]: below }
}
