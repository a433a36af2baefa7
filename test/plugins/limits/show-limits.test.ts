import { expect } from 'chai'
import { chatAnswer } from '../../service/streams.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'

describe('plugins/limits/show-limits', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const start = async (settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', max_output_tokens: 50 }],
      api_keys: [{ name: 'limited', key: secret, rate_limit: { requests: 3, tokens: 1_000, period: '30d' } }],
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

  const ask = (route: string, body?: object | string, key = secret) => {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return fetch(`${gateway.url}${path}`, {
      method,
      headers,
      ...(body ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    })
  }
  const shown = (answer: Response) =>
    [...answer.headers].filter(([name]) => name.includes('ratelimit')).map(([name, value]) => `${name}: ${value}`)
  const untouched = [
    'x-ratelimit-limit-requests: 3',
    'x-ratelimit-limit-tokens: 1000',
    'x-ratelimit-remaining-requests: 3',
    'x-ratelimit-remaining-tokens: 1000',
    'x-ratelimit-reset-requests: 0ms',
    'x-ratelimit-reset-tokens: 0ms',
  ]

  it('shows the limits with answers that count towards none, also with errors, and takes nothing', async () => {
    await start()
    const asked: readonly (readonly [route: string, status: number, body?: object])[] = [
      ['GET /v1/models', 200],
      ['GET /v1/models/m', 200],
      ['GET /v1/models/unknown', 404],
      ['GET /v1/protocols', 200],
      ['GET /v1/responses/resp_unknown', 404],
      ['GET /v1/responses/resp_unknown/input_items', 404],
      ['DELETE /v1/responses/resp_unknown', 404],
      ['POST /v1/responses/resp_unknown/cancel', 404],
      ['POST /v1/responses/input_tokens', 200, { model: 'm', input: 'Hello' }],
      ['POST /v1/responses/input_tokens', 400, { model: 'm', input: 1 }],
    ]
    for (const [route, status, body] of asked) {
      const answer = await ask(route, body)
      expect(answer.status, route).to.equal(status)
      expect(shown(answer), route).to.deep.equal(untouched)
    }
  })

  it('shows the limits with errors from before requests are counted', async () => {
    await start()
    const failing: readonly (readonly [route: string, status: number, body: object | string])[] = [
      ['POST /v1/chat/completions', 400, '{'],
      ['POST /v1/chat/completions', 400, { model: 'm', messages: 1 }],
      ['POST /v1/responses', 400, { model: 'm', input: 1 }],
      ['POST /v1/responses/compact', 400, { model: 'm', input: 1 }],
      ['POST /v1/embeddings', 400, { model: 'm' }],
      ['POST /v1/images/generations', 400, { model: 'm' }],
      ['POST /v1/audio/speech', 400, { model: 'm' }],
      ['POST /v1/decisions', 422, { model: 'm' }],
      ['POST /v1/mapeval', 422, { model: 'm' }],
    ]
    for (const [route, status, body] of failing) {
      const answer = await ask(route, body)
      expect(answer.status, route).to.equal(status)
      expect(shown(answer), route).to.deep.equal(untouched)
    }
    const answer = await ask('POST /v1/messages', { model: 'm', messages: 1 })
    expect(answer.status).to.equal(400)
    expect(answer.headers.get('anthropic-ratelimit-requests-remaining')).to.equal('3')
    expect(upstream.requests).to.deep.equal([])
  })

  it('shows a refused key nothing', async () => {
    await start()
    const answer = await ask('POST /v1/chat/completions', '{', 'sk-unknown-0123456789abcdef0123456789abcdef')
    expect(answer.status).to.equal(401)
    expect(shown(answer)).to.deep.equal([])
  })

  it('shows what a request has left', async () => {
    await start()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await ask('POST /v1/chat/completions', { model: 'm', messages })).status).to.equal(200)
    await gateway.rows(1)
    for (let time = 0; time < 2; time++) {
      const { headers } = await ask('GET /v1/models')
      expect(headers.get('x-ratelimit-remaining-requests')).to.equal('2')
      // 13 tokens were used.
      expect(headers.get('x-ratelimit-remaining-tokens')).to.equal('987')
    }
  })

  it('speaks to clients of messages in their own words', async () => {
    await start()
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await ask('POST /v1/messages/count_tokens', { model: 'm', messages })
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('anthropic-ratelimit-requests-limit')).to.equal('3')
    expect(answer.headers.get('anthropic-ratelimit-requests-remaining')).to.equal('3')
    expect(answer.headers.get('anthropic-ratelimit-tokens-remaining')).to.equal('1000')
    expect(answer.headers.has('x-ratelimit-limit-requests')).to.equal(false)
  })

  it('shows nothing to keys without limits, nor the limits of the whole gateway', async () => {
    await start({ server_config: { rate_limits: { server: { requests: 5, period: '1h' } } } })
    expect(shown(await ask('GET /v1/models', undefined, gateway.key))).to.deep.equal([])
    expect(shown(await ask('GET /v1/models'))).to.deep.equal(untouched)
  })

  it('shows nothing where the settings say so', async () => {
    await start({ server_config: { rate_limits: { headers: false } } })
    expect(shown(await ask('GET /v1/models'))).to.deep.equal([])
  })
})
