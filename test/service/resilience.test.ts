import { performance } from 'node:perf_hooks'
import { expect } from 'chai'
import type { Candidate, Services } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { openSession } from './responses-session.ts'
import { asDecisions, asMapeval } from './decisions-conversation.ts'
import { arrived, chatAnswer, chatFrames } from './streams.ts'

const chat = (model: string, more: object = {}) => ({ model, messages: [{ role: 'user', content: 'hello' }], ...more })
const failing = { status: 500, body: { error: { message: 'broken' } } }
const noRoom = { status: 503, body: { error: { message: 'no room' } } }
const withoutBreaker = { breaker: { enabled: false } }

describe('a gateway before providers that fail', () => {
  let first: ScriptedUpstream
  let second: ScriptedUpstream
  let gateway: RunningGateway
  beforeEach(async () => {
    first = await scriptedUpstream()
    second = await scriptedUpstream()
    second.answer({ body: chatAnswer })
  })
  afterEach(async () => {
    await gateway.close()
    await Promise.all([first.close(), second.close()])
  })

  /** Model `a` at the first upstream falls back to `b` at the second one; `alone` falls back to nothing. */
  const start = async (resilience: object = {}, more: GatewaySettings = {}) => {
    gateway = await startGateway({
      providers: [
        { name: 'first', type: 'compatible', base_url: first.url },
        { name: 'second', type: 'compatible', base_url: second.url },
        { name: 'hasty', type: 'compatible', base_url: first.url, timeouts: { first_byte: '20ms' } },
      ],
      models: [
        { name: 'hasty', provider: 'hasty' },
        { name: 'next-hasty', provider: 'hasty', fallbacks: ['b'] },
        { name: 'next-alone', provider: 'first', fallbacks: ['b'] },
        { name: 'a', provider: 'first', fallbacks: ['b'] },
        { name: 'alone', provider: 'first' },
        { name: 'other', provider: 'first', fallbacks: ['b'] },
        { name: 'b', provider: 'second' },
      ],
      server_config: { resilience: { ...resilience, retries: { wait: '1ms', ...(resilience as Retrying).retries } } },
      ...more,
    })
  }
  const ask = async (model: string, more: object = {}) => {
    const response = await gateway.post('/v1/chat/completions', chat(model, more))
    const text = await response.text()
    return { status: response.status, text, headers: response.headers }
  }
  const asked = () => [first.requests.length, second.requests.length]
  const times = (count: number, model: string) => Promise.all(Array.from({ length: count }, () => ask(model)))
  /** What this process knows of a model at its provider. */
  const healthOf = (model: string, provider: string) => {
    const { resilience } = gateway.engine.live.current.views.of(['resilience']) as unknown as Pick<
      Services,
      'resilience'
    >
    return resilience.healthOf({ model: { name: model }, provider: { name: provider } } as Candidate)
  }

  describe('tries', () => {
    it('as often as the settings say, and not beyond what a pipeline writes', async () => {
      first.answer(noRoom)
      await start(withoutBreaker)
      expect((await ask('alone')).status).to.equal(502)
      expect(asked()).to.deep.equal([3, 0])
      await gateway.close()
      await start({ ...withoutBreaker, retries: { tries: 5 } })
      await ask('alone')
      expect(asked()).to.deep.equal([8, 0])
      await gateway.close()
      await start({ ...withoutBreaker, retries: { on: ['429'] } })
      await ask('a')
      expect(asked()).to.deep.equal([9, 0])
    })

    /** A failure for each word of `retries.on`, and the calls of its one provider with the default words. */
    const failures: readonly (readonly [words: readonly string[], script: Script, model: string, usual: number])[] = [
      [['connect'], { raw: '', ending: 'close' }, 'alone', 3],
      [['connect'], { raw: '', ending: 'reset' }, 'alone', 3],
      [['timeout'], { silent: true }, 'hasty', 1],
      [['invalid'], { body: '<html>' }, 'alone', 3],
      [
        ['invalid'],
        { headers: { 'content-type': 'application/json' }, chunks: ['{"id":'], ending: 'close' },
        'alone',
        3,
      ],
      [['418', '4xx'], { status: 418, body: { error: { message: 'no' } } }, 'alone', 1],
      [['404', '4xx'], { status: 404, body: { error: { message: 'no' } } }, 'alone', 1],
      [['401', '4xx'], { status: 401, body: { error: { message: 'no' } } }, 'alone', 1],
      [['429', '4xx'], { status: 429, body: { error: { message: 'busy' } } }, 'alone', 3],
      [['500', '5xx'], failing, 'alone', 1],
      [['503', '5xx'], noRoom, 'alone', 3],
    ]

    it('after what retries.on lists, at the only provider and at the next one', async () => {
      const calls = async (script: Script, model: string) => {
        const before = asked()
        first.answer(script)
        expect((await ask(model)).status === 200, model).to.equal(model.startsWith('next-'))
        return asked().map((count, index) => count - (before[index] ?? 0))
      }
      const words = [...new Set(failures.flatMap(([each]) => each))]
      for (const on of [undefined, ...words]) {
        await start({ ...withoutBreaker, retries: on === undefined ? {} : { on: [on] } })
        for (const [named, script, model, usual] of failures) {
          const isListed = on === undefined ? usual > 1 : named.includes(on)
          const label = `${on ?? 'the default'}: ${JSON.stringify(script)}`
          expect(await calls(script, model), label).to.deep.equal([isListed ? 3 : 1, 0])
          const goesOn = on === undefined ? !named.includes('4xx') || named.includes('429') : isListed
          if (!goesOn) continue
          expect(await calls(script, `next-${model}`), label).to.deep.equal([1, 1])
        }
        await gateway.close()
      }
      await start()
    })

    it('waits as long as the provider asked, and asks the next candidate at once', async () => {
      first.answer({ ...noRoom, headers: { 'retry-after': '1' } }, { body: chatAnswer })
      await start(withoutBreaker)
      const began = performance.now()
      expect((await ask('alone')).status).to.equal(200)
      expect(performance.now() - began).to.be.at.least(1_000)
      first.answer({ ...noRoom, headers: { 'retry-after': '1' } })
      expect((await ask('a')).status).to.equal(200)
      expect(asked()).to.deep.equal([3, 1])
    })

    it('does not try a provider again that asks for a longer wait than the longest', async () => {
      first.answer({ status: 429, body: { error: { message: 'busy' } }, headers: { 'retry-after': '6' } })
      await start(withoutBreaker)
      const { status, headers } = await ask('alone')
      expect([status, headers.get('retry-after')]).to.deep.equal([429, '6'])
      expect(asked()).to.deep.equal([1, 0])
    })

    it('no fallback where fallbacks are switched off', async () => {
      first.answer(failing)
      await start({ ...withoutBreaker, fallbacks: false })
      expect((await ask('a')).status).to.equal(502)
      expect(asked()).to.deep.equal([1, 0])
    })

    it('nothing again after the first byte', async () => {
      first.answer({ ...arrived(chatFrames('Hello', ' there').slice(0, 2)), ending: 'reset' })
      await start()
      const { status, text } = await ask('a', { stream: true })
      expect(status).to.equal(200)
      expect(text).to.include('upstream_error')
      expect(asked()).to.deep.equal([1, 0])
      await until(() => healthOf('a', 'first').lastError !== null)
      expect(healthOf('a', 'first').lastError).to.include({ code: 'upstream_error' })
    })
  })

  describe('in a storm', () => {
    /** Answers none of the first `count` requests before all of them are there. */
    const together = (upstream: ScriptedUpstream, count: number, script: Script) =>
      upstream.answer(async () => {
        await upstream.when(() => upstream.requests.length >= count)
        return script
      })

    it('retries a fifth of the requests', async () => {
      together(first, 300, noRoom)
      await start(withoutBreaker)
      const answers = await times(300, 'alone')
      expect(answers.every(({ status }) => status === 502)).to.equal(true)
      expect(first.requests.length).to.equal(360)
    })

    it('retries at least as often as the floor says', async () => {
      together(first, 10, noRoom)
      await start({ ...withoutBreaker, retries: { budget_floor: 4 } })
      await times(10, 'alone')
      expect(first.requests.length).to.equal(14)
    })

    it('has a budget for each provider, and asks the fallbacks of all', async () => {
      together(first, 30, noRoom)
      together(second, 30, noRoom)
      await start(withoutBreaker)
      await Promise.all([times(30, 'alone'), times(30, 'b')])
      expect(asked()).to.deep.equal([36, 36])
      second.answer({ body: chatAnswer })
      expect((await times(30, 'a')).every(({ status }) => status === 200)).to.equal(true)
      expect(asked()).to.deep.equal([66, 66])
    })
  })

  describe('leaves out a provider', () => {
    it('after failures in a row, for the model that failed', async () => {
      first.answer(failing)
      await start()
      for (let count = 0; count < 8; count++) expect((await ask('a')).status).to.equal(200)
      expect(asked()).to.deep.equal([5, 8])
      await ask('other')
      expect(asked()).to.deep.equal([6, 9])
      const row = await gateway.row(({ metadata }) => metadata.includes('breaker_open'))
      expect(JSON.parse(row.metadata)).to.deep.include({
        tries: [{ model: 'a', provider: 'first', code: 'breaker_open' }],
      })
      expect(row).to.include({ attempts: 1, provider: 'second' })
    })

    it('for all its models where the settings say so', async () => {
      first.answer(failing)
      await start({ breaker: { per: 'provider' } })
      for (let count = 0; count < 6; count++) await ask('a')
      await ask('other')
      expect(asked()).to.deep.equal([5, 7])
    })

    it('when streams break off, but not when it refuses requests or is busy, nor when clients leave', async () => {
      await start()
      first.answer(() => ({ ...arrived(chatFrames('Hello').slice(0, 2)), ending: 'reset' }))
      for (let count = 0; count < 5; count++) await ask('a', { stream: true })
      await until(() => healthOf('a', 'first').circuit.state === 'open')

      for (const status of [400, 401, 404, 429]) {
        first.answer({ status, body: { error: { message: 'no' } }, headers: { 'retry-after': '60' } })
        for (let count = 0; count < 6; count++) await ask('other')
      }
      first.answer({ silent: true })
      const before = first.requests.length
      for (let count = 1; count <= 6; count++) {
        const leaving = new AbortController()
        const left = fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          signal: leaving.signal,
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(chat('other')),
        })
        await first.received(before + count)
        leaving.abort()
        await left.catch(() => undefined)
      }
      await until(() => healthOf('other', 'first').active === 0)
      expect(healthOf('other', 'first')).to.deep.include({ lastError: null })
      expect(healthOf('other', 'first').circuit.state).to.equal('closed')
    })

    it('never where it is the last one to ask; but such a provider is asked only once', async () => {
      first.answer(noRoom)
      await start()
      const counts: number[] = []
      for (let count = 0; count < 5; count++) {
        const before = first.requests.length
        expect((await ask('alone')).status).to.equal(502)
        counts.push(first.requests.length - before)
      }
      expect(counts).to.deep.equal([3, 2, 1, 1, 1])
    })

    it('in the background, too', async function () {
      const { url } = await redis(this)
      first.answer(failing)
      await start({}, { key_value: { url } })
      const authorization = { authorization: `Bearer ${gateway.key}` }
      for (let count = 0; count < 7; count++) {
        const begun = await gateway.post('/v1/responses', { model: 'a', input: 'hello', background: true })
        const { id } = (await begun.json()) as { id: string }
        const made = () => fetch(`${gateway.url}/v1/responses/${id}`, { headers: authorization })
        await until(async () => ((await (await made()).json()) as { status: string }).status === 'completed')
      }
      expect(asked()).to.deep.equal([5, 7])
      expect(healthOf('a', 'first').circuit.state).to.equal('open')
    })

    it('until exactly one probe has shown that it works again', async () => {
      first.answer(failing)
      await start({ breaker: { open: '10ms', open_max: '10ms' } })
      for (let count = 0; count < 5; count++) await ask('a')
      const { circuit } = healthOf('a', 'first')
      expect(circuit.state).to.equal('open')
      await until(() => performance.now() >= (circuit.retryAt ?? 0))
      first.answer(async () => {
        // The probe is answered when all others have been.
        await second.when(() => second.requests.length >= 5 + 49)
        return { body: chatAnswer }
      })
      expect((await times(50, 'a')).every(({ status }) => status === 200)).to.equal(true)
      expect(circuit.openedTimes).to.equal(1)
      expect(asked()).to.deep.equal([6, 54])
      expect(circuit.state).to.equal('closed')
      await ask('a')
      expect(asked()).to.deep.equal([7, 54])
    })

    it('longer after a probe that failed', async () => {
      first.answer(failing)
      await start({ breaker: { open: '10ms', open_max: '1h' } })
      for (let count = 0; count < 5; count++) await ask('a')
      const { circuit } = healthOf('a', 'first')
      await until(() => performance.now() >= (circuit.retryAt ?? 0))
      expect((await ask('a')).status).to.equal(200)
      expect(circuit).to.include({ state: 'open', openedTimes: 2 })
      expect((circuit.retryAt ?? 0) - (circuit.openedAt ?? 0)).to.be.within(20, 24)
    })
  })
})

interface Retrying {
  readonly retries?: object
}

/** Requests of every kind, each with its own model, which falls back to one at the second upstream. */
const routes: Record<string, (gateway: RunningGateway, model: string) => Promise<unknown>> = {
  'chat completions': (gateway, model) => drained(gateway.post('/v1/chat/completions', chat(model))),
  'streamed chat completions': (gateway, model) =>
    drained(gateway.post('/v1/chat/completions', chat(model, { stream: true }))),
  responses: (gateway, model) => drained(gateway.post('/v1/responses', { model, input: 'hello' })),
  'streamed responses': (gateway, model) =>
    drained(gateway.post('/v1/responses', { model, input: 'hello', stream: true })),
  'responses on a socket': async (gateway, model) => {
    const session = await openSession(gateway)
    const frames = await session.turn({ model, input: 'hello' })
    session.socket.terminate()
    return frames
  },
  messages: (gateway, model) => drained(gateway.post('/v1/messages', { ...chat(model), max_tokens: 9 })),
  embeddings: (gateway, model) => drained(gateway.post('/v1/embeddings', { model, input: 'hello' })),
  images: (gateway, model) => drained(gateway.post('/v1/images/generations', { model, prompt: 'hello' })),
  speech: (gateway, model) => drained(gateway.post('/v1/audio/speech', { model, input: 'hello', voice: 'alloy' })),
  transcriptions: (gateway, model) => {
    const body = new FormData()
    body.set('model', model)
    body.set('file', new Blob(['sound']), 'a.mp3')
    const headers = { authorization: `Bearer ${gateway.key}` }
    return drained(fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body }))
  },
  decisions: (gateway, model) => drained(gateway.post('/v1/decisions', { ...asDecisions, model })),
  mapeval: (gateway, model) => drained(gateway.post('/v1/mapeval', { ...asMapeval, model })),
}

/** Routes on which no other model may answer: only another place of the same one. */
const ownRoutes: typeof routes = {
  compact: (gateway, model) => drained(gateway.post('/v1/responses/compact', { model, input: 'hello' })),
  'count tokens': (gateway, model) => drained(gateway.post('/v1/messages/count_tokens', chat(model))),
  'input tokens': (gateway, model) => drained(gateway.post('/v1/responses/input_tokens', { model, input: 'hello' })),
}

const drained = async (response: Promise<Response>) => (await response).text()

describe('a provider that fails is left out on every route', () => {
  let failed: ScriptedUpstream
  let next: ScriptedUpstream
  let unable: ScriptedUpstream
  let gateway: RunningGateway
  const nameOf = (route: string) => route.replaceAll(' ', '-')
  before(async () => {
    failed = await scriptedUpstream()
    next = await scriptedUpstream()
    unable = await scriptedUpstream()
    failed.answer(failing)
    next.answer({ status: 400, body: { error: { message: 'this one only counts' } } })
    const record = { supports_mapeval: true }
    gateway = await startGateway({
      providers: [
        { name: 'failing', type: 'native', base_url: failed.url, api_key: 'k' },
        { name: 'next', type: 'native', base_url: next.url, api_key: 'k' },
        { name: 'failing-messages', type: 'messages', base_url: failed.url, api_key: 'k' },
        { name: 'next-messages', type: 'messages', base_url: next.url, api_key: 'k' },
        { name: 'unable', type: 'compatible', base_url: unable.url },
      ],
      models: [
        ...Object.keys(ownRoutes).map((name) => {
          const kind = name === 'count tokens' ? '-messages' : ''
          const others = ['unable', `next${kind}`].map((provider) => ({ provider, upstream_model: 'm' }))
          return { name: nameOf(name), provider: `failing${kind}`, deployments: others, fallbacks: ['next'] }
        }),
        ...Object.keys(routes).map((name) => ({
          name: nameOf(name),
          provider: 'failing',
          fallbacks: ['next'],
          ...record,
        })),
        { name: 'next', provider: 'next', ...record },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    for (const upstream of [failed, next, unable]) await upstream.close()
  })

  for (const [name, send] of Object.entries(routes))
    it(name, async () => {
      const before = [failed.requests.length, next.requests.length] as const
      for (let count = 0; count < 7; count++) await send(gateway, nameOf(name))
      expect(failed.requests.length - before[0]).to.equal(5)
      expect(next.requests.length - before[1]).to.equal(7)
    })

  for (const [name, send] of Object.entries(ownRoutes))
    it(`${name}, which is answered here after a failure`, async () => {
      const before = [failed.requests.length, next.requests.length] as const
      for (let count = 0; count < 7; count++) await send(gateway, nameOf(name))
      expect(failed.requests.length - before[0]).to.equal(5)
      // The place that can do it; those that cannot, and the fallback, are never asked.
      expect(next.requests.length - before[1]).to.equal(2)
      expect(next.requests.at(-1)?.body.toString()).to.include('"model":"m"')
      expect(unable.requests).to.deep.equal([])
    })
})
