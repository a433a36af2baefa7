import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import { rawClient } from '../http/raw-client.ts'
import { connect, dial, refusal } from '../http/socket-client.ts'
import { aborted, events, json, startStub } from '../http/stub.ts'
import type { StubGateway } from '../http/stub.ts'
import { keysOf } from '../../support/keys.ts'
import { tablesOf } from '../../support/tables.ts'

const pipelines = `endpoints:
  - name: talk
    summary: Answers messages.
    routes: [WS /talk/:room, POST /talk/:room, WS /mute]
    stages: [auth, stub]
    finally: [stub-outcome]
  - name: read
    summary: Reads the message first.
    protocol: chat
    routes: [WS /read]
    stages: [auth, parse, stub]
  - name: open
    summary: Answers anybody.
    public: true
    routes: [WS /open]
    stages: [stub]
  - name: deaf
    summary: Has no socket.
    routes: [POST /deaf]
    stages: [auth, stub]
`

describe('sockets', () => {
  let gateway: StubGateway
  const start = async (sockets: object = {}, more: object = {}) =>
    (gateway = await startStub(pipelines, { limits: { sockets, ...more } }))
  afterEach(() => gateway.close())

  it('run each message through the pipeline of their path', async () => {
    await start()
    gateway.answer(async ({ ingress, principal }) => {
      const { method, path, params, query, transport, headers } = ingress
      const said = (await ingress.body(100)).bytes.toString()
      const client = principal?.name ?? null
      return json({
        method,
        path,
        params: { ...params },
        query: query.toString(),
        transport,
        said,
        client,
        host: headers.host ?? null,
      })
    })
    const client = await connect(gateway, '/talk/7?a=b')
    client.send('{"x": 1}')
    expect(await client.nextJson()).to.deep.equal({
      method: 'WS',
      path: '/talk/:room',
      params: { room: '7' },
      query: 'a=b',
      transport: 'ws',
      said: '{"x": 1}',
      client: 'test',
      host: gateway.url.slice('http://'.length),
    })
    const [outcome] = await gateway.ended(1)
    expect(outcome).to.include({ status: 200, result: 'completed' })
    expect(outcome?.bytes).to.be.greaterThan(100)
  })

  it('send the events of a stream as messages, without the mark of its end', async () => {
    await start()
    gateway.answer(() => events(['{"n":1}', '{"n":2}', '[DONE]']))
    const client = await connect(gateway, '/talk/1')
    for (let turn = 0; turn < 2; turn++) {
      client.send('{}')
      expect([await client.next(), await client.next()]).to.deep.equal(['{"n":1}', '{"n":2}'])
    }
    await gateway.ended(2)
    expect(client.heard).to.deep.equal([])
  })

  it('keep a session from message to message, each its own', async () => {
    await start()
    gateway.answer(({ ingress: { session } }) => {
      const count = Number(session?.get('count') ?? 0) + 1
      session?.set('count', count, count === 2 ? released.resolve : undefined)
      return json({ count })
    })
    const released = Promise.withResolvers<void>()
    const [one, other] = [await connect(gateway, '/talk/1'), await connect(gateway, '/talk/1')]
    const counts: unknown[] = []
    for (const client of [one, one, other]) {
      client.send('{}')
      counts.push(await client.nextJson())
    }
    expect(counts).to.deep.equal([{ count: 1 }, { count: 2 }, { count: 1 }])
    one.socket.close()
    await released.promise
  })

  it('are open to anybody where the pipeline is public', async () => {
    await start()
    gateway.answer(({ principal }) => json({ known: principal !== undefined }))
    const client = await connect(gateway, '/open', { headers: { authorization: 'none' } })
    client.send('{}')
    expect(await client.nextJson()).to.deep.equal({ known: false })
  })

  it('say errors as frames and stay open', async () => {
    await start()
    const errors = [new GatewayError('model_not_found', { model: 'm' }), new Error('a secret')]
    gateway.answer(() => {
      const error = errors.shift()
      if (error) throw error
      return json({ fine: true })
    })
    const client = await connect(gateway, '/talk/1')
    client.send('{}')
    expect(await client.nextJson()).to.deep.equal({
      type: 'error',
      status: 404,
      error: {
        message: 'The model "m" does not exist.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    })
    client.send('{}')
    expect(await client.nextJson()).to.deep.include({ type: 'error', status: 500 })
    client.send('{}')
    expect(await client.nextJson()).to.deep.equal({ fine: true })
  })

  it('say when a stream breaks', async () => {
    await start()
    async function* breaking() {
      yield '{"n":1}'
      throw new GatewayError('upstream_error', { model: 'm', reason: 'gone' })
    }
    gateway.answer(() => events(breaking()))
    const client = await connect(gateway, '/talk/1')
    client.send('{}')
    expect(await client.nextJson()).to.deep.equal({ n: 1 })
    expect(await client.nextJson()).to.deep.include({ type: 'error', status: 502 })
    const [outcome] = await gateway.ended(1)
    expect(outcome).to.deep.include({ status: 200, result: 'failed' })
  })

  describe('open', () => {
    it('with 4401 for clients without a valid key, of whom nothing is read (H4)', async () => {
      await start({ closeTimeout: 100 })
      let asked = 0
      gateway.answer(() => json({ asked: ++asked }))
      const forms = [
        { authorization: '' },
        { authorization: 'Bearer sk-wrong' },
        { authorization: `Basic ${gateway.key}` },
        { authorization: '', 'x-api-key': 'sk-wrong' },
      ]
      for (const headers of forms) {
        const client = dial(gateway, `/talk/1?api_key=${gateway.key}&key=${gateway.key}`, { headers })
        client.socket.on('open', () => client.send('{}'))
        expect(await client.nextJson()).to.deep.include({ type: 'error', status: 401 })
        expect(await client.closed).to.deep.equal({ code: 4401, reason: 'not authenticated' })
      }
      expect(asked).to.equal(0)
    })

    it('with the key in x-api-key', async () => {
      await start()
      gateway.answer(() => json({ fine: true }))
      const client = await connect(gateway, '/talk/1', { headers: { authorization: '', 'x-api-key': gateway.key } })
      client.send('{}')
      expect(await client.nextJson()).to.deep.equal({ fine: true })
    })

    it('nowhere but where there is a route', async () => {
      await start()
      expect(await refusal(gateway, '/nowhere')).to.deep.include({ status: 404 })
      expect((await refusal(gateway, '/deaf')).body).to.deep.equal({
        error: {
          message: 'Nothing is served at WS /deaf.',
          type: 'invalid_request_error',
          param: null,
          code: 'not_found',
        },
      })
      for (const path of ['/Talk/1', '//talk/1', '/talk/1/2', '/talk', '/talk%2f1'])
        expect((await refusal(gateway, path)).status, path).to.equal(404)
    })

    it('for upgrades alone', async () => {
      await start()
      const plain = await fetch(`${gateway.url}/mute`)
      expect(plain.status).to.equal(426)
      expect(plain.headers.get('upgrade')).to.equal('websocket')
      expect(((await plain.json()) as { error: { code: string } }).error.code).to.equal('upgrade_required')
      expect((await fetch(`${gateway.url}/talk/1`)).status).to.equal(426)
      const put = await fetch(`${gateway.url}/talk/1`, { method: 'PUT' })
      expect([put.status, put.headers.get('allow')]).to.deep.equal([405, 'POST'])
    })

    it('not for pages of other sites (H15)', async () => {
      gateway = await startStub(pipelines, {
        server_config: { cors: { origins: ['https://console.example'] } },
        limits: { sockets: { closeTimeout: 100 } },
      })
      const { host } = new URL(gateway.url)
      for (const origin of [
        'http://evil.example',
        `http://${host}.evil.example`,
        'null',
        'file://',
        `ftp://${host}`,
        'http://',
      ])
        expect(await refusal(gateway, '/talk/1', { headers: { origin } }), origin).to.deep.include({ status: 403 })
      expect(
        (await refusal(gateway, '/talk/1', { headers: { 'sec-websocket-origin': 'http://evil.example' } })).status,
      ).to.equal(403)
      for (const origin of [`http://${host}`, `https://${host}`, 'https://console.example']) {
        const client = await connect(gateway, '/talk/1', { headers: { origin } })
        client.socket.close()
      }
      const cookie = dial(gateway, '/talk/1', {
        headers: { authorization: '', cookie: `key=${gateway.key}`, origin: `http://${host}` },
      })
      expect((await cookie.closed).code).to.equal(4401)
    })

    it('without compression (H3)', async () => {
      await start()
      const client = await connect(gateway, '/talk/1', { perMessageDeflate: true })
      expect(client.socket.extensions).to.equal('')
    })

    it('up to a number per address and per key, then 1013 (H13)', async () => {
      await start({ perAddress: 3, perKey: 2, closeTimeout: 100 })
      const [one] = [await connect(gateway, '/talk/1'), await connect(gateway, '/talk/1')]
      expect((await (await connect(gateway, '/talk/1')).closed).code).to.equal(1013)
      await connect(gateway, '/open')
      expect((await (await connect(gateway, '/open')).closed).code).to.equal(1013)
      one.socket.close()
      await one.closed
      const again = await connect(gateway, '/talk/1')
      gateway.answer(() => json({ fine: true }))
      again.send('{}')
      expect(await again.nextJson()).to.deep.equal({ fine: true })
    })

    it('to a good key, however many with bad ones hold on to theirs at its address', async () => {
      await start({ refusedPerAddress: 2, closeTimeout: 60_000 })
      const holding = await Promise.all([1, 2].map(() => handshake(gateway, 'sk-wrong')))
      for (const stranger of holding) await stranger.until(/^HTTP\/1\.1 101 /)
      const refused = await refusal(gateway, '/talk/1', { headers: { authorization: 'Bearer sk-wrong' } })
      expect(refused.status).to.equal(401)
      gateway.answer(() => json({ fine: true }))
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      expect(await client.nextJson()).to.deep.equal({ fine: true })
      holding.forEach((stranger) => stranger.socket.destroy())
    })

    it('to a stranger only until it has closed in its turn, whatever it sends before', async () => {
      await start({ closeTimeout: 60_000 })
      for (const said of ['', '{}', 'x'.repeat(1_000_000)]) {
        const stranger = dial(gateway, '/talk/1', { headers: { authorization: 'Bearer sk-wrong' } })
        stranger.socket.on('open', () => said !== '' && stranger.send(said))
        expect((await stranger.closed).code).to.equal(4401)
      }
    })
  })

  describe('answer one message at a time', () => {
    it('and refuse what comes before its last word (H6)', async () => {
      await start()
      const gate = Promise.withResolvers<void>()
      gateway.answer(async ({ ingress }) => {
        const said = (await ingress.body(10)).bytes.toString()
        if (said === '1') await gate.promise
        return json({ said })
      })
      const client = await connect(gateway, '/talk/1')
      for (const said of ['1', '2', '3']) client.send(said)
      for (let refused = 0; refused < 2; refused++)
        expect(await client.nextJson()).to.deep.equal({
          type: 'error',
          status: 400,
          error: {
            message: 'A response is still in progress; send the next message when it is complete.',
            type: 'invalid_request_error',
            param: null,
            code: 'response_already_in_flight',
          },
        })
      gate.resolve()
      expect(await client.nextJson()).to.deep.equal({ said: '1' })
      client.send('4')
      expect(await client.nextJson()).to.deep.equal({ said: '4' })
      expect(await gateway.ended(2)).to.have.length(2)
    })

    it('and take the next one after the last word, though the turn is not over yet', async () => {
      await start({ trailing: 60_000 })
      const gate = Promise.withResolvers<void>()
      async function* lingering() {
        yield '"first"'
        yield '[DONE]'
        await gate.promise
      }
      let turns = 0
      gateway.answer(() => (++turns === 1 ? events(lingering()) : json({ turns })))
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      expect(await client.next()).to.equal('"first"')
      client.send('{}')
      client.send('{}')
      expect(await client.nextJson()).to.deep.include({ type: 'error', status: 400 })
      expect(turns).to.equal(1)
      gate.resolve()
      expect(await client.nextJson()).to.deep.equal({ turns: 2 })
    })

    it('and give up a stream that goes on after its last word', async () => {
      await start({ trailing: 30 })
      const over = Promise.withResolvers<void>()
      async function* endless() {
        try {
          yield '"first"'
          yield '[DONE]'
          for (;;) {
            yield '"unheard"'
            await new Promise(setImmediate)
          }
        } finally {
          over.resolve()
        }
      }
      gateway.answer(() => events(endless()))
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      await over.promise
      expect((await gateway.ended(1))[0]).to.include({ result: 'completed' })
      expect(client.heard).to.deep.equal(['"first"'])
    })

    it('and do not pile up refusals for a client that reads none', async function () {
      await start({ closeTimeout: 50 })
      gateway.answer(async ({ scope }) => {
        throw await aborted(scope)
      })
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      client.socket.pause()
      const gone = gateway.ended(1)
      const state = { over: false }
      void gone.then(() => (state.over = true))
      while (!state.over) {
        for (let index = 0; index < 500; index++) client.send('{}')
        await new Promise(setImmediate)
      }
      expect((await gone)[0]).to.deep.include({ result: 'client_closed' })
    })

    it('and have completed it once the client has the last word', async () => {
      await start({ trailing: 60_000 })
      const gate = Promise.withResolvers<void>()
      async function* lingering() {
        yield '"first"'
        yield '[DONE]'
        await gate.promise
      }
      gateway.answer(() => events(lingering()))
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      await client.next()
      client.socket.close()
      expect((await gateway.ended(1))[0]).to.include({ result: 'completed', status: 200 })
      gate.resolve()
    })

    it('and end it when the client leaves (H11)', async () => {
      await start()
      const ending = Promise.withResolvers<Error>()
      async function* endless(over: Promise<Error>) {
        yield '{}'
        ending.resolve(await over)
      }
      gateway.answer(({ scope }) => events(endless(aborted(scope))))
      const client = await connect(gateway, '/talk/1')
      client.send('{}')
      await client.next()
      client.socket.terminate()
      expect(await ending.promise).to.deep.include({ code: 'client_closed' })
      expect((await gateway.ended(1))[0]).to.include({ result: 'client_closed' })
    })
  })

  describe('refuse', () => {
    it('nobody whose messages were read for what a provider says of them', async () => {
      await start({ strikes: 2 })
      gateway.answer(() => {
        throw new GatewayError('invalid_request', { reason: 'It is wrong.' })
      })
      const client = await connect(gateway, '/read')
      for (let turn = 0; turn < 4; turn++) {
        client.send('{"model":"echo"}')
        expect(await client.nextJson()).to.deep.include({ status: 400 })
      }
    })

    it('what is no text, and who insists (H7)', async () => {
      await start({ strikes: 3 })
      gateway.answer(async ({ ingress }) => {
        if ((await ingress.body(9)).bytes.toString() === 'bad')
          throw new GatewayError('invalid_json', { reason: 'it is bad' })
        return json({})
      })
      const client = await connect(gateway, '/talk/1')
      client.socket.send(Buffer.from('{}'), { binary: true })
      expect(await client.nextJson()).to.deep.equal({
        type: 'error',
        status: 400,
        error: {
          message: 'Messages must be text.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_request',
        },
      })
      client.send('bad')
      expect(await client.nextJson()).to.deep.include({ type: 'error', status: 400 })
      client.send('{}')
      expect(await client.nextJson()).to.deep.equal({})
      for (let index = 0; index < 3; index++) {
        client.send('bad')
        expect(await client.nextJson()).to.deep.include({ type: 'error', status: 400 })
      }
      expect((await client.closed).code).to.equal(1008)
    })

    it('messages that are too large (H1)', async () => {
      await start({ message: 1000 })
      gateway.answer(async ({ ingress }) => json({ size: (await ingress.body(1000)).size }))
      const client = await connect(gateway, '/talk/1')
      client.send('x'.repeat(1000))
      expect(await client.nextJson()).to.deep.equal({ size: 1000 })
      client.send('x'.repeat(1001))
      expect((await client.closed).code).to.equal(1009)
    })

    it('messages beyond 64 MiB, as long as nobody says otherwise (H1)', async () => {
      await start()
      gateway.answer(async ({ ingress }) => json({ size: (await ingress.body(2 ** 26)).size }))
      const client = await connect(gateway, '/talk/1')
      client.socket.send(Buffer.alloc(2 ** 26, 'x'), { binary: false })
      expect(await client.nextJson()).to.deep.equal({ size: 2 ** 26 })
      client.socket.send(Buffer.alloc(2 ** 26 + 1, 'x'), { binary: false })
      expect((await client.closed).code).to.equal(1009)
    })

    it('messages beyond the limit of the pipeline', async () => {
      await start()
      gateway.answer(async ({ ingress }) => json({ size: (await ingress.body(10)).size }))
      const client = await connect(gateway, '/talk/1')
      client.send('x'.repeat(11))
      expect(await client.nextJson()).to.deep.include({ type: 'error', status: 413 })
    })

    it('messages while too many bytes are in hand, and counts them back', async () => {
      await start({ closeTimeout: 300, uncounted: 0 }, { bodies: 10_000 })
      gateway.answer(async ({ ingress }) => json({ size: (await ingress.body(20_000)).size }))
      for (let round = 0; round < 3; round++) {
        const client = await connect(gateway, '/talk/1')
        for (let index = 0; index < 5; index++) {
          client.send('x'.repeat(6_000))
          expect(await client.nextJson()).to.deep.equal({ size: 6_000 })
        }
        for (let index = 0; index < 200; index++) client.socket.pong('x'.repeat(100))
        client.send('x'.repeat(11_000))
        expect((await client.closed).code).to.equal(1013)
      }
    })
  })

  it('close when their key was revoked elsewhere, long before the next look', async () => {
    await start({ recheck: 3_600_000 })
    const { id, text } = await keysOf(gateway.engine).create({ name: 'brief' })
    const client = await connect(gateway, '/talk/1', { headers: { authorization: `Bearer ${text}` } })
    await tablesOf(gateway.engine.database)
      .updateTable('api_keys')
      .set({ revoked_at: 1 })
      .where('id', '=', id)
      .execute()
    expect(await client.closed).to.deep.equal({ code: 4401, reason: 'not authenticated' })
  })

  it('look again whether the client may be here (H5)', async () => {
    await start({ recheck: 20 })
    const { id, text } = await keysOf(gateway.engine).create({ name: 'brief' })
    const client = await connect(gateway, '/talk/1', { headers: { authorization: `Bearer ${text}` } })
    await tablesOf(gateway.engine.database)
      .updateTable('api_keys')
      .set({ revoked_at: 1 })
      .where('id', '=', id)
      .execute()
    // Reads the keys again, and nothing more.
    await keysOf(gateway.engine).search(text)
    expect(await client.closed).to.deep.equal({ code: 4401, reason: 'not authenticated' })
  })
})

/** A connection that asked for a socket, and answers nothing that it is told. */
async function handshake(gateway: StubGateway, key: string) {
  const client = await rawClient(gateway)
  const lines = [
    'GET /talk/1 HTTP/1.1',
    'host: gateway',
    `authorization: Bearer ${key}`,
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  client.write(`${lines.join('\r\n')}\r\n\r\n`)
  return client
}
