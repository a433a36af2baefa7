import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { say, startRouting, threeModels } from './rig.ts'
import type { Routed, Routing, RoutingOptions } from './rig.ts'

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'
const poor = 'sk-poor-0123456789abcdef0123456789abcdef'
const degraded = { graceful_degradation: true }

/** The three models, with further fields for some. */
const models = (more: Readonly<Record<string, object>>) =>
  threeModels.map((model) => ({ ...model, ...more[model.name] }))

describe('routing/gates', () => {
  let rig: Routing
  afterEach(() => rig.close())

  const start = async (options: RoutingOptions = {}) => {
    rig = await startRouting(options)
  }
  const asKey = (key: string) => ({ authorization: `Bearer ${key}` })
  /** Expects a refusal by a gate before anybody was asked, with its block in the row. */
  const refused = (answer: Routed, status: number, code: string, message: string) => {
    expect([answer.status, answer.code, answer.message]).to.deep.equal([status, code, message])
    expect(answer.headers.get('x-gateway-tier')).to.equal('MEDIUM')
    expect(answer.headers.get('x-gateway-reason')).to.match(/^tier=MEDIUM \| structural=0\.5/)
    expect(rig.asked).to.deep.equal([])
    expect(answer.metadata).to.deep.include({ resolved_model: null, routing_tier: 'MEDIUM', routing_complexity: 0.5 })
    expect(answer.routing).to.deep.include({ error: code, chosen: null, served: null, candidates: [], judge: null })
  }

  it('keep the models that the key may use', async () => {
    const allowing = (...names: readonly string[]) => ({ api_keys: [{ name: 'narrow', key: narrow, models: names }] })
    await start(allowing('small', 'large'))
    expect((await rig.ask({}, asKey(narrow))).routing['candidates']).to.have.members(['small', 'large'])
    await rig.close()
    await start(allowing('auto'))
    const message = 'No model is left for "auto": 3 eligible, 0 allowed.'
    refused(await rig.ask({}, asKey(narrow)), 403, 'allowlist_exhausted', message)
  })

  it('keep the models that the request allows', async () => {
    await start({ models: models({ small: { aliases: ['tiny'] } }) })
    const left = async (routing: object) => (await rig.ask({ routing })).routing['candidates']
    expect(await left({ allow: ['tiny', 'l*'] })).to.have.members(['small', 'large'])
    expect(await left({ deny: ['tiny', 'large'] })).to.deep.equal(['mid'])
    expect(await left({ min_quality_tier: 'balanced' })).to.have.members(['mid', 'large'])
    expect(await left({ max_latency_ms: 600_000 })).to.have.length(3)
    expect(rig.upstream.requests.every(({ body }) => !body.toString().includes('routing'))).to.equal(true)
    // Only models of which it is known are too slow. Without exploration, that counts from the next hour on.
    await rig.close()
    await start({ routing: { exploration: { enabled: true } } })
    await Promise.all(['small', 'mid', 'large'].map((name) => rig.ask({ routing: { allow: [name] } })))
    expect((await rig.ask({ routing: { max_latency_ms: 0.000_001 } })).code).to.equal('routing_constraints_unmet')
    await rig.close()
    await start({ routing: { exploration: { enabled: true } } })
    await rig.ask({ routing: { allow: ['small'] } })
    expect(await left({ max_latency_ms: 0.000_001 })).to.have.members(['mid', 'large'])
    await rig.close()
    await start()
    await rig.ask({ routing: { allow: ['small'] } })
    expect(await left({ max_latency_ms: 0.000_001 })).to.have.length(3)
    await rig.close()
    await start({ models: models({ small: { aliases: ['tiny'] } }) })
    const { status, code, message } = await rig.ask({ routing: { allow: ['nobody'] } })
    expect([status, code, message]).to.deep.equal([
      400,
      'routing_constraints_unmet',
      'No model is left for "auto": 3 eligible, 0 within the constraints of the request.',
    ])
  })

  it('refuse preferences without a meaning', async () => {
    await start()
    const cases: readonly [object, string][] = [
      [{ routing: 'fast' }, 'routing'],
      [{ routing: { model: 'small' } }, 'routing.model'],
      [{ routing: { allow: 'small' } }, 'routing.allow'],
      [{ routing: { deny: [1] } }, 'routing.deny'],
      [{ routing: { min_quality_tier: 'good' } }, 'routing.min_quality_tier'],
      [{ routing: { max_latency_ms: 0 } }, 'routing.max_latency_ms'],
      [{ routing: { max_cost: 0 } }, 'routing.max_cost'],
      [{ routing: { max_cost: '1' } }, 'routing.max_cost'],
      [{ max_cost: 0.001 }, 'max_cost'],
      [{ routing: { conversation: '' } }, 'routing.conversation'],
    ]
    for (const [body, param] of cases) {
      const { status, code, body: answer } = await rig.ask(body)
      expect([status, code, (answer['error'] as JsonObject)['param']]).to.deep.equal([400, 'invalid_value', param])
    }
    expect((await rig.ask({}, { 'x-routing-max-cost': '-1' })).code).to.equal('invalid_value')
    expect(rig.asked).to.deep.equal([])
  })

  it('keep the models that are assigned to the mode, unless that may be ignored', async () => {
    const assigned = models({
      small: { routing_assignments: ['fast'] },
      mid: { routing_assignments: [] },
      large: { routing_assignments: ['best', 'fast'] },
    })
    await start({ models: assigned })
    expect((await rig.ask(say('Hello', 'fast'))).routing['candidates']).to.have.members(['small', 'large'])
    const { code, message } = await rig.ask()
    expect([code, message]).to.deep.equal([
      'routing_constraints_unmet',
      'No model is left for "auto": 3 eligible, 0 assigned to auto.',
    ])
    await rig.close()
    await start({ models: assigned, routing: degraded })
    const { routing } = await rig.ask()
    expect(routing['candidates']).to.have.length(3)
    expect(routing['notes']).to.include('degraded=assignment')
  })

  it('keep the models that take images and tools', async () => {
    await start({
      models: models({ large: { supports_images: true, supports_tools: false } }),
      api_keys: [{ name: 'narrow', key: narrow, models: ['small', 'mid'] }],
      routing: degraded,
    })
    const history = [...say([image]).messages, { role: 'assistant', content: 'A dot.' }, ...say('Sure?').messages]
    expect((await rig.ask({ messages: history })).routing['candidates']).to.deep.equal(['large'])
    expect((await rig.ask({ tools: [tool] })).routing['candidates']).to.have.members(['small', 'mid'])
    expect((await rig.ask({ tools: [tool], tool_choice: 'none' })).routing['candidates']).to.have.length(3)
    const before = rig.asked.length
    const both = await rig.ask({ messages: history, tools: [tool] })
    expect(both.message).to.equal('No model is left for "auto": 3 eligible, 1 takes images, 0 take tools.')
    const blind = await rig.ask({ messages: history }, asKey(narrow))
    expect([blind.status, blind.code, blind.message]).to.deep.equal([
      400,
      'no_available_models',
      'No model is left for "auto": 3 eligible, 2 allowed, 0 take images.',
    ])
    expect(rig.asked).to.have.length(before)
  })

  it('keep the models whose context has room for input and output', async () => {
    const windows = models({
      small: { context_length: 1_000 },
      mid: { context_length: 5_000 },
      large: { context_length: 2_000, max_output_tokens: 100 },
    })
    await start({ models: windows })
    const text = 'word '.repeat(700)
    expect((await rig.ask(say(text))).routing['candidates']).to.deep.equal(['large'])
    expect((await rig.ask({ ...say(text), max_tokens: 10 })).routing['candidates']).to.have.members(['mid', 'large'])
    const { status, code, message } = await rig.ask({ ...say(text), max_tokens: 9_000 })
    expect([status, code]).to.deep.equal([400, 'no_available_models'])
    expect(message).to.match(
      /^No model is left for "auto": 3 eligible, 0 have the context\. The request has about \d+ tokens/,
    )
    await rig.close()
    await start({ models: windows, routing: degraded })
    const { routing } = await rig.ask({ ...say(text), max_tokens: 9_000 })
    expect(routing['candidates']).to.deep.equal(['mid', 'large'])
    expect(routing['notes']).to.deep.equal(['degraded=context'])
    expect((await rig.ask(say(text.repeat(10)))).code).to.equal('no_available_models')
  })

  it('keep the models that the request says it can pay for', async () => {
    await start({ models: models({ mid: { pricing: undefined } }) })
    // MEDIUM: 600 tokens of output.
    for (const [max_cost, expected] of [
      [1, ['small', 'large']],
      [0.001, ['small']],
    ] as const)
      expect((await rig.ask({ routing: { max_cost } })).routing['candidates']).to.have.members([...expected])
    const asked = rig.asked.length
    const answer = await rig.ask({}, { 'x-routing-max-cost': '0.00001' })
    expect([answer.status, answer.code]).to.deep.equal([429, 'budget_exceeded'])
    expect(answer.message).to.match(
      /^No model is left for "auto": 3 eligible, 0 within the money\. The cheapest is predicted to cost 0\.00024\d* USD, and the request may cost at most 0\.00001 USD\.$/,
    )
    const least = await rig.ask({ routing: { max_cost: 1e-9 } })
    expect(least.message).to.match(/, and the request may cost less than 0\.000001 USD\.$/)
    expect(answer.body['error']).to.include({ type: 'insufficient_quota' })
    expect(answer.headers.get('x-should-retry')).to.equal('false')
    expect(answer.headers.get('x-gateway-limit')).to.equal('request')
    expect(rig.asked).to.have.length(asked)
  })

  it('keep the models that a budget can pay for', async () => {
    const budget = (usd: number) => ({ api_keys: [{ name: 'poor', key: poor, budget: { usd, period: 'total' } }] })
    await start(budget(0.001))
    expect((await rig.ask({}, asKey(poor))).routing['candidates']).to.deep.equal(['small'])
    await rig.close()
    await start(budget(0.0001))
    const answer = await rig.ask({}, asKey(poor))
    expect([answer.status, answer.code]).to.deep.equal([429, 'budget_exceeded'])
    expect(answer.message).to.match(/ USD\. The API key "poor" has 0\.0001 USD left\.$/)
    expect(answer.headers.get('x-gateway-limit')).to.equal('key')
    expect(answer.headers.get('x-should-retry')).to.equal('false')
    await rig.close()
    const free = models({ small: { pricing: undefined }, mid: { pricing: undefined }, large: { pricing: undefined } })
    await start({ ...budget(1), models: free })
    expect((await rig.ask({}, asKey(poor))).code).to.equal('price_unknown')
    await rig.close()
    await start({ ...budget(1), models: free, server_config: { rate_limits: { budget: { unknown_price: 'allow' } } } })
    expect((await rig.ask({}, asKey(poor))).routing['candidates']).to.have.length(3)
  })

  it('have nothing to keep while the providers of all eligible models are off', async () => {
    await start({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'far', type: 'native', base_url: 'http://127.0.0.1:1', api_key: '${NOT_SET}' },
      ],
    })
    const { status, code, message } = await rig.ask()
    expect([status, code]).to.deep.equal([503, 'provider_off'])
    expect(message).to.include('NOT_SET is not set')
  })
})
