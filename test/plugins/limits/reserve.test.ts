import { expect } from 'chai'
import type { Budget } from '../../../engine/index.ts'
import type { Limits } from '../../../plugins/limits/limits.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { until } from '../../support/until.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'
const messages = [{ role: 'user' as const, content: 'Hello' }]
const id = 'file:limited'

/** USD of one answer: 13 tokens at 100 USD per million. */
const cost = 0.0013

const limitsOf = ({ engine }: RunningGateway) => engine.live.current.views.of(['limits'])['limits'] as Limits

describe('plugins/limits/reserve', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const pricing = { input: 100, output: 100 }
  const start = async (budget: Budget | null, settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing }],
      api_keys: [{ name: 'limited', key: secret, ...(budget ? { budget } : {}) }],
      ...settings,
    })
  }
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (more: object = {}, headers: Record<string, string> = {}) =>
    gateway.post(
      '/v1/chat/completions',
      { model: 'm', messages, max_tokens: 10, ...more },
      { authorization: `Bearer ${secret}`, ...headers },
    )
  const errorOf = async (response: Response) =>
    ((await response.json()) as { error: { code: string; type: string; message: string; param: string | null } }).error
  const state = (budget: Budget = { usd: 1, period: 'month' }, kind: 'key' | 'server' = 'key') =>
    limitsOf(gateway).budgetOf({ kind, id }, budget)
  const charged = async () =>
    (await gateway.rows()).map(({ metadata }) => (JSON.parse(metadata) as { charged?: unknown }).charged)

  it('holds the largest maximum of a request, in whatever field its protocol reads', async () => {
    await start({ usd: 1, period: 'month' })
    const cap = { routing: { max_cost: 0.01 } }
    for (const more of [
      { max_completion_tokens: 1, max_tokens: 1_000 },
      { max_completion_tokens: 1_000, max_tokens: 1 },
      { max_output_tokens: 1, max_tokens: 1_000 },
    ])
      expect((await errorOf(await ask({ ...more, ...cap }))).code).to.equal('budget_exceeded')
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
    const gemini = (generationConfig: object, more = {}) =>
      gateway.post('/v1beta/models/m:generateContent', { contents, generationConfig, ...cap, ...more })
    for (const config of [{ maxOutputTokens: 1_000 }, { maxOutputTokens: 50, candidateCount: 8 }])
      expect((await gemini(config)).status).to.equal(429)
    expect((await gemini({ maxOutputTokens: 50 }, { generation_config: { candidate_count: 8 } })).status).to.equal(429)
    expect((await gemini({ maxOutputTokens: 10 })).status).to.equal(200)
  })

  it('charges what an answer cost, and shows what is left', async () => {
    await start({ usd: 1, period: 'month' })
    const answer = await ask()
    expect(answer.status).to.equal(200)
    // Held: 10 tokens of output, and the text.
    const left = Number(answer.headers.get('x-gateway-budget-remaining'))
    expect(left).to.be.within(0.998, 0.999)
    await gateway.rows(1)
    expect(await state()).to.include({ spent: cost, held: 0, remaining: 0.9987 })
    expect(await charged()).to.deep.equal([[{ bucket: 'key', usd: cost }]])
  })

  it('holds as many times the estimate as answers of the model cost lately, in whatever process', async () => {
    const budget = { usd: 1_000, period: 'month' } as const
    await start(budget)
    const usage = (completion_tokens: number) => ({ ...chatAnswer.usage, completion_tokens })
    const holds = async (more: object = {}) => {
      const before = await state(budget)
      const answer = await ask(more)
      const left = Number(answer.headers.get('x-gateway-budget-remaining'))
      await until(async () => (await state(budget)).held === 0)
      return before.remaining - left
    }
    upstream.answer({ body: { ...chatAnswer, usage: usage(90) } })
    const first = await holds()
    // Seen by the clock of the ledger, and paid as it was.
    let later = first
    await until(async () => (later = await holds()) > first * 2)
    expect(later / first).to.be.within(5, 9)
    const { spent } = await state(budget)
    expect(spent / (upstream.requests.length * 0.0099)).to.be.closeTo(1, 1e-6)
    // What costs less than its estimate is not held twice, and nothing is held more than ten times.
    upstream.answer({ body: { ...chatAnswer, usage: usage(900) } })
    await until(async () => (later = await holds()) > first * 9)
    expect(later / first).to.be.closeTo(10, 0.01)
    const max_tokens = 1_000
    expect((await holds({ max_tokens })) / (first * 10)).to.be.above(50)
  })

  it('refuses once a budget is used up, with what official clients do not retry', async () => {
    await start({ usd: 0.001, period: 'day' })
    // Nothing is held, so that the last request may use up the rest.
    expect((await ask()).status).to.equal(200)
    await gateway.rows(1)
    const refused = await ask()
    expect(refused.status).to.equal(429)
    expect(refused.headers.get('x-should-retry')).to.equal('false')
    expect(refused.headers.has('retry-after')).to.equal(false)
    expect(refused.headers.get('x-gateway-limit')).to.equal('key')
    expect(refused.headers.has('x-gateway-budget-remaining')).to.equal(false)
    const { code, type, message } = await errorOf(refused)
    expect({ code, type }).to.deep.equal({ code: 'budget_exceeded', type: 'insufficient_quota' })
    const tomorrow = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString()
    expect(message).to.equal(
      `The API key "limited" has used up its budget of 0.001 USD today. It is available again at ${tomorrow}.`,
    )
    const asMessages = await gateway.post(
      '/v1/messages',
      { model: 'm', max_tokens: 1, messages },
      { 'x-api-key': secret, authorization: '' },
    )
    expect(asMessages.status).to.equal(429)
    expect((await errorOf(asMessages)).type).to.equal('rate_limit_error')
    expect(upstream.requests).to.have.length(1)
  })

  it('admits at most one request beyond a budget, however many race for it', async () => {
    await start({ usd: 0.01, period: 'total' })
    const go = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await go.promise
      return { body: chatAnswer }
    })
    const statuses: number[] = []
    const asked = Array.from({ length: 300 }, async () => {
      const answer = await ask()
      statuses.push(answer.status)
      await answer.text()
    })
    await until(() => statuses.length + upstream.requests.length === 300)
    expect(statuses).to.not.include(200)
    const held = upstream.requests.length
    expect(held).to.be.within(4, 7)
    go.resolve()
    await Promise.all(asked)
    await gateway.rows(300)
    expect((await state()).spent).to.equal(Number((held * cost).toFixed(6)))
    // One after the other, until it is used up.
    let served = held
    while ((await ask()).status === 200) await gateway.rows(300 + ++served - held)
    expect((served - 1) * cost).to.be.lessThan(0.01)
    expect(served * cost).to.be.at.least(0.01)
  })

  it('blocks at once with a budget of nothing', async () => {
    await start({ usd: 0, period: 'month' })
    expect((await ask()).status).to.equal(429)
  })

  it('charges the gateway, too, and lets it refuse', async () => {
    await start(null, { server_config: { rate_limits: { budget: { server: { usd: 0.002, period: 'week' } } } } })
    for (const _ of [1, 2]) expect((await ask()).status).to.equal(200)
    await gateway.rows(2)
    const refused = await ask()
    expect(refused.headers.get('x-gateway-limit')).to.equal('server')
    expect((await errorOf(refused)).message).to.match(/^The gateway has used up its budget of 0\.002 USD this week\./)
    expect(await state(undefined, 'server')).to.include({ spent: 0.0026 })
  })

  it('counts what was spent before there was a budget, also in another period', async () => {
    await start(null)
    expect((await ask()).headers.has('x-gateway-budget-remaining')).to.equal(false)
    await gateway.rows(1)
    for (const period of ['day', 'total'] as const) expect((await state({ usd: 1, period })).spent).to.equal(cost)
    await ask()
    await gateway.rows(2)
    await limitsOf(gateway).counting.refresh()
    expect((await state({ usd: 1, period: 'day' })).spent).to.equal(0.0026)
  })

  it('charges nothing for what failed before an answer began', async () => {
    await start({ usd: 1, period: 'month' })
    upstream.answer({ status: 500, body: { error: { message: 'broken' } } })
    expect((await ask()).status).to.equal(502)
    expect((await ask({ model: 'unknown' })).status).to.equal(404)
    await gateway.rows(2)
    expect(await state()).to.include({ spent: 0, held: 0 })
  })

  it('charges the estimate where nobody knows the cost', async () => {
    await start({ usd: 1, period: 'month' })
    const { usage: _, ...unmetered } = chatAnswer
    upstream.answer({ body: unmetered })
    expect((await ask({ max_tokens: 1_000 })).status).to.equal(200)
    await gateway.rows(1)
    const { spent } = await state()
    expect(spent).to.be.within(0.1, 0.101)
    expect(await charged()).to.deep.equal([[{ bucket: 'key', usd: spent }]])
  })

  it('charges clients that leave for what they got', async () => {
    await start({ usd: 1, period: 'month' })
    upstream.answer({ frames: chatFrames('Hello', ' there').slice(0, 2), ending: 'hang' })
    const leaving = new AbortController()
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'm', messages, stream: true }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    expect((await state()).held).to.be.greaterThan(0.4)
    leaving.abort()
    await gateway.rows(1)
    const { spent, held } = await state()
    expect(held).to.equal(0)
    expect(spent).to.be.within(0.0001, 0.01)
  })

  it('leaves out models that cost more than is left, and holds for the dearest of the others', async () => {
    await start(
      { usd: 0.1, period: 'month' },
      {
        models: [
          {
            name: 'm',
            provider: 'far',
            upstream_model: 'dear',
            pricing: { input: 1_000, output: 10_000 },
            fallbacks: ['n'],
          },
          { name: 'n', provider: 'far', upstream_model: 'cheap', pricing },
        ],
      },
    )
    const go = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await go.promise
      return { body: chatAnswer }
    })
    // 10 tokens of output cost a tenth of a dollar, which only the first request may use up.
    const first = ask()
    await until(() => upstream.requests.length === 1)
    expect((await ask()).status).to.equal(429)
    go.resolve()
    expect((await first).headers.get('x-gateway-model')).to.equal('m')
    await gateway.rows(2)
    expect(await state()).to.include({ held: 0, spent: 0.049 })
    const hang = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await hang.promise
      return { body: chatAnswer }
    })
    const second = ask({ max_tokens: 1 })
    await until(() => upstream.requests.length === 2)
    // 0.1 - 0.049 - 0.015 or so is not enough for the dear one.
    const third = ask({ max_tokens: 6 })
    await until(() => upstream.requests.length === 3)
    hang.resolve()
    expect((await second).headers.get('x-gateway-model')).to.equal('m')
    expect((await third).headers.get('x-gateway-model')).to.equal('n')
  })

  it('refuses models without a price where a budget applies, or lets them cost nothing', async () => {
    const models = [
      { name: 'm', provider: 'far' },
      { name: 'half', provider: 'far', pricing: { input: 1 } },
      { name: 'rescued', provider: 'far', fallbacks: ['priced'] },
      { name: 'priced', provider: 'far', pricing },
    ]
    await start({ usd: 1, period: 'month' }, { models })
    for (const model of ['m', 'half']) {
      const refused = await ask({ model })
      expect(refused.status).to.equal(403)
      expect((await errorOf(refused)).code).to.equal('price_unknown')
    }
    expect((await ask({ model: 'rescued' })).headers.get('x-gateway-model')).to.equal('priced')
    expect((await gateway.post('/v1/chat/completions', { model: 'm', messages })).status).to.equal(200)
    await gateway.close()
    await start(
      { usd: 1, period: 'month' },
      { models, server_config: { rate_limits: { budget: { unknown_price: 'allow' } } } },
    )
    expect((await ask()).status).to.equal(200)
    await gateway.rows(1)
    expect(await state()).to.include({ spent: 0, held: 0 })
  })

  it('admits audio that is billed by its seconds, which nobody knows before', async () => {
    await start(
      { usd: 1, period: 'month' },
      {
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, offers: ['transcriptions'] }],
        models: [{ name: 'm', provider: 'far', pricing: { seconds: 0.0001 } }],
      },
    )
    upstream.answer({ body: { text: 'Hello', usage: { type: 'duration', seconds: 9 } } })
    const transcribe = async () => {
      const body = new FormData()
      body.set('model', 'm')
      body.set('file', new Blob(['sound'.repeat(20_000)]), 'a.mp3')
      const headers = { authorization: `Bearer ${secret}` }
      return fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body })
    }
    const answer = await transcribe()
    expect(answer.status).to.equal(200)
    // Held: 100 kB at 8 kB per second.
    expect(Number(answer.headers.get('x-gateway-budget-remaining'))).to.be.within(0.9986, 0.9988)
    await gateway.rows(1)
    expect((await state()).spent).to.equal(0.0009)
    upstream.answer({ body: { text: 'Hello' } })
    expect((await transcribe()).status).to.equal(200)
    await gateway.rows(2)
    expect((await state()).spent, 'the estimate, where nobody tells the seconds').to.be.within(0.0021, 0.0023)
  })

  describe('holds for media what they may cost', () => {
    const tokens = { input: 1_000, input_audio: 2_000, output: 10_000, output_audio: 20_000, output_image: 30_000 }
    const offers = ['images', 'image-edits', 'speech', 'transcriptions']
    /** What is held for a request at a model with these prices, in USD. */
    const held = async (pricing: object, path: string, body: object | FormData) => {
      await (gateway as RunningGateway | undefined)?.close()
      await start(
        { usd: 1_000, period: 'month' },
        {
          providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, offers }],
          models: [{ name: 'm', provider: 'far', pricing, max_output_tokens: 1_000 }],
        },
      )
      upstream.answer({ status: 400, body: { error: { message: 'no' } } })
      const headers = { authorization: `Bearer ${secret}` }
      const asked = body instanceof FormData ? body : JSON.stringify({ model: 'm', ...body })
      const type = body instanceof FormData ? {} : { 'content-type': 'application/json' }
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { ...headers, ...type },
        body: asked,
      })
      expect(answer.status).to.equal(400)
      return Number((1_000 - Number(answer.headers.get('x-gateway-budget-remaining'))).toFixed(6))
    }
    const form = (fields: Record<string, string | Blob>) => {
      const body = new FormData()
      for (const [name, value] of Object.entries({ model: 'm', ...fields })) body.set(name, value)
      return body
    }

    it('for each picture that is asked for, by its price or by the tokens that are assumed', async () => {
      expect(await held({ images: 0.04 }, '/v1/images/generations', { prompt: 'a cat', n: 3 })).to.equal(0.12)
      const asked = await held({ output_image: 30, input: 0 }, '/v1/images/generations', { prompt: 'a cat', n: 3 })
      expect(asked).to.equal(0.09)
    })

    it('for the characters or the tokens of speech, whichever cost more', async () => {
      const asked = { input: 'x'.repeat(100), voice: 'alloy' }
      expect(await held({ characters: 15 }, '/v1/audio/speech', asked)).to.equal(0.0015)
      expect(await held({ characters: 15, input: 0, output_audio: 20 }, '/v1/audio/speech', asked)).to.equal(0.02)
      expect(await held({ characters: 1_500, input: 0, output_audio: 20 }, '/v1/audio/speech', asked)).to.equal(0.15)
    })

    it('for the length of a recording, whose bytes are no text', async () => {
      const recording = form({ file: new Blob(['sound'.repeat(20_000)]) })
      const micros = (usd: number) => usd * 1e6
      // About 100 kB: 12.5 seconds at 8 kB a second, of ten tokens each, and 1,000 tokens of text.
      expect(await held({ seconds: 0.01 }, '/v1/audio/transcriptions', recording)).to.be.within(0.125, 0.126)
      const asked = micros(await held(tokens, '/v1/audio/transcriptions', recording))
      expect(asked).to.be.within(125 * 2_000 + 1_000 * 10_000, 127 * 2_000 + 1_000 * 10_000)
    })

    it('for the pictures that are edited by their size, however long they are', async () => {
      const pricing = { input: 0, input_image: 10, output_image: 0 }
      const small = await held(pricing, '/v1/images/edits', form({ prompt: 'a hat', image: new Blob(['x']) }))
      const large = await held(
        pricing,
        '/v1/images/edits',
        form({ prompt: 'a hat', image: new Blob(['x'.repeat(200_000)]) }),
      )
      const asked = { prompt: 'a hat', images: [{ image_url: `data:image/png;base64,${'A'.repeat(200_000)}` }] }
      expect(small).to.be.within(0.001, 0.1)
      expect([large, await held(pricing, '/v1/images/edits', asked)]).to.deep.equal([small, small])
    })
  })

  it('admits what costs exactly as much as the request says it may', async () => {
    await start(null, { models: [{ name: 'm', provider: 'far', pricing: { requests: 0.000249 } }] })
    expect((await ask({ routing: { max_cost: 0.000249 } })).status).to.equal(200)
    expect((await ask({ routing: { max_cost: 0.000248 } })).status).to.equal(429)
  })

  it('keeps to what the request says it may cost', async () => {
    await start(null)
    const asked = async (more: object, headers?: Record<string, string>) => {
      const answer = await ask(more, headers)
      return answer.status
    }
    expect(await asked({ routing: { max_cost: 0.01 } })).to.equal(200)
    expect(await asked({}, { 'x-routing-max-cost': '0.01' })).to.equal(200)
    expect(await asked({ max_tokens: 1_000 }, { 'x-routing-max-cost': '0.01' })).to.equal(429)
    const refused = await ask({ routing: { max_cost: 0.0001 } })
    expect(refused.headers.get('x-gateway-limit')).to.equal('request')
    expect(refused.headers.get('x-should-retry')).to.equal('false')
    const { code, param } = await errorOf(refused)
    expect({ code, param }).to.deep.equal({ code: 'budget_exceeded', param: 'routing.max_cost' })
    for (const max_cost of [-1, 0, 'much', {}]) expect(await asked({ routing: { max_cost } })).to.equal(400)
    expect(await asked({}, { 'x-routing-max-cost': 'much' })).to.equal(400)
    const misplaced = await errorOf(await ask({ max_cost: 0.0001 }))
    expect(misplaced).to.include({ code: 'invalid_value', param: 'max_cost' })
    expect(misplaced).to.have.property('message').that.includes('it is a field of `routing`')
    // No provider is told.
    for (const { body } of upstream.requests) expect(body.toString()).not.to.include('routing')
    expect(upstream.requests).to.have.length(2)
  })

  it('gives back all that a rate limit took when a budget refuses', async () => {
    await start(
      { usd: 0, period: 'month' },
      {
        api_keys: [
          {
            name: 'limited',
            key: secret,
            budget: { usd: 0, period: 'month' },
            rate_limit: { requests: 2, tokens: 1_000, concurrency: 1, period: '30d' },
          },
        ],
      },
    )
    for (const count of [1, 2, 3, 4]) {
      const refused = await ask()
      expect(refused.headers.get('x-gateway-limit')).to.equal('key')
      expect(refused.headers.get('x-ratelimit-remaining-requests')).to.equal('1')
      expect((await errorOf(refused)).code).to.equal('budget_exceeded')
      await gateway.rows(count)
    }
  })

  it('acts at once when a budget is reset', async () => {
    await start({ usd: 0.001, period: 'month' })
    await ask()
    await gateway.rows(1)
    expect((await ask()).status).to.equal(429)
    await limitsOf(gateway).reset({ kind: 'key', id })
    expect((await ask()).status).to.equal(200)
  })
})
