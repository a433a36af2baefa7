import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { Hold, byteBudgetOf } from '../../../engine/kit.ts'
import { readBody } from '../../../engine/http/body.ts'
import { exchange, rawClient, request, statuses } from './raw-client.ts'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `endpoints:
  - name: things
    summary: Reads bodies.
    public: true
    routes: [POST /things, GET /things]
    stages: [stub]
    finally: [stub-outcome]
  - name: guarded
    summary: Asks who is there.
    routes: [POST /guarded]
    stages: [auth, stub]
    finally: [stub-outcome]
`
const limit = 100_000

describe('the body of a request', () => {
  let gateway: StubGateway
  const asked: string[] = []
  const start = async (limits: object = {}, times: object = {}) => {
    gateway = await startStub(pipelines, { limits, client_timeouts: times })
    asked.length = 0
    gateway.answer(async ({ ingress }) => {
      const body = ingress.method === 'GET' ? '' : (await ingress.body(limit)).bytes.toString()
      asked.push(body)
      return json({ bytes: body.length })
    })
  }
  afterEach(() => gateway.close())

  it('may have its limit and no byte more (B8)', async () => {
    await start()
    const post = async (size: number) =>
      (await fetch(`${gateway.url}/things`, { method: 'POST', body: 'x'.repeat(size) })).status
    expect(await post(limit)).to.equal(200)
    expect(await post(limit + 1)).to.equal(413)
  })

  it('is refused before it comes when it says to be too long (B8)', async () => {
    await start({ linger: 50 })
    const text = await exchange(gateway, request('POST /things', [`content-length: ${limit + 1}`]))
    expect(statuses(text)).to.deep.equal([413])
    expect(text)
      .to.match(/connection: close/)
      .and.contain(`larger than ${limit} bytes`)
  })

  it('is refused as soon as its chunks are too many (B8)', async () => {
    await start({ linger: 50 })
    const client = await rawClient(gateway)
    client.write(request('POST /things', ['transfer-encoding: chunked']))
    for (let index = 0; index < 3; index++) client.write(`${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`)
    expect(statuses(await client.closed)).to.deep.equal([413])
    expect(asked).to.deep.equal([])
  })

  it('that is too long is read to its end, so that its sender hears why', async () => {
    await start({ linger: 5_000 })
    const sent = 8 * 1024 * 1024
    const response = await fetch(`${gateway.url}/things`, { method: 'POST', body: Buffer.alloc(sent) })
    expect(response.status).to.equal(413)
    const text = await exchange(gateway, request('POST /guarded', ['x-api-key: wrong'], 'x'.repeat(sent)))
    expect(statuses(text)).to.deep.equal([401])
  })

  it('is not waited for without end, nor without limit', async () => {
    await start({ linger: 60_000, lingerBytes: 1_000 })
    const many = await exchange(
      gateway,
      request('POST /guarded', [`content-length: ${10 * limit}`]) + 'x'.repeat(2_000),
    )
    expect(statuses(many)).to.deep.equal([401])
  })

  it('that is shorter than it says gets 400 when its client ends (B8)', async () => {
    await start()
    const client = await rawClient(gateway)
    client.write(request('POST /things', ['content-length: 10'], '{}'))
    client.socket.end()
    expect(statuses(await client.closed)).to.deep.equal([400])
    expect(asked).to.deep.equal([])
  })

  it('that is longer than it says does not become another request (B7)', async () => {
    await start()
    const text = await exchange(gateway, request('POST /things', ['content-length: 2'], '{}and so on\r\n\r\n'))
    expect(statuses(text)).to.satisfy((found: number[]) => found.length === 0 || found.join() === '200,400')
  })

  it('that nobody read does not become another request (B7)', async () => {
    await start({ linger: 50 })
    const inner = request('POST /things', [], 'smuggled')
    const client = await rawClient(gateway)
    client.write(request('POST /guarded', [], inner) + request('POST /things', [], 'next'))
    expect(statuses(await client.closed)[0]).to.equal(401)
    expect(asked).not.to.include('smuggled')
  })

  it('leaves the connection for the next request (B7)', async () => {
    await start()
    const client = await rawClient(gateway)
    client.write(
      request('POST /things', [], 'one') +
        request('POST /things', [], 'four') +
        request('GET /nowhere') +
        request('GET /things', ['connection: close']),
    )
    const text = await client.closed
    expect(statuses(text)).to.deep.equal([200, 200, 404, 200])
    expect(asked).to.have.members(['one', 'four', ''])
    expect(text.indexOf('{"bytes":3}')).to.be.lessThan(text.indexOf('{"bytes":4}'))
  })

  it('must not be compressed (B9)', async () => {
    await start()
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'GZIP']) {
      const headers = { 'content-encoding': encoding }
      const response = await fetch(`${gateway.url}/things`, {
        method: 'POST',
        headers,
        body: gzipSync('x'.repeat(1000)),
      })
      expect(response.status, encoding).to.equal(415)
      expect(await response.text()).to.contain('unsupported_media_type')
    }
    const plain = await fetch(`${gateway.url}/things`, {
      method: 'POST',
      headers: { 'content-encoding': 'Identity' },
      body: 'x',
    })
    expect(plain.status).to.equal(200)
    expect(asked).to.deep.equal(['x'])
  })

  it('must arrive in time, as must headers (B5)', async () => {
    await start({ look: 20 }, { headers: '1s', body: '1200ms' })
    const began = performance.now()
    const begun = async (text: string) => {
      const client = await rawClient(gateway)
      client.write(text)
      return client
    }
    const slow = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        begun(
          index % 2 === 0
            ? 'POST /things HTTP/1.1\r\nhost: a\r\nx'
            : request('POST /things', ['content-length: 10'], '{'),
        ),
      ),
    )
    const chunked = await begun(`${request('POST /things', ['transfer-encoding: chunked'])}1\r\nx\r\n`)
    for (let index = 0; index < 10; index++) {
      expect((await fetch(`${gateway.url}/things`)).status).to.equal(200)
    }
    for (const client of [...slow, chunked]) expect(statuses(await client.closed)).to.deep.equal([408])
    expect(performance.now() - began).to.be.at.least(990)
  })

  it('may have less time than headers usually have', async () => {
    await start({}, { body: '20s' })
    expect((await fetch(`${gateway.url}/things`, { method: 'POST', body: 'x' })).status).to.equal(200)
  })

  it('must not fall silent while it is read', async () => {
    await start({}, { body_silence: '50ms' })
    const client = await rawClient(gateway)
    client.write(request('POST /things', ['content-length: 10'], '{'))
    const text = await client.until(/0.05 seconds/)
    expect(statuses(text)).to.deep.equal([408])
    expect(text)
      .to.match(/connection: close/)
      .and.contain('"code":"request_timeout"')
    client.socket.destroy()
  })

  it('takes its own time and none of the stage that reads it', async () => {
    const timed = pipelines.replaceAll('stages: [stub]', 'stages: [{ stub: null, timeout: 20ms }]')
    gateway = await startStub(timed)
    gateway.answer(async ({ ingress }) =>
      ingress.method === 'GET'
        ? new Promise<never>(() => undefined)
        : json((await ingress.body(limit)).bytes.toString()),
    )
    const client = await rawClient(gateway)
    client.write(request('POST /things', ['content-length: 2', 'connection: close'], 'o'))
    const late = await fetch(`${gateway.url}/things`)
    expect(late.status).to.equal(504)
    expect(((await late.json()) as { error: object }).error).to.include({ code: 'stage_timeout', type: 'server_error' })
    client.write('k')
    const text = await client.closed
    expect(statuses(text)).to.deep.equal([200])
    expect(text).to.contain('"ok"')
    const [first] = await gateway.ended(1)
    expect(first?.error?.at).to.match(/stub\.yaml:6:\d+ \(stub\)$/)
  })

  it('counts for all requests together (B10)', async () => {
    const size = 50_000
    await start({ bodies: 6 * size })
    for (let round = 0; round < 3; round++) {
      const clients = await Promise.all(Array.from({ length: 40 }, () => rawClient(gateway)))
      // Each sends all but its last byte, so that all are in hand at the same time.
      const whole = request('POST /things', ['connection: close'], 'x'.repeat(size))
      for (const client of clients) client.write(whole.slice(0, -1))
      const refused = clients.map((client) => client.until(/ 503 /))
      await some(refused, 34)
      for (const client of clients) client.socket.end('x')
      const texts = await Promise.all(clients.map(({ closed }) => closed))
      const found = texts.flatMap(statuses)
      const served = found.filter((status) => status === 200).length
      expect(found.length).to.equal(40)
      expect(served).to.be.within(1, 6)
      expect(found.filter((status) => status === 503).length).to.equal(40 - served)
      for (const text of texts) if (text.includes(' 503 ')) expect(text).to.contain('retry-after: 1')
    }
    expect((await fetch(`${gateway.url}/things`, { method: 'POST', body: 'x'.repeat(size) })).status).to.equal(200)
  })

  it('that its client left before it was read is none', async () => {
    await start()
    const server = createServer((incoming, response) => {
      incoming.on('close', () => {
        readBody(incoming, { limit: 10, hold: new Hold(byteBudgetOf(10)), silence: 60_000 }).catch((error: unknown) => {
          server.emit('refused', error)
          response.destroy()
        })
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const refused = once(server, 'refused')
    const client = await rawClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    client.write(request('POST /', ['content-length: 5'], 'x'))
    client.socket.end()
    expect((await refused)[0]).to.include({ code: 'client_closed' })
    server.close()
  })
})

/** Resolves once `count` of the promises have. */
function some(promises: readonly Promise<unknown>[], count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    for (const promise of promises)
      void promise.then(() => {
        if (--left === 0) resolve()
      })
  })
}
