import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { startGateway } from '../support/gateway.ts'
import { chatAnswer, messagesAnswer } from './streams.ts'

const keys = ['sk-upstream-first-0001', 'sk-upstream-second-0002', 'short']
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })
const busy = (headers = {}) => ({ status: 429, body: { error: { message: 'busy' } }, headers })
const unknown = { status: 401, body: { error: { message: 'who is sk-upstream-first-0001' } } }

describe('a provider with several keys', () => {
  let upstream: ScriptedUpstream
  let gateway: AdminGateway
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_keys: keys }
    gateway = await startAdmin({
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
        { name: 'bridge', type: 'bridge_b', ...at },
      ],
      models: ['family', 'vendor', 'other', 'bridge'].map((name) => ({ name, provider: name })),
      server_config: { resilience: { cooldown: '2m', retries: { tries: 1 } } },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = async (model = 'family') => {
    const response = await gateway.post('/v1/chat/completions', chat(model))
    return { status: response.status, text: await response.text() }
  }
  const sent = () =>
    upstream.requests.map(({ headers }) => headers['x-api-key'] ?? String(headers.authorization).replace('Bearer ', ''))
  const cooling = async () => {
    const { body } = await gateway.asAdmin('GET /api/config/circuit-breaker')
    return body['keys'] as readonly { hint: unknown; cooling_until: string; because: unknown; provider: unknown }[]
  }
  const seconds = (time: string) => (Date.parse(time) - Date.now()) / 1_000

  it('uses them in turn, for every type of provider', async () => {
    for (const model of ['family', 'vendor', 'other', 'bridge']) {
      upstream.answer({ body: model === 'other' ? messagesAnswer : chatAnswer })
      const before = upstream.requests.length
      for (let count = 0; count < 4; count++) await ask(model)
      expect(sent().slice(before), model).to.deep.equal([...keys, keys[0]])
    }
    expect(await cooling()).to.deep.equal([])
  })

  it('lets a busy key rest, and uses another one for the same request', async () => {
    upstream.answer(busy(), { body: chatAnswer })
    expect((await ask()).status).to.equal(200)
    for (let count = 0; count < 3; count++) await ask()
    expect(sent()).to.deep.equal([keys[0], keys[1], keys[2], keys[1], keys[2]])
    const [resting, ...others] = await cooling()
    expect(others).to.deep.equal([])
    expect(resting).to.have.all.keys('provider', 'hint', 'cooling_until', 'because')
    expect(resting).to.include({ provider: 'family', hint: '0001', because: 'rate_limit_exceeded' })
    expect(seconds(resting?.cooling_until ?? '')).to.be.within(60, 120)
  })

  it('lets it rest as long as the provider says, at most ten minutes', async () => {
    upstream.answer(busy({ 'retry-after': '30' }), busy({ 'retry-after': '3000' }), { body: chatAnswer })
    expect((await ask()).status).to.equal(200)
    const times = Object.fromEntries((await cooling()).map(({ hint, cooling_until: until }) => [hint, seconds(until)]))
    expect(times['0001']).to.be.within(1, 30)
    expect(times['0002']).to.be.within(500, 600)
  })

  it('lets a key rest for ten minutes that the provider does not know', async () => {
    upstream.answer(unknown, { body: chatAnswer })
    expect((await ask()).status).to.equal(200)
    const [resting] = await cooling()
    expect(resting).to.include({ hint: '0001', because: 'upstream_refused_key' })
    expect(seconds(resting?.cooling_until ?? '')).to.be.within(500, 600)
  })

  it('asks with the key that is ready first when all rest, once per request, and tells no key', async () => {
    upstream.answer(
      busy({ 'retry-after': '300' }),
      busy({ 'retry-after': '20' }),
      busy({ 'retry-after': '40' }),
      unknown,
    )
    expect((await ask()).status).to.equal(429)
    expect(sent()).to.deep.equal(keys)
    const { status, text } = await ask()
    expect(status).to.equal(502)
    expect(sent().slice(3)).to.deep.equal([keys[1]])
    expect(text).to.include('upstream_refused_key')
    const seen = text + JSON.stringify(await cooling()) + JSON.stringify(await gateway.rows(2)) + gateway.lines.join('')
    for (const key of keys.slice(0, 2)) expect(seen).to.not.include(key)
    expect(
      (await cooling()).find(({ hint }) => hint === null),
      'a short key has no hint',
    ).to.not.equal(undefined)
  })

  it('is a finding with both one key and several, and where a key is needed with none', async () => {
    const started = (provider: object) =>
      startGateway({ providers: [{ name: 'p', base_url: upstream.url, ...provider }], models: [] }).then(
        (opened) => opened.close().then(() => 'started'),
        (error: unknown) => String(error),
      )
    expect(await started({ type: 'native', api_key: 'k', api_keys: ['l'] })).to.include('exclude each other')
    expect(await started({ type: 'native' })).to.include('"api_key" is missing or "api_keys" is missing')
    expect(await started({ type: 'compatible' })).to.equal('started')
    expect(await started({ type: 'native', api_keys: [] })).to.include('sluice.yaml:')
  })
})
