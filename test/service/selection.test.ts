import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from './streams.ts'

const names = ['one', 'two', 'three'] as const
const chat = (text = 'hello', more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: text }],
  ...more,
})

describe('the place of a model that is asked first', () => {
  let url: string
  let places: Record<(typeof names)[number], ScriptedUpstream>
  let gateway: RunningGateway
  before(async function () {
    url = (await redis(this)).url
  })
  beforeEach(async () => {
    const [one, two, three] = [await scriptedUpstream(), await scriptedUpstream(), await scriptedUpstream()]
    places = { one, two, three }
    for (const name of names) places[name].answer({ body: chatAnswer })
  })
  afterEach(async () => {
    await gateway.close()
    for (const name of names) await places[name].close()
  })

  /** Model `m` at three places. */
  const start = async (selection: object = {}, more: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: names.map((name) => ({ name, type: 'compatible', base_url: places[name].url })),
      models: [
        {
          name: 'm',
          provider: 'one',
          upstream_model: 'm-1',
          pricing: { input: 3, output: 3 },
          deployments: [
            { provider: 'two', upstream_model: 'm-2' },
            { provider: 'three', upstream_model: 'm-3', weight: 98 },
          ],
        },
        { name: 'cheap', provider: 'two', upstream_model: 'm-2', pricing: { input: 1, output: 1 } },
      ],
      server_config: { provider_selection: selection, resilience: { retries: { wait: '1ms' } } },
      ...more,
    })
  }
  /** Which places were asked for one request, in order, and the models that they saw. */
  const ask = async (body: object = chat(), headers: Record<string, string> = {}, path = '/v1/chat/completions') => {
    const before = names.map((name) => places[name].requests.length)
    const response = await gateway.post(path, body, headers)
    await response.text()
    return names.filter((name, index) => places[name].requests.length > (before[index] ?? 0)).join(' ')
  }

  it('is the first one, with its own name of the model; the others stay in line', async () => {
    await start()
    expect(await ask()).to.equal('one')
    places.one.answer({ status: 500, body: {} })
    places.two.answer({ status: 500, body: {} })
    expect(await ask()).to.equal('one two three')
    const asked = names.map((name) => JSON.parse(String(places[name].requests.at(-1)?.body)) as { model: string })
    expect(asked.map(({ model }) => model)).to.deep.equal(['m-1', 'm-2', 'm-3'])
    expect((await gateway.rows(2)).at(-1)).to.include({ model: 'm', provider: 'three', attempts: 3 })
  })

  it('may be another one at the same provider, which is asked although the first one has opened the breaker', async () => {
    await start(
      {},
      {
        models: [
          { name: 'm', provider: 'one', upstream_model: 'a', deployments: [{ provider: 'one', upstream_model: 'b' }] },
        ],
        server_config: { resilience: { breaker: { failures: 1 }, retries: { wait: '1ms' } } },
      },
    )
    places.one.answer({ status: 500, body: {} }, { body: chatAnswer })
    const answer = await gateway.post('/v1/chat/completions', chat())
    expect(answer.status).to.equal(200)
    const asked = places.one.requests.map(({ body }) => (JSON.parse(String(body)) as { model: string }).model)
    expect(asked).to.deep.equal(['a', 'b'])
  })

  it('may be preferred or avoided', async () => {
    await start({ prefer: ['three'], avoid: ['one'] })
    expect(await ask()).to.equal('three')
    for (const name of ['two', 'three'] as const) places[name].answer({ status: 500, body: {} })
    expect(await ask()).to.equal('one two three')
    expect((await gateway.rows(2)).at(-1)).to.include({ provider: 'one' })
  })

  it('is the cheapest one', async () => {
    await start({ strategy: 'cheapest' })
    expect(await ask()).to.equal('two')
  })

  it('is the one with the fewest requests', async () => {
    await start({ strategy: 'least_busy' })
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    places.one.answer(async () => {
      await held
      return { body: chatAnswer }
    })
    const waiting = ask()
    await places.one.received(1)
    expect(await ask()).to.equal('two')
    release?.()
    await waiting
    await until(async () => (await ask()) === 'one')
  })

  it('is the fastest one, once each has been asked', async () => {
    await start({ strategy: 'fastest' })
    places.one.answer({ body: chatAnswer, delay: 300 })
    places.three.answer({ body: chatAnswer, delay: 300 })
    expect([await ask(), await ask(), await ask(), await ask()]).to.deep.equal(['one', 'two', 'three', 'two'])
  })

  it('is drawn by weight', async () => {
    await start({ strategy: 'weighted', sticky: 'none' })
    const drawn: string[] = []
    for (let count = 0; count < 30; count++) drawn.push(await ask())
    // 98 of 100 go there: fewer than 15 of 30 come once in more than 10^15 runs.
    expect(drawn.filter((name) => name === 'three').length).to.be.above(15)
  })

  it('stays the same for a conversation, while it works, in every process', async () => {
    await start({}, { key_value: { url } })
    places.one.answer({ status: 500, body: {} }, { body: chatAnswer })
    expect(await ask(chat('first'))).to.equal('one two')
    const stays = async (body: object, headers = {}) => {
      let asked = ''
      await until(async () => (asked = await ask(body, headers)) === 'two')
      return asked
    }
    expect(await stays(chat('first'))).to.equal('two')
    const longer = { role: 'assistant', content: 'yes' }
    const body = { model: 'm', messages: [...chat('first').messages, longer, { role: 'user', content: 'second' }] }
    expect(await ask(body)).to.equal('two')
    expect(await ask(chat('another')), 'another conversation').to.equal('one')

    places.two.answer({ status: 500, body: {} })
    expect(await ask(chat('first')), 'it works no more').to.equal('one two')
    await until(async () => (await ask(chat('first'))) === 'one')
  })

  it('knows a conversation by its name, before anything else', async () => {
    await start({}, { key_value: { url } })
    const named = { prompt_cache_key: `cache-${places.one.url}` }
    places.one.answer({ status: 500, body: {} }, { body: chatAnswer })
    expect(await ask(chat('a', named))).to.equal('one two')
    await until(async () => (await ask(chat('b', named))) === 'two')
    expect(await ask(chat('a', named), { 'x-conversation-id': `id-${places.one.url}` })).to.equal('one')
    expect(await ask({ ...chat('c'), max_tokens: 9 }, {}, '/v1/messages')).to.equal('one')
  })

  it('stays the same for a key where the settings say so, and for nobody without a shared store', async () => {
    await start({ sticky: 'key' }, { key_value: { url } })
    places.one.answer({ status: 500, body: {} }, { body: chatAnswer })
    expect(await ask(chat('a'))).to.equal('one two')
    await until(async () => (await ask(chat('b'))) === 'two')
    await gateway.close()
    await start({ sticky: 'key' })
    places.one.answer({ status: 500, body: {} }, { body: chatAnswer })
    expect([await ask(chat('a')), await ask(chat('b'))]).to.deep.equal(['one two', 'one'])
  })
})
