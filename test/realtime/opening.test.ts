import { once } from 'node:events'
import net from 'node:net'
import { expect } from 'chai'
import type { IncomingMessage } from 'node:http'
import { frame, refusal } from '../engine/http/socket-client.ts'
import type { SocketClient } from '../engine/http/socket-client.ts'
import type { GatewaySettings } from '../support/gateway.ts'
import { keyword, narrowKey, startRig, upstreamKey } from './rig.ts'
import type { Rig } from './rig.ts'

interface ErrorEvent {
  readonly type: string
  readonly event_id: string
  readonly error: Readonly<Record<string, unknown>>
}

describe('realtime/opening', () => {
  let rig: Rig
  const start = async (settings?: GatewaySettings) => (rig = await startRig(settings))
  afterEach(async () => {
    const { gateway } = rig
    const logged = gateway.lines.join('')
    expect(logged).not.to.include(upstreamKey).and.not.to.include(gateway.key).and.not.to.include(narrowKey)
    await rig.close()
  })

  /** The error that a refused client is told, and the code with which its socket closes. */
  const told = async (client: SocketClient) => {
    const event = (await client.nextJson()) as ErrorEvent
    const { code } = await client.closed
    expect(Object.keys(event)).to.deep.equal(['type', 'event_id', 'error'])
    expect(event.type).to.equal('error')
    expect(event.event_id).to.match(/^event_[0-9a-f]{32}$/)
    expect(Object.keys(event.error)).to.deep.equal(['type', 'code', 'message', 'param', 'event_id'])
    expect(event.error['event_id']).to.equal(null)
    return { error: event.error, code }
  }

  describe('asks the provider', () => {
    it('for its own model, with its own key, and passes on the rest of the query', async () => {
      await start()
      await rig.talk('intent=transcription&model=rt&voice=low', {
        headers: {
          'openai-beta': 'realtime=v1',
          'openai-organization': 'org',
          'openai-project': 'project',
          'openai-safety-identifier': 'user',
          cookie: 'c=1',
        },
      })
      const [request] = rig.upstream.upgrades
      expect(request?.url).to.equal('/v1/realtime?intent=transcription&model=rt-2026&voice=low')
      expect(request?.headers).to.include({
        authorization: `Bearer ${upstreamKey}`,
        'openai-organization': 'org',
        'openai-project': 'project',
        'openai-safety-identifier': 'user',
      })
      expect(request?.headers).not.to.have.any.keys('openai-beta', 'cookie', 'sec-websocket-protocol')
      expect(request?.headers).not.to.have.property('sec-websocket-extensions')
      expect(request?.rawHeaders.join()).not.to.include(rig.gateway.key)
    })

    for (const name of ['talk', 'first/rt-2026', 'rt'])
      it(`for the model that is called ${name}`, async () => {
        await start()
        await rig.talk(`model=${encodeURIComponent(name)}`)
        expect(rig.upstream.upgrades[0]?.url).to.equal('/v1/realtime?model=rt-2026')
      })

    for (const path of ['/realtime', '/v1/v1/realtime', '/v1/realtime/'])
      it(`at ${path}, too`, async () => {
        await start()
        const { connect } = await import('../engine/http/socket-client.ts')
        await connect(rig.gateway, `${path}?model=rt`)
        expect(rig.upstream.upgrades).to.have.length(1)
      })

    it('and tells the client which model answers, and the id of the session', async () => {
      await start()
      const client = rig.dial('model=rt')
      const [response] = (await once(client.socket, 'upgrade')) as [IncomingMessage]
      expect(response.headers).to.include({ 'x-gateway-model': 'rt', 'x-gateway-provider': 'first' })
      client.socket.close()
      const row = await rig.gateway.row(({ type }) => type === 'realtime')
      expect(response.headers['x-request-id']).to.equal(row.id)
      expect(response.headers).not.to.have.any.keys('sec-websocket-extensions', 'sec-websocket-protocol')
    })
  })

  it('keeps what a client sends with the upgrade itself, before anybody has answered', async () => {
    await start()
    const socket = net.connect(Number(new URL(rig.gateway.url).port), '127.0.0.1')
    const lines = [
      'GET /v1/realtime?model=rt HTTP/1.1',
      'host: 127.0.0.1',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${rig.gateway.key}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    for (let count = 0; count < 20; count++) socket.write(frame(0x81, `${count}`.padEnd(8_000)))
    await rig.upstream.when(() => rig.upstream.sessions[0]?.heard.length === 20)
    expect(rig.upstream.sessions[0]?.heard.map((one) => parseInt(one.slice(5), 10))).to.deep.equal([
      ...Array(20).keys(),
    ])
    socket.destroy()
  })

  it('asks no provider whose breaker is open, while another one may serve', async () => {
    const resilience = { breaker: { failures: 1 }, retries: { tries: 2, wait: '1ms' } }
    await start({ server_config: { resilience } })
    rig.upstream.welcome(500)
    for (const count of [1, 2]) {
      const client = rig.dial('model=rt')
      await once(client.socket, 'open')
      expect([rig.upstream.upgrades.length, rig.other.upgrades.length]).to.deep.equal([1, count])
    }
  })

  it('asks a provider again whose sessions break off, but whose sockets open', async () => {
    await start({ server_config: { resilience: { breaker: { failures: 1 } } } })
    for (const count of [1, 2, 3]) {
      const { client, met } = await rig.talk()
      met.socket.terminate()
      expect((await client.closed).code).to.equal(1011)
      await rig.gateway.rows(count)
    }
    expect(rig.other.upgrades).to.have.length(0)
  })

  describe('finds out who asks', () => {
    for (const protocols of [
      (key: string) => ['realtime', keyword + key, 'openai-organization.o', 'openai-project.p'],
      (key: string) => [keyword + key, 'openai-beta.realtime-v1', 'other', 'realtime'],
    ])
      it(`by a key among the subprotocols, of which it selects realtime alone (${protocols('').join(', ')})`, async () => {
        await start()
        const socket = rig.browser(protocols(rig.gateway.key))
        const [[response]] = (await Promise.all([once(socket, 'upgrade'), once(socket, 'open')])) as [
          [IncomingMessage],
          unknown,
        ]
        expect(response.headers['sec-websocket-protocol']).to.equal('realtime')
        expect(response.rawHeaders.join()).not.to.include(rig.gateway.key)
        const [request] = rig.upstream.upgrades
        expect(request?.rawHeaders.join()).not.to.include(rig.gateway.key)
        if (protocols('').length > 3 && protocols('')[0] === 'realtime')
          expect(request?.headers).to.include({ 'openai-organization': 'o', 'openai-project': 'p' })
      })

    it('by x-api-key', async () => {
      await start()
      await rig.talk('model=rt', { headers: { 'x-api-key': rig.gateway.key, authorization: '' } })
    })

    const strangers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'no key': { authorization: '' },
      'a wrong key': { authorization: 'Bearer sk-wrong' },
    }
    for (const [name, headers] of Object.entries(strangers))
      it(`and closes an open socket with 4401 for ${name}`, async () => {
        await start()
        const client = rig.dial('model=rt', { headers })
        await once(client.socket, 'open')
        expect((await client.closed).code).to.equal(4401)
        expect(client.heard).to.have.length(1)
        const told = JSON.parse(client.heard[0]?.replace(/^text:/, '') ?? '') as { type: string; error: object }
        expect(told).to.have.property('event_id').that.is.a('string')
        expect(told).to.deep.include({ type: 'error' })
        expect(told.error).to.include({ code: 'invalid_api_key' })
        expect(rig.upstream.upgrades).to.have.length(0)
      })

    it('and closes with 4401 for a key in the query alone', async () => {
      await start()
      const client = rig.dial(`model=rt&api_key=${rig.gateway.key}`, { headers: { authorization: '' } })
      expect((await client.closed).code).to.equal(4401)
    })

    it('and closes with 4401, and selects realtime, for a wrong key among the subprotocols', async () => {
      await start()
      const socket = rig.browser(['realtime', `${keyword}sk-wrong`])
      const closed = once(socket, 'close')
      await once(socket, 'open')
      expect(socket.protocol).to.equal('realtime')
      expect((await closed)[0]).to.equal(4401)
      expect(rig.gateway.lines.join('')).not.to.include('sk-wrong')
    })
  })

  describe('refuses on the open socket, before anybody is called,', () => {
    const refused: Readonly<Record<string, readonly [query: string, code: string, param: string]>> = {
      'no model': ['', 'invalid_request_error', 'model'],
      'an empty model': ['model=', 'invalid_request_error', 'model'],
      'an intent without a model': ['intent=transcription', 'invalid_request_error', 'model'],
      'two models': ['model=rt&model=second', 'invalid_request_error', 'model'],
      'an unknown model': ['model=none', 'model_not_found', 'model'],
      'a model without supports_realtime': ['model=writer', 'invalid_request_error', 'model'],
      'a model whose provider has no sessions': ['model=mute', 'invalid_request_error', 'model'],
      fast: ['model=fast', 'invalid_request_error', 'model'],
      auto: ['model=AUTO', 'invalid_request_error', 'model'],
      best: ['model=best', 'invalid_request_error', 'model'],
      'a session that somebody else has opened': ['model=rt&call_id=rtc_1', 'invalid_request_error', 'call_id'],
      'a key in the query': ['model=rt&api_key=sk-1234', 'invalid_request_error', 'api_key'],
    }
    for (const [name, [query, word, param]] of Object.entries(refused))
      it(name, async () => {
        await start()
        const { error, code } = await told(rig.dial(query))
        expect(error).to.include({ type: 'invalid_request_error', code: word, param })
        expect(code).to.equal(1008)
        expect(rig.upstream.upgrades).to.have.length(0)
        const row = await rig.gateway.row(({ type }) => type === 'realtime')
        expect(row).to.include({ result: 'refused', error: word, attempts: 0, cost_micros: 0 })
      })

    it('a model that the key may not use', async () => {
      await start()
      const { error, code } = await told(rig.dial('model=rt', { headers: { authorization: `Bearer ${narrowKey}` } }))
      expect(error).to.include({ code: 'model_not_allowed', param: 'model' })
      expect(code).to.equal(1008)
      expect(rig.upstream.upgrades).to.have.length(0)
    })

    it('and selects realtime for a browser that it refuses', async () => {
      await start()
      const socket = rig.browser(['realtime', keyword + rig.gateway.key], 'model=none')
      const [message] = (await once(socket, 'message')) as [Buffer]
      expect(message.toString()).to.include('model_not_found')
      expect(socket.protocol).to.equal('realtime')
      socket.close()
    })
  })

  describe('refuses over HTTP', () => {
    it('a page of another site', async () => {
      await start()
      const { status } = await refusal(rig.gateway, '/v1/realtime?model=rt', { origin: 'https://evil.example' })
      expect(status).to.equal(403)
    })

    it('a request for anything but a socket', async () => {
      await start()
      const response = await fetch(`${rig.gateway.url}/v1/realtime?model=rt`)
      expect(response.status).to.equal(426)
      expect(response.headers.get('upgrade')).to.equal('websocket')
    })
  })

  describe('when the provider', () => {
    const nobody = { name: 'first', type: 'native', base_url: 'http://127.0.0.1:1', api_key: upstreamKey }
    const alone = { name: 'rt', provider: 'first', upstream_model: 'rt-2026', supports_realtime: true }

    it('refuses, tells the status and the message, without secrets', async () => {
      await start({ models: [alone], api_keys: [], server_config: { resilience: { retries: { tries: 1 } } } })
      rig.upstream.welcome({ status: 404, body: JSON.stringify({ error: { message: `No ${upstreamKey} here.` } }) })
      const { error, code } = await told(rig.dial('model=rt'))
      expect(error).to.include({ type: 'server_error', code: 'upstream_error', param: null })
      expect(error['message']).to.match(/status 404: No .+ here\.$/)
      expect(JSON.stringify(error)).not.to.include(upstreamKey)
      expect(code).to.equal(1011)
    })

    it('refuses the key of the gateway, which is not the fault of the client', async () => {
      await start({ models: [alone], api_keys: [] })
      rig.upstream.welcome(401)
      const { error, code } = await told(rig.dial('model=rt'))
      expect(error).to.include({ type: 'server_error', code: 'upstream_error' })
      expect(error['message']).to.include('status 401')
      expect(code).to.equal(1011)
    })

    for (const welcome of [500, 429])
      it(`refuses with ${welcome}, asks that of the next model`, async () => {
        await start()
        rig.upstream.welcome(welcome)
        const client = rig.dial('model=rt')
        const [response] = (await once(client.socket, 'upgrade')) as [IncomingMessage]
        expect(response.headers).to.include({ 'x-gateway-model': 'second', 'x-gateway-provider': 'second' })
        expect(rig.other.upgrades.map(({ url }) => url)).to.deep.equal(['/v1/realtime?model=second-2026'])
        client.socket.close()
        const row = await rig.gateway.row(({ type }) => type === 'realtime')
        expect(row).to.include({ requested: 'rt', model: 'second', provider: 'second', result: 'completed' })
      })

    it('is switched off, refuses with 1008', async () => {
      await start({ providers: [{ ...nobody, api_key: '${NO_KEY_IS_SET}' }], models: [alone], api_keys: [] })
      const { error, code } = await told(rig.dial('model=rt'))
      expect(error).to.include({ type: 'server_error', code: 'provider_off' })
      expect(code).to.equal(1008)
    })

    it('refuses with 429, closes with 1011', async () => {
      await start({ models: [alone], api_keys: [], server_config: { resilience: { retries: { tries: 1 } } } })
      rig.upstream.welcome(429)
      const { error, code } = await told(rig.dial('model=rt'))
      expect(error).to.include({ code: 'upstream_error' })
      expect(code).to.equal(1011)
    })

    it('cannot be reached, closes with 1011', async () => {
      await start({ providers: [nobody], models: [alone], api_keys: [] })
      const { error, code } = await told(rig.dial('model=rt'))
      expect(error).to.include({ type: 'server_error', code: 'upstream_error' })
      expect(String(error['message'])).not.to.include('127.0.0.1')
      expect(code).to.equal(1011)
      const row = await rig.gateway.row(({ type }) => type === 'realtime')
      expect(row).to.include({ result: 'failed', error: 'upstream_unreachable' })
    })
  })
})
