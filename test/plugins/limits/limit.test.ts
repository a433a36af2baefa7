import { expect } from 'chai'
import { chatAnswer } from '../../service/streams.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { until } from '../../support/until.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'
const messages = [{ role: 'user' as const, content: 'Hello' }]

/** The error of an answer. */
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; type: string; message: string } }).error

describe('plugins/limits/limit', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const start = async (rateLimit: object | null, settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 }, max_output_tokens: 50 }],
      api_keys: [{ name: 'limited', key: secret, ...(rateLimit ? { rate_limit: rateLimit } : {}) }],
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

  const ask = (more: object = {}, path = '/v1/chat/completions', key = secret) =>
    gateway.post(path, { model: 'm', messages, ...more }, { authorization: `Bearer ${key}` })
  const settled = async (count: number) => void (await gateway.rows(count))

  it('admits a full bucket of requests, and refuses the next one with what the clients of the protocol expect', async () => {
    await start({ requests: 2, period: '1h' })
    for (const left of ['1', '0']) {
      const answer = await ask()
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('x-ratelimit-limit-requests')).to.equal('2')
      expect(answer.headers.get('x-ratelimit-remaining-requests')).to.equal(left)
      expect(answer.headers.get('x-ratelimit-reset-requests')).to.match(/^(29m\d+s|30m0s|59m\d+s|1h0m0s)$/)
      expect(answer.headers.has('x-ratelimit-limit-tokens')).to.equal(false)
    }
    const refused = await ask()
    expect(refused.status).to.equal(429)
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1_700, 1_800)
    expect(refused.headers.get('x-gateway-limit')).to.equal('key')
    expect(refused.headers.get('x-ratelimit-remaining-requests')).to.equal('0')
    expect(refused.headers.has('x-should-retry')).to.equal(false)
    const { code, type, message } = await errorOf(refused)
    expect({ code, type }).to.deep.equal({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
    expect(message).to.match(
      /^The API key "limited" has reached its limit of 2 requests per 1h\. Try again in \d+ seconds\.$/,
    )
    // Another key has its own limit, or none.
    expect((await ask({}, undefined, gateway.key)).status).to.equal(200)
  })

  it('shows limits to clients of messages in their own words', async () => {
    await start({ requests: 2, tokens: 1_000, period: '1h' })
    upstream.answer({ body: chatAnswer })
    const answer = await gateway.post(
      '/v1/messages',
      { model: 'm', max_tokens: 10, messages },
      { 'x-api-key': secret, authorization: '' },
    )
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('anthropic-ratelimit-requests-limit')).to.equal('2')
    expect(answer.headers.get('anthropic-ratelimit-requests-remaining')).to.equal('1')
    expect(answer.headers.get('anthropic-ratelimit-requests-reset')).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(answer.headers.get('anthropic-ratelimit-tokens-limit')).to.equal('1000')
    expect(Number(answer.headers.get('anthropic-ratelimit-tokens-remaining'))).to.be.within(900, 989)
    expect(answer.headers.has('x-ratelimit-limit-requests')).to.equal(false)
  })

  it('reserves tokens for the most that may be used, and gives back what was not', async () => {
    await start({ tokens: 1_000, period: '30d' })
    // At least the maximum of the model, 50, and the text.
    const first = Number((await ask()).headers.get('x-ratelimit-remaining-tokens'))
    expect(first).to.be.within(900, 949)
    await settled(1)
    // 13 tokens were used.
    const second = Number((await ask({ max_tokens: 10 })).headers.get('x-ratelimit-remaining-tokens'))
    expect(second).to.equal(1_000 - 13 - (1_000 - first - 40))
    await settled(2)
    const large = await ask({ max_tokens: 5_000 })
    expect(large.status).to.equal(429)
    expect((await errorOf(large)).message).to.include('its limit of 1000 tokens per 30d')
  })

  it('counts no more tokens than the limit for a single request, which may owe the rest', async () => {
    await start({ tokens: 10, period: '30d' })
    expect((await ask()).status).to.equal(200)
    await settled(1)
    // 13 tokens were used, so that 3 are owed.
    const refused = await ask({ max_tokens: 1 })
    expect(refused.status).to.equal(429)
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).to.equal('0')
  })

  it('gives back the tokens, but not the request, when no provider was asked', async () => {
    await start({ tokens: 1_000, requests: 3, period: '30d' })
    expect((await ask({ model: 'unknown' })).status).to.equal(404)
    await settled(1)
    const answer = await ask({ max_tokens: 1 })
    expect(answer.headers.get('x-ratelimit-remaining-requests')).to.equal('1')
    expect(Number(answer.headers.get('x-ratelimit-remaining-tokens'))).to.be.greaterThan(980)
  })

  it('gives back all that a request has taken that is refused by its own cap, or because its budget is unknown', async () => {
    await start({ requests: 3, tokens: 1_000, period: '30d' })
    const ofHeader = { authorization: `Bearer ${secret}`, 'x-routing-max-cost': 'much' }
    const refused = await gateway.post('/v1/chat/completions', { model: 'm', messages }, ofHeader)
    expect([refused.status, (await errorOf(refused)).code]).to.deep.equal([400, 'invalid_value'])
    await settled(1)
    const left = async () => (await ask()).headers.get('x-ratelimit-remaining-requests')
    expect(await left()).to.equal('2')
    await gateway.close()

    const budget = { usd: 1, period: 'month' }
    const limited = { name: 'limited', key: secret, rate_limit: { requests: 3, period: '30d' }, budget }
    await start(null, { api_keys: [limited] })
    await gateway.engine.database.rows('alter table limits_sums rename to limits_away')
    const unknown = await ask()
    expect([unknown.status, (await errorOf(unknown)).code]).to.deep.equal([503, 'store_unavailable'])
    await settled(1)
    await gateway.engine.database.rows('alter table limits_away rename to limits_sums')
    expect(await left()).to.equal('2')
  })

  it('counts nothing of what fails before', async () => {
    await start({ requests: 1, period: '30d' })
    expect((await ask({ messages: 'none' })).status).to.equal(400)
    expect((await gateway.post('/v1/chat/completions', '{', { authorization: `Bearer ${secret}` })).status).to.equal(
      400,
    )
    expect((await ask()).status).to.equal(200)
  })

  it('admits so many at the same time, until each has its answer', async () => {
    await start({ concurrency: 2 })
    const go = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await go.promise
      return { body: chatAnswer }
    })
    const running = [ask(), ask({ stream: false })]
    await until(() => upstream.requests.length === 2)
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '1'])
    expect((await errorOf(refused)).message).to.include('its limit of 2 requests at the same time')
    go.resolve()
    for (const answer of await Promise.all(running)) expect(answer.status).to.equal(200)
    upstream.answer({ body: chatAnswer })
    // One after the other, each has a place as soon as the one before has its answer.
    for (let count = 0; count < 20; count++) {
      const answers = await Promise.all([ask(), ask()])
      for (const answer of answers) expect(answer.status).to.equal(200)
      await Promise.all(answers.map((answer) => answer.text()))
    }
  })

  it('limits the whole gateway without telling its figures, and burns nothing of the others', async () => {
    await start(
      { requests: 10, period: '30d' },
      {
        server_config: {
          rate_limits: { server: { requests: 1, period: '30d' }, key_default: { requests: 5, period: '30d' } },
        },
      },
    )
    expect((await ask()).headers.get('x-ratelimit-remaining-requests')).to.equal('9')
    const refused = await ask()
    expect(refused.status).to.equal(429)
    expect(refused.headers.get('x-gateway-limit')).to.equal('server')
    expect(refused.headers.get('x-ratelimit-remaining-requests')).to.equal('9')
    expect((await errorOf(refused)).message).to.match(
      /^The gateway has reached its limit\. Try again in \d+ seconds\.$/,
    )
    // Keys without a limit of their own have the default.
    expect((await ask({}, undefined, gateway.key)).headers.get('x-ratelimit-limit-requests')).to.equal('5')
  })

  it('shows no headers if the operator does not want them', async () => {
    await start({ requests: 1 }, { server_config: { rate_limits: { headers: false } } })
    const answers = [await ask(), await ask()]
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 429])
    for (const { headers } of answers) expect([...headers.keys()].join()).not.to.include('ratelimit')
  })

  it('counts a count of tokens as a request where a provider is asked, and towards no tokens', async () => {
    await start(
      { requests: 3, tokens: 1_000, period: '30d' },
      {
        providers: [
          { name: 'far', type: 'messages', base_url: upstream.url, api_key: 'k' },
          { name: 'chatty', type: 'compatible', base_url: upstream.url },
          { name: 'native', type: 'native', base_url: upstream.url, api_key: 'k' },
        ],
        models: [
          { name: 'm', provider: 'far' },
          { name: 'here', provider: 'chatty' },
          { name: 'vendor', provider: 'native' },
        ],
      },
    )
    const left = async (path: string, body: object) => {
      const { status, headers } = await ask({ messages: undefined, ...body }, path)
      expect(status).to.equal(200)
      return ['requests', 'tokens'].map(
        (counted) =>
          headers.get(`x-ratelimit-remaining-${counted}`) ?? headers.get(`anthropic-ratelimit-${counted}-remaining`),
      )
    }
    upstream.answer({ body: { input_tokens: 500 } })
    const [tokens, items] = ['/v1/messages/count_tokens', '/v1/responses/input_tokens'] as const
    expect(await left(tokens, { model: 'here', messages })).to.deep.equal(['3', '1000'])
    expect(await left(items, { model: 'here', input: 'Hello' })).to.deep.equal(['3', '1000'])
    expect(await left(tokens, { messages })).to.deep.equal(['2', '1000'])
    expect(await left(items, { model: 'vendor', input: 'Hello' })).to.deep.equal(['1', '1000'])
    expect(upstream.requests).to.have.length(2)
    await settled(4)
    expect(await left(tokens, { model: 'here', messages })).to.deep.equal(['1', '1000'])
  })

  it('does not limit routes that ask no model', async () => {
    await start({ requests: 1, period: '30d' })
    expect((await ask()).status).to.equal(200)
    const headers = { authorization: `Bearer ${secret}` }
    for (const path of ['/v1/models', '/v1/models/m', '/v1/responses/resp_0000'])
      expect((await fetch(gateway.url + path, { headers })).status).not.to.equal(429)
    expect((await ask({ max_tokens: undefined }, '/v1/messages/count_tokens')).status).to.equal(200)
  })
})
