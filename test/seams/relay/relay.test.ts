import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import type { Outcome } from 'sluice'
import { connect, dial } from '../../engine/http/socket-client.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../../support/gateway.ts'
import { talkingUpstream } from '../../support/talking-upstream.ts'
import type { Session, TalkingUpstream } from '../../support/talking-upstream.ts'
import { until } from '../../support/until.ts'
import { keysOf } from '../../support/keys.ts'

const here = import.meta.dirname
const secret = 'upstream-key-51c0ffee'
const subprotocol = 'openai-insecure-api-key.'

describe('seams/relay', () => {
  let upstream: TalkingUpstream
  let second: TalkingUpstream
  let gateway: RunningGateway
  /** What the plugin remembers: it can be imported where a gateway runs. */
  let ended: Outcome[]
  let streamed: string[]
  let gate: { open: Promise<void> | undefined; shut: string | undefined }
  const start = async (settings: GatewaySettings = {}) => {
    gateway = await startGateway({
      plugins: [join(here, 'plugin.ts')],
      pipelines: join(here, 'pipelines'),
      providers: [
        { name: 'first', type: 'acme-live', base_url: upstream.url, api_key: secret },
        { name: 'second', type: 'acme-live', base_url: second.url, api_key: secret },
        { name: 'nobody', type: 'acme-live', base_url: 'http://127.0.0.1:1', api_key: secret },
      ],
      models: [
        { name: 'm', provider: 'first', upstream_model: 'm-2026' },
        { name: 'other', provider: 'second', upstream_model: 'other-2026' },
        { name: 'lost', provider: 'nobody' },
      ],
      api_keys: [{ name: 'narrow', key: narrow, models: ['other'] }],
      ...settings,
    })
    ;({ ended, gate, streamed } = await import('./plugin.ts'))
    gate.open = gate.shut = undefined
    ended.length = streamed.length = 0
  }
  const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'
  beforeEach(async () => {
    upstream = await talkingUpstream('welcome')
    second = await talkingUpstream('second')
  })
  afterEach(async () => {
    expect(gateway.lines.join('')).not.to.include(secret).and.not.to.include(gateway.key)
    await gateway.close()
    await upstream.close()
    await second.close()
  })

  const session = async (number = 1): Promise<Session> => {
    await upstream.when(() => upstream.sessions.length >= number)
    return upstream.sessions[number - 1] as Session
  }
  const outcome = async (): Promise<Outcome> => {
    await until(() => ended.length > 0)
    return ended[0] as Outcome
  }
  /** A client and the session that it is joined with. */
  const talk = async () => {
    const client = await connect(gateway, '/talk?model=m&voice=low')
    const met = await session()
    expect(await client.next()).to.equal('welcome')
    return { client, met }
  }

  it('passes text and bytes as they are, in order, and what comes with the handshake, too', async () => {
    await start()
    const { client, met } = await talk()
    expect(met.request.url).to.equal('/talk?model=m-2026&voice=low')
    expect(met.request.headers).to.include({ authorization: `Bearer ${secret}` })
    expect(met.request.rawHeaders.join()).not.to.include(gateway.key)
    client.socket.send('one')
    client.socket.send('forbidden')
    client.socket.send(Buffer.from('two'))
    client.socket.send('')
    await upstream.when(() => met.heard.length === 3)
    expect(met.heard).to.deep.equal(['text one', 'bytes two', 'text '])
    const kinds: boolean[] = []
    client.socket.on('message', (_, binary) => kinds.push(binary))
    met.socket.send('three')
    met.socket.send(Buffer.from('four'))
    expect([await client.next(), await client.next()]).to.deep.equal(['three', 'four'])
    expect(kinds).to.deep.equal([false, true])
    expect(ended).to.have.length(0)
    client.socket.close(1000)
    await met.closed
    expect(await outcome()).to.deep.include({ status: 101, result: 'completed', bytes: 'welcomethreefour'.length })
  })

  it('is one exchange, whose end comes when both sides have closed', async () => {
    await start()
    const { client, met } = await talk()
    met.socket.close(4321, 'bye')
    expect(await client.closed).to.deep.equal({ code: 4321, reason: 'bye' })
    await outcome()
    expect(ended).to.have.length(1)
  })

  describe('closes one side as the other does', () => {
    const of = (code: number, reason = '') => ({ code, reason })
    const cases: Readonly<
      Record<
        string,
        readonly [
          how: (talking: Awaited<ReturnType<typeof talk>>) => void,
          object,
          object | undefined,
          Outcome['result'],
        ]
      >
    > = {
      'the upstream with a code': [
        ({ met }) => met.socket.close(4001, 'enough'),
        of(4001, 'enough'),
        undefined,
        'completed',
      ],
      'the upstream without a code': [({ met }) => met.socket.close(), of(1005), undefined, 'completed'],
      'the upstream without a word': [({ met }) => met.socket.terminate(), of(1011), undefined, 'failed'],
      'the client with a code': [
        ({ client }) => client.socket.close(3999, 'done'),
        of(3999, 'done'),
        of(3999, 'done'),
        'completed',
      ],
      'the client without a code': [({ client }) => client.socket.close(), of(1005), of(1005), 'completed'],
      'the client without a word': [({ client }) => client.socket.terminate(), of(1006), of(1001), 'client_closed'],
    }
    for (const [name, [how, client, other, result]] of Object.entries(cases))
      it(name, async () => {
        await start()
        const talking = await talk()
        how(talking)
        expect(await talking.client.closed).to.deep.equal(client)
        if (other) expect(await talking.met.closed).to.deep.equal(other)
        expect(await outcome()).to.include({ result })
        await upstream.when(() => upstream.connections === 0)
      })
  })

  describe('before it is open', () => {
    it('tries the next candidate when the upstream refuses', async () => {
      await start()
      upstream.welcome(429)
      const client = await connect(gateway, '/talk?model=m,other')
      expect(await client.next()).to.equal('second')
      client.socket.close(1000)
      expect(await outcome()).to.include({ result: 'completed' })
      await upstream.when(() => upstream.connections === 0)
    })

    it('closes the socket of a try that failed once the next one serves', async () => {
      await start()
      gate.shut = 'm'
      const client = await connect(gateway, '/talk?model=m,other')
      expect(await client.next()).to.equal('second')
      expect((await (await session()).closed).code).to.equal(1001)
      expect(ended).to.have.length(0)
      client.socket.send('still here')
      await second.when(() => second.sessions[0]?.heard.length === 1)
      client.socket.close(1000)
      expect(await outcome()).to.include({ result: 'completed' })
    })

    const refused: Readonly<Record<string, readonly [path: string, number | undefined, number, string]>> = {
      'an upstream that cannot be reached': ['/talk?model=lost', undefined, 1011, 'upstream_unreachable'],
      'an upstream that refuses the key': ['/talk?model=m', 401, 1011, 'upstream_refused_key'],
      'an upstream that fails': ['/talk?model=m', 500, 1011, 'upstream_error'],
      'a model that does not exist': ['/talk?model=none', undefined, 1008, 'model_not_found'],
    }
    for (const [name, [path, status, code, word]] of Object.entries(refused))
      it(`tells of ${name} on the open socket`, async () => {
        await start()
        if (status !== undefined) upstream.welcome(status)
        const client = dial(gateway, path)
        const told = (await client.nextJson()) as { type: string; error: { code: string } }
        expect(told).to.include({ type: 'error' })
        expect(told.error.code).to.equal(word)
        expect(JSON.stringify(told)).not.to.include('127.0.0.1')
        expect((await client.closed).code).to.equal(code)
        expect((await outcome()).error?.code).to.equal(word)
      })

    for (const kind of ['stream', 'bytes'] as const)
      it(`fails where a pipeline answers with ${kind}, which no socket takes`, async () => {
        await start()
        const client = dial(gateway, kind === 'stream' ? '/streamed' : '/whole')
        expect(await client.nextJson()).to.have.nested.property('error.code', 'internal_error')
        expect((await client.closed).code).to.equal(1011)
        expect(await outcome()).to.deep.include({ result: 'failed' })
        expect(gateway.lines.join()).to.include(`a reply of kind \\"${kind}\\" is not for routes`)
        expect(streamed).to.have.length(kind === 'stream' ? 1 : 0)
      })

    it('tells a key that may not use the model', async () => {
      await start()
      const client = dial(gateway, '/talk?model=m', { headers: { authorization: `Bearer ${narrow}` } })
      expect(await client.nextJson()).to.have.nested.property('error.code', 'model_not_allowed')
      expect((await client.closed).code).to.equal(1008)
      expect(upstream.upgrades).to.have.length(0)
    })

    it('lets go of the upstream when the client leaves', async () => {
      await start()
      upstream.welcome('silent')
      const client = dial(gateway, '/talk?model=m')
      await upstream.when(() => upstream.upgrades.length === 1)
      client.socket.terminate()
      await upstream.when(() => upstream.connections === 0)
      expect(await outcome()).to.include({ result: 'client_closed' })
    })

    it('tells a client whose upstream has died in between', async () => {
      await start()
      const { promise, resolve } = Promise.withResolvers<void>()
      gate.open = promise
      const client = dial(gateway, '/talk?model=m')
      const met = await session()
      met.socket.terminate()
      await upstream.when(() => upstream.connections === 0)
      // The gateway has heard of it, too, when it has answered somebody else.
      for (let round = 0; round < 5; round++) await fetch(`${gateway.url}/nothing`)
      resolve()
      expect((await client.closed).code).to.equal(1011)
      expect(await outcome()).to.include({ result: 'failed' })
    })

    it('closes the upstream of a client that has left in between', async () => {
      await start()
      const { promise, resolve } = Promise.withResolvers<void>()
      gate.open = promise
      const client = dial(gateway, '/talk?model=m')
      const met = await session()
      client.socket.terminate()
      expect((await met.closed).code).to.equal(1001)
      resolve()
      expect(await outcome()).to.include({ result: 'client_closed' })
    })

    it('lets go of the upstream when the gateway stops', async () => {
      await start()
      upstream.welcome('silent')
      const client = dial(gateway, '/talk?model=m')
      await upstream.when(() => upstream.upgrades.length === 1)
      const closing = gateway.engine.close(3_600_000)
      expect(await client.nextJson()).to.have.nested.property('error.code', 'draining')
      expect((await client.closed).code).to.equal(1001)
      await upstream.when(() => upstream.connections === 0)
      await closing
    })
  })

  describe('asks who is there', () => {
    /** A client as a browser is one: with a key among its subprotocols. */
    const browser = (protocols: string[]) =>
      new WebSocket(`${gateway.url.replace('http', 'ws')}/talk?model=m`, protocols)

    it('by a key among the subprotocols, which it repeats to nobody', async () => {
      await start()
      const offers = [
        ['realtime', `${subprotocol}${gateway.key}`, 'openai-project.p'],
        [`${subprotocol}${gateway.key}`, 'realtime'],
      ]
      for (const [index, offered] of offers.entries()) {
        const socket = browser(offered)
        const [[response]] = (await Promise.all([once(socket, 'upgrade'), once(socket, 'message')])) as [
          [{ rawHeaders: string[] }],
          unknown,
        ]
        expect(socket.protocol).to.equal('realtime')
        expect(response.rawHeaders.join()).not.to.include(gateway.key)
        const { request } = await session(index + 1)
        expect(request.rawHeaders.join()).not.to.include(gateway.key)
        socket.close()
        await once(socket, 'close')
      }
    })

    it('and closes with 4401 where the key is wrong, on an open socket', async () => {
      await start()
      const socket = browser(['realtime', `${subprotocol}sk-wrong-key`])
      const [code] = (await once(socket, 'close')) as [number]
      expect(code).to.equal(4401)
      expect(gateway.lines.join('')).not.to.include('sk-wrong-key')
      expect(upstream.upgrades).to.have.length(0)
    })

    it('again and again: a key that is revoked has no socket left', async () => {
      await start({ limits: { sockets: { recheck: 20 } } })
      const made = await keysOf(gateway.engine).create({ name: 'brief' })
      const client = await connect(gateway, '/talk?model=m', { headers: { authorization: `Bearer ${made.text}` } })
      const met = await session()
      expect(await client.next()).to.equal('welcome')
      await keysOf(gateway.engine).revoke({ id: made.id, name: 'brief' })
      expect(await client.nextJson()).to.have.nested.property('error.code', 'invalid_api_key')
      expect((await client.closed).code).to.equal(4401)
      expect((await met.closed).code).to.equal(1000)
    })
  })

  describe('waits for who reads slowly', () => {
    const count = 100
    const message = (index: number) => Buffer.from(`${index} `.padEnd(256 * 1024, 'x'))
    /** More than the gateway may hold would end the session. */
    const limits = { bodies: 8 * 1024 * 1024 }

    /** Sends all messages, and resolves when nothing more leaves although the gateway goes on. */
    const stuck = async (socket: WebSocket) => {
      let sent = 0
      for (let index = 0; index < count; index++) socket.send(message(index), { binary: false }, () => sent++)
      for (let before = -1, same = 0; same < 30; before = sent) {
        await fetch(`${gateway.url}/nothing`)
        same = sent === before ? same + 1 : 0
      }
      expect(sent).to.be.below(count)
    }

    it('the client', async function () {
      this.timeout(300_000)
      await start({ limits })
      const { client, met } = await talk()
      client.socket.pause()
      await stuck(met.socket)
      client.socket.resume()
      for (let index = 0; index < count; index++) expect(await client.next()).to.equal(message(index).toString())
      client.socket.close(1000)
      expect(await outcome()).to.include({ result: 'completed' })
    })

    it('the upstream', async function () {
      this.timeout(300_000)
      await start({ limits })
      const { client, met } = await talk()
      met.socket.pause()
      await stuck(client.socket)
      met.socket.resume()
      await upstream.when(() => met.heard.length === count)
      expect(met.heard.every((text, index) => text === `text ${message(index).toString()}`)).to.equal(true)
      client.socket.close(1000)
      expect(await outcome()).to.include({ result: 'completed' })
    })

    it('and gives up a client that never reads, which the upstream hears', async () => {
      await start({ limits: { sockets: { stalled: 50, closeTimeout: 50 } } })
      const { client, met } = await talk()
      client.socket.pause()
      for (let index = 0; index < count; index++) met.socket.send(message(index))
      await met.closed
      await outcome()
      client.socket.terminate()
    })
  })

  for (const side of ['client', 'upstream'] as const)
    it(`fails alone, on both sides, where what looks at a message of the ${side} throws`, async () => {
      await start()
      const { client, met } = await talk()
      const speaker = side === 'client' ? client.socket : met.socket
      speaker.send('spoiled')
      speaker.send('spoiled again')
      expect((await client.closed).code).to.equal(1011)
      expect((await met.closed).code).to.equal(side === 'client' ? 1000 : 1011)
      expect(await outcome()).to.have.nested.property('error.code', 'internal_error')
      expect(ended).to.have.length(1)
      expect(await (await connect(gateway, '/talk?model=other')).next()).to.equal('second')
    })

  it('is closed when the gateway stops, which does not wait for it', async () => {
    await start()
    const { client, met } = await talk()
    const closing = gateway.engine.close(3_600_000)
    expect((await client.closed).code).to.equal(1001)
    expect((await met.closed).code).to.equal(1001)
    await closing
    expect(ended).to.have.length(1)
  })

  it('is closed when it is too old, with a word about it', async () => {
    await start({ limits: { sockets: { age: 1_500 } } })
    const { client, met } = await talk()
    expect(await client.nextJson()).to.have.nested.property('error.code', 'websocket_connection_limit_reached')
    expect((await client.closed).code).to.equal(1001)
    expect((await met.closed).code).to.equal(1000)
  })

  it('is served as a WebSocket alone', async () => {
    await start()
    const response = await fetch(`${gateway.url}/talk?model=m`)
    expect(response.status).to.equal(426)
  })
})
