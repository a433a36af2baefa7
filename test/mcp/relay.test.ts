import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { bodyOf, events, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig, Rpc } from '../support/mcp.ts'

const call = (id: unknown = 7): Rpc => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'search' } })
const message = (value: unknown) => `event: message\ndata: ${JSON.stringify(value)}\n\n`
const answer = (id: unknown, value: object = {}) => ({ jsonrpc: '2.0', id, result: value })

/** Reads a stream until its text satisfies a condition. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, enough: (text: string) => boolean) {
  let text = ''
  while (!enough(text)) {
    const { done, value } = await reader.read()
    if (done) return text
    text += Buffer.from(value).toString()
  }
  return text
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  return (response.body as ReadableStream<Uint8Array>).getReader()
}

describe('mcp/relay', () => {
  let rig: McpRig
  afterEach(() => rig.close())

  const start = async (record: object = {}, sections: object = {}) => {
    rig = await startMcp(record, { server_config: sections })
    rig.upstream.answer(speaking(({ id }) => result(id)))
    return rig.open()
  }

  it('the body goes as it came; headers of the protocol go along, those of the client do not', async () => {
    const session = await start(
      { headers: { authorization: 'Bearer secret-of-server', 'x-tenant': 'a' } },
      { mcp_security: { forward_headers: ['X-Trace-Id', 'X-Tenant'] } },
    )
    const body =
      '{ "jsonrpc":"2.0","id":1.0, "method":"tools/call",\n"params":{"name":"search","n":12345678901234567890}}'
    await rig.post(body, {
      session,
      headers: {
        'mcp-protocol-version': '2025-06-18',
        cookie: 'a=b',
        'x-api-key': rig.gateway.key,
        'x-trace-id': 't-1',
        'x-tenant': 'b',
        'x-other': 'c',
      },
    })
    const { headers, body: sent } = await rig.upstream.received(2)
    expect(sent.toString()).to.equal(body)
    expect(headers).to.include({
      authorization: 'Bearer secret-of-server',
      'x-tenant': 'a',
      'x-trace-id': 't-1',
      'mcp-protocol-version': '2025-06-18',
      'mcp-session-id': 'upstream-1',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    })
    for (const name of ['cookie', 'x-api-key', 'x-other']) expect(headers).to.not.have.property(name)
    expect(JSON.stringify(headers)).to.not.include(rig.gateway.key)
  })

  it('notifications and answers are passed on and accepted', async () => {
    const session = await start()
    rig.upstream.answer({ status: 202 })
    for (const value of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'server-1', result: { roots: [] } },
      { jsonrpc: '2.0', id: 9, error: { code: -1, message: 'no' } },
    ]) {
      const response = await rig.post(value, { session })
      expect([response.status, await response.text()]).to.deep.equal([202, ''])
      expect(bodyOf(await rig.upstream.received(rig.upstream.requests.length))).to.deep.equal(value)
    }
  })

  it('a whole answer keeps its bytes, status and type', async () => {
    const session = await start()
    const text = '{"jsonrpc": "2.0", "id":7, "result":{"n":1.0,"big":12345678901234567890}}'
    rig.upstream.answer({ headers: { 'content-type': 'application/json; charset=utf-8' }, body: text })
    const response = await rig.post(call(), { session })
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
    expect(await response.text()).to.equal(text)
    rig.upstream.answer({ status: 503, headers: { 'content-type': 'text/plain', 'retry-after': '3' }, body: 'later' })
    const busy = await rig.post(call(), { session })
    expect([busy.status, busy.headers.get('retry-after'), await busy.text()]).to.deep.equal([503, '3', 'later'])
  })

  it('a stream passes event by event, as it is', async () => {
    const session = await start()
    const more = Promise.withResolvers<void>()
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }
    const first = `id: 1\r\nretry: 500\r\ndata:\r\n\r\n: hello\n\n${message(progress)}`
    const asking = message({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} })
    rig.upstream.answer(
      events(
        (async function* () {
          yield first
          yield asking.slice(0, 20)
          yield asking.slice(20)
          await more.promise
          yield message(answer(7))
        })(),
      ),
    )
    const response = await rig.post(call(), { session })
    expect(response.headers.get('content-type')).to.equal('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).to.equal('no')
    const reader = readerOf(response)
    expect(await readUntil(reader, (text) => text.length >= (first + asking).length)).to.equal(first + asking)
    more.resolve()
    expect(await readUntil(reader, () => false)).to.equal(message(answer(7)))
  })

  it('a server that cannot be reached is told with the id of the request', async () => {
    const session = await start()
    const { upstream, gateway } = rig
    await upstream.close()
    rig = { ...rig, close: () => gateway.close() }
    const response = await rig.post(call('x'), { session })
    expect([response.status, await response.json()]).to.deep.equal([
      502,
      { jsonrpc: '2.0', id: 'x', error: { code: -32603, message: 'The MCP server "docs" could not be reached.' } },
    ])
  })

  it('a server that is silent for too long is told', async () => {
    const session = await start({ call_timeout: '200ms' })
    rig.upstream.answer({ silent: true })
    const response = await rig.post(call(), { session })
    expect([response.status, await response.json()]).to.deep.equal([
      504,
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'The MCP server "docs" did not answer in time.' } },
    ])
    rig.upstream.answer(events(['id: 1\ndata:\n\n'], 'hang'))
    const stream = await rig.post(call(), { session })
    expect(stream.status).to.equal(200)
    expect(await stream.text()).to.equal(
      `id: 1\ndata:\n\n${message({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32603, message: 'The MCP server "docs" did not answer in time.' },
      })}`,
    )
  })

  it('a call may take longer than its timeout while the server says something', async () => {
    const session = await start({ call_timeout: '1s' })
    rig.upstream.answer({
      ...events(Array.from({ length: 8 }, () => ': working\n\n').concat(message(answer(7)))),
      every: 300,
    })
    const response = await rig.post(call(), { session })
    expect(await response.text()).to.match(/"id":7,"result":\{\}/)
  })

  it('a server whose connection does not open in time is told', async () => {
    // It takes connections, and never answers a handshake.
    const mute = createServer(() => undefined)
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const { port } = mute.address() as AddressInfo
    rig = await startMcp(
      { url: `https://127.0.0.1:${port}/mcp` },
      { server_config: { mcp_security: { connect_timeout: '200ms' } } },
    )
    const response = await rig.post({ jsonrpc: '2.0', id: 7, method: 'initialize', params: {} })
    expect([response.status, await response.json()]).to.deep.equal([
      502,
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'The MCP server "docs" could not be reached.' } },
    ])
    mute.close()
  })

  it('credentials that the server refuses are a failure of the gateway', async () => {
    const session = await start()
    rig.upstream.answer({ status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="x"' }, body: {} })
    const response = await rig.post(call(), { session })
    expect([response.status, response.headers.get('www-authenticate')]).to.deep.equal([502, null])
    expect(await response.json()).to.deep.equal({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32603, message: 'The MCP server "docs" refused the credentials of the gateway.' },
    })
  })

  it('redirects are not followed', async () => {
    const session = await start()
    rig.upstream.answer({ status: 307, headers: { location: 'http://127.0.0.1:1/' } })
    expect((await rig.post(call(), { session })).status).to.equal(502)
  })

  it('an answer that is too long is refused', async () => {
    const session = await start({}, { mcp_security: { max_answer_bytes: 2_048 } })
    const long = answer(7, { text: 'x'.repeat(4_000) })
    const told = {
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32603, message: 'The MCP server sent a message of more than 2048 bytes.' },
    }
    rig.upstream.answer({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(long) })
    const whole = await rig.post(call(), { session })
    expect([whole.status, await whole.json()]).to.deep.equal([502, told])
    const cut = message(long)
    for (const chunks of [[cut], [cut.slice(0, 100), cut.slice(100)], [`data: ${'x'.repeat(40_000)}`]]) {
      rig.upstream.answer(events([': a\n\n', ...chunks]))
      const stream = await rig.post(call(), { session })
      expect(await stream.text()).to.equal(`: a\n\n${message(told)}`)
    }
    expect((await rig.post(call(), { session })).status).to.equal(200)
  })

  it('a stream that ends without an answer is told, unless the client can resume it', async () => {
    const session = await start()
    const told = (reason: string) => message({ jsonrpc: '2.0', id: 7, error: { code: -32603, message: reason } })
    rig.upstream.answer(events([': a\n\n', 'data: half']))
    expect(await (await rig.post(call(), { session })).text()).to.equal(
      `: a\n\n${told('The MCP server ended its stream without an answer.')}`,
    )
    rig.upstream.answer(events([': a\n\n'], 'close'))
    const broken = await (await rig.post(call(), { session })).text()
    // Whether the comment still arrives is up to the connection.
    expect(broken.replace(/^: a\n\n/, '')).to.equal(
      told('The MCP server "docs" closed the connection without a complete answer.'),
    )
    rig.upstream.answer(events(['id: 1\ndata:\n\n']))
    expect(await (await rig.post(call(), { session })).text()).to.equal('id: 1\ndata:\n\n')
    // Its answer may still come on another stream.
    expect((await rig.post(call(), { session })).status).to.equal(400)
    rig.upstream.answer(events([message(answer(7))]))
    const resumed = await rig.get({ session, headers: { 'last-event-id': '1' } })
    expect(await resumed.text()).to.equal(message(answer(7)))
    expect((await rig.upstream.received(rig.upstream.requests.length)).headers['last-event-id']).to.equal('1')
    rig.upstream.answer(speaking(({ id }) => result(id)))
    expect((await rig.post(call(), { session })).status).to.equal(200)
  })

  it('a request that was cancelled gets no answer', async () => {
    const session = await start()
    const cancelled = Promise.withResolvers<void>()
    rig.upstream.answer(
      events(
        (async function* () {
          yield ': a\n\n'
          await cancelled.promise
        })(),
      ),
      { status: 202 },
    )
    const response = await rig.post(call(), { session })
    const reader = readerOf(response)
    await readUntil(reader, (text) => text !== '')
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await rig.post(cancel, { session })).status).to.equal(202)
    cancelled.resolve()
    expect(await readUntil(reader, () => false)).to.equal('')
  })

  it('a client that leaves closes the request of the server', async () => {
    const session = await start()
    rig.upstream.answer(events([': a\n\n'], 'hang'))
    const abort = new AbortController()
    const response = await rig.post(call(), { session, signal: abort.signal })
    await readUntil(readerOf(response), (text) => text !== '')
    abort.abort()
    await rig.upstream.closed()
  })
})

describe('mcp/streams', () => {
  let rig: McpRig
  afterEach(() => rig.close())

  it('a session has one stream of its own; it ends with the session', async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    const url = `${rig.gateway.url}/servers/docs/mcp`
    const asked = { authorization: `Bearer ${rig.gateway.key}`, accept: 'text/event-stream', 'mcp-session-id': session }
    expect((await fetch(url, { method: 'HEAD', headers: asked })).status).to.equal(405)
    const told = { jsonrpc: '2.0', id: 1, method: 'roots/list' }
    rig.upstream.answer(events([message(told)], 'hang'))
    const stream = await rig.get({ session, headers: { 'mcp-protocol-version': '2025-11-25' } })
    expect([stream.status, stream.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream'])
    const reader = readerOf(stream)
    expect(await readUntil(reader, (text) => text.includes('\n\n'))).to.equal(message(told))
    const { method, headers } = await rig.upstream.received(2)
    expect(method).to.equal('GET')
    expect(headers).to.include({
      accept: 'text/event-stream',
      'mcp-session-id': 'upstream-1',
      'mcp-protocol-version': '2025-11-25',
    })
    const second = await rig.get({ session })
    expect([second.status, await second.json()]).to.deep.equal([
      409,
      { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'The session has an open stream already.' } },
    ])
    expect(rig.upstream.requests.length).to.equal(2)
    rig.upstream.answer({ status: 200 })
    expect((await rig.delete({ session })).status).to.equal(200)
    expect(await readUntil(reader, () => false)).to.equal('')
    await rig.upstream.closed()
  })

  it('of two streams that are asked for at once, one is refused', async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    const gate = Promise.withResolvers<void>()
    rig.upstream.answer(async () => (await gate.promise, events([': a\n\n'], 'hang')))
    const first = rig.get({ session })
    await rig.upstream.received(2)
    expect((await rig.get({ session })).status).to.equal(409)
    gate.resolve()
    const stream = await first
    expect(stream.status).to.equal(200)
    await readUntil(readerOf(stream), (text) => text !== '')
    expect((await rig.get({ session })).status).to.equal(409)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('a stream that the server refuses makes room for another one', async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    rig.upstream.answer({ status: 405 })
    for (let times = 0; times < 2; times++) expect((await rig.get({ session })).status).to.equal(405)
  })

  it('a client that leaves makes room for another stream', async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    rig.upstream.answer(events([': a\n\n'], 'hang'))
    const abort = new AbortController()
    const stream = await rig.get({ session, signal: abort.signal })
    await readUntil(readerOf(stream), (text) => text !== '')
    abort.abort()
    await rig.upstream.closed()
    const next = await rig.get({ session })
    expect(next.status).to.equal(200)
    await next.body?.cancel()
  })

  it('it has no timeout, and a comment keeps it alive', async () => {
    rig = await startMcp(
      { call_timeout: '50ms' },
      { server_config: { keepalive: { sse_interval: '400ms' }, mcp_security: { call_timeout: '50ms' } } },
    )
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    const end = Promise.withResolvers<void>()
    rig.upstream.answer(
      events(
        (async function* () {
          yield 'id: 1\ndata:\n\n'
          await end.promise
          yield message({ jsonrpc: '2.0', method: 'x' })
        })(),
      ),
    )
    const stream = await rig.get({ session })
    const reader = readerOf(stream)
    const kept = await readUntil(reader, (text) => text.split(': keep-alive\n\n').length > 2)
    expect(kept).to.match(/^id: 1\ndata:\n\n(?:: keep-alive\n\n)+$/)
    end.resolve()
    expect(await readUntil(reader, () => false)).to.include(message({ jsonrpc: '2.0', method: 'x' }))
  })

  it('a server without streams says so itself', async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const session = await rig.open()
    rig.upstream.answer({ status: 405, headers: { allow: 'POST' }, body: 'no' })
    const response = await rig.get({ session })
    expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST'])
    rig.upstream.answer({ status: 404 })
    expect((await rig.get({ session })).status).to.equal(404)
    expect((await rig.post(call(), { session })).status).to.equal(404)
    expect(rig.upstream.requests.length).to.equal(3)
  })
})

describe('mcp/reload', () => {
  it('a reload keeps sessions and streams of servers that did not change, and a restart the sessions', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-mcp-'))
    let rig = await startMcp({}, { folder })
    try {
      rig.upstream.answer(speaking(({ id }) => result(id)))
      const [docs, notes] = [await rig.open(), await rig.open({ server: 'notes' })]
      const more = Promise.withResolvers<void>()
      rig.upstream.answer(
        events(
          (async function* () {
            yield ': a\n\n'
            await more.promise
            yield message({ jsonrpc: '2.0', method: 'x' })
          })(),
        ),
      )
      const reader = readerOf(await rig.get({ session: docs }))
      await readUntil(reader, (text) => text !== '')
      const file = join(folder, 'sluice.yaml')
      const text = await readFile(file, 'utf8')
      const changed = text
        .replace('/notes', '/moved')
        .replace(/(url: .*\/docs)/, '$1\n    description: Changed.\n    tools: { deny: [drop] }')
      expect(changed).to.include('/moved').and.to.include('drop')
      await writeFile(file, changed)
      expect(await rig.gateway.engine.live.reload()).to.deep.equal([])
      rig.upstream.answer(speaking(({ id }) => result(id)))
      expect((await rig.post(call(), { session: docs })).status).to.equal(200)
      expect((await rig.post(call(), { session: notes, server: 'notes' })).status).to.equal(404)
      more.resolve()
      expect(await readUntil(reader, () => false)).to.equal(message({ jsonrpc: '2.0', method: 'x' }))

      const { upstream } = rig
      await rig.gateway.close()
      rig = await startMcp({}, { folder, upstream })
      expect((await rig.post(call(), { session: docs })).status).to.equal(200)
      expect((await upstream.received(upstream.requests.length)).headers['mcp-session-id']).to.equal('upstream-1')
    } finally {
      await rig.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
