import { createConnection } from 'node:net'
import { expect } from 'chai'
import { encodeFrame } from '../../../engine/kit.ts'
import { startGateway } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { rawClient, request, statuses } from './raw-client.ts'
import { aborted, events, json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `endpoints:
  - name: things
    summary: Answers requests.
    public: true
    routes: [POST /things, GET /things]
    stages: [stub]
    finally: [stub-outcome]
  - name: ready
    summary: Whether requests may be sent here.
    public: true
    routes: [GET /ready]
    stages: [health: { report: ready }]
`

describe('a gateway that stops', () => {
  let gateway: StubGateway
  let closing: Promise<void> | undefined
  beforeEach(async () => {
    closing = undefined
    gateway = await startStub(pipelines, { limits: { abortTimeout: 200 } })
  })
  afterEach(async () => {
    if (!closing) return gateway.close()
    await closing
    await gateway.remove()
  })
  const close = (deadline?: number, notice?: number) => (closing = gateway.engine.close(deadline, notice))

  it('ends an answer that lasts in good order, also one that begins only then', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const source = { open: () => ({ pause() {}, resume() {}, cancel() {} }) }
    gateway.answer(async () => {
      asked.resolve()
      await gate.promise
      return { status: 200, headers: {}, body: { kind: 'stream', source, type: 'text/event-stream', lasting: true } }
    })
    const answering = fetch(`${gateway.url}/things`)
    await asked.promise
    void close(60_000)
    gate.resolve()
    expect(await (await answering).text()).to.equal('')
  })

  /** A stream that is under way until `finish`. */
  async function streaming() {
    const gate = Promise.withResolvers<void>()
    async function* slow() {
      yield '1'
      await gate.promise
      yield '2'
    }
    gateway.answer(() => events(slow()))
    const clients = await Promise.all(Array.from({ length: 20 }, () => rawClient(gateway)))
    for (const client of clients) client.write(request('GET /things'))
    await Promise.all(clients.map((client) => client.until(/data: 1/)))
    return { clients, finish: () => gate.resolve() }
  }

  it('lets streams finish and closes idle connections, half requests too (D4)', async () => {
    const idle = await rawClient(gateway)
    idle.write(request('GET /ready'))
    await idle.until(/"draining":false/)
    const [silent, half] = [await rawClient(gateway), await rawClient(gateway)]
    half.write('POST /things HTTP/1.1\r\nhost: a\r\n')
    const { clients, finish } = await streaming()
    void close()
    await Promise.all([idle.closed, silent.closed])
    finish()
    for (const client of clients) expect(await client.closed).to.match(/data: 2\n\n\r\n0\r\n\r\n$/)
    await half.closed
    await closing
    const outcomes = await gateway.ended(20)
    expect(outcomes.every(({ result }) => result === 'completed')).to.equal(true)
  })

  it('takes no new connections (D4)', async () => {
    const { finish } = await streaming()
    void close()
    const { hostname, port } = new URL(gateway.url)
    const refused = await new Promise((resolve) => createConnection(Number(port), hostname).on('error', resolve))
    expect(refused).to.include({ code: 'ECONNREFUSED' })
    finish()
  })

  it('is not ready at once, and says so for as long as it is told to (D4)', async () => {
    const kept = await rawClient(gateway)
    kept.write(request('GET /ready'))
    await kept.until(/"status":"ok"/)
    // For an hour: the second word to stop is the one that counts.
    void gateway.engine.close(1000, 3_600_000)
    const response = await fetch(`${gateway.url}/ready`)
    expect(response.status).to.equal(503)
    expect(response.headers.get('connection')).to.equal('close')
    expect(await response.json()).to.include({ status: 'draining', draining: true })
    gateway.answer(() => json({ fine: true }))
    expect((await fetch(`${gateway.url}/things`)).status).to.equal(200)
    kept.write(request('GET /ready'))
    expect(statuses(await kept.closed)).to.deep.equal([200, 503])
    void close(1000)
  })

  it('answers what it has begun to read, and closes that connection', async () => {
    const read = Promise.withResolvers<void>()
    gateway.answer(async ({ ingress }) => {
      read.resolve()
      return json({ body: (await ingress.body(10)).bytes.toString() })
    })
    const client = await rawClient(gateway)
    client.write(request('POST /things', ['content-length: 4'], 'ab'))
    await read.promise
    void close()
    client.write('cd')
    expect(await client.closed).to.contain('{"body":"abcd"}')
  })

  it('cuts what does not end in time, and half requests (D5)', async () => {
    const begun = Promise.withResolvers<void>()
    const { clients } = await streaming()
    gateway.answer(async ({ scope }) => {
      begun.resolve()
      throw await aborted(scope)
    })
    const [waiting, half] = [await rawClient(gateway), await rawClient(gateway)]
    half.write('POST /things HTTP/1.1\r\nhost: a\r\n')
    waiting.write(request('GET /things'))
    await begun.promise
    const began = performance.now()
    void close(100)
    await Promise.all([...clients, half].map(({ closed }) => closed))
    const text = await waiting.closed
    expect(statuses(text)).to.deep.equal([503])
    expect(text).to.contain('"draining"')
    await closing
    expect(performance.now() - began).to.be.at.least(90)
  })

  it('lets a protocol say its own last words to a stream that is cut (D5)', async () => {
    const upstream = await scriptedUpstream()
    const chunk = encodeFrame({ data: '{"choices":[{"index":0,"delta":{"content":"x"}}]}' })
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: [chunk], ending: 'hang' })
    const shipped = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'k-0123456789' }],
      models: [{ name: 'm', provider: 'far' }],
    })
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }], max_tokens: 9 }
    const [relayed, translated] = [
      await shipped.post('/v1/chat/completions', body),
      await shipped.post('/v1/messages', body),
    ]
    await upstream.received(2)
    const stopping = shipped.engine.close(50)
    expect(await relayed.text()).to.match(/^data: .*"x".*\n\ndata: \{"error":\{.*"draining".*\}\}\n\n/)
    expect(await translated.text()).to.match(/event: error\ndata: \{"type":"error".*about to stop.*\}\n\n$/)
    await stopping
    await upstream.closed()
    await upstream.close()
  })
})
