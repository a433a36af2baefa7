import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { chatAnswer } from './streams.ts'

/** What a provider does with the second request of a connection, once it has read all of it. */
type Second = (socket: Socket, response: ServerResponse) => unknown

const answers: Readonly<Record<string, object>> = {
  '/v1/audio/transcriptions': { text: 'Bonjour' },
  '/mcp': {
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } },
  },
}

describe('a connection that the provider has closed between two requests', () => {
  let provider: Server
  let gateway: RunningGateway
  let second: Second
  /** The bodies of all requests, and for each connection how many it has carried. */
  let bodies: Buffer[]
  let carried: Map<Socket, number>

  before(async () => {
    provider = createServer((request, response) => {
      const { socket } = request
      const count = (carried.get(socket) ?? 0) + 1
      carried.set(socket, count)
      void request.toArray().then(async (chunks) => {
        bodies.push(Buffer.concat(chunks))
        if (count > 1) return second(socket, response)
        response.setHeader('content-type', 'application/json').setHeader('mcp-session-id', 's-1')
        return response.end(JSON.stringify(answers[request.url ?? ''] ?? chatAnswer))
      })
    }).listen(0, '127.0.0.1')
    await once(provider, 'listening')
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
    gateway = await startGateway({
      providers: [{ name: 'p', type: 'native', base_url: `${url}/v1`, api_key: 'k' }],
      models: [{ name: 'm', provider: 'p' }],
      records: { mcp_servers: [{ name: 'tools', transport: 'http', url: `${url}/mcp` }] },
      server_config: { resilience: { retries: { tries: 1 }, breaker: { enabled: false } } },
    })
  })
  beforeEach(() => {
    bodies = []
    carried = new Map()
    second = (socket) => socket.resetAndDestroy()
  })
  afterEach(() => {
    // The next test begins on a new connection.
    for (const socket of carried.keys()) socket.destroy()
  })
  after(async () => {
    await gateway.close()
    provider.close()
  })

  const ask = async (content = 'hello') => {
    const response = await gateway.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })
    await response.text()
    return response.status
  }

  for (const [how, close] of [
    ['reset', (socket) => socket.resetAndDestroy()],
    ['ended', (socket) => socket.end()],
  ] satisfies [string, Second][])
    it(`costs no try: the request is sent once more on a new connection (${how})`, async () => {
      second = close
      const statuses: number[] = []
      for (let count = 0; count < 6; count++) statuses.push(await ask())
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 200])
      expect(bodies).to.have.length(9)
      const rows = await gateway.rows()
      expect(rows.map(({ attempts }) => attempts)).to.deep.equal(rows.map(() => 1))
    })

  it('also when the body is large, in memory or in a file', async () => {
    const text = 'x'.repeat(3_000_000)
    expect([await ask(text), await ask(text)]).to.deep.equal([200, 200])
    const recording = Buffer.alloc(5_000_000, 'sound')
    const upload = async () => {
      const body = new FormData()
      body.set('model', 'm')
      body.set('file', new Blob([recording]), 'a.mp3')
      const headers = { authorization: `Bearer ${gateway.key}` }
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body })
      return [response.status, await response.text()]
    }
    const answers = [await upload(), await upload()]
    expect(
      answers.map(([status]) => status),
      JSON.stringify(answers),
    ).to.deep.equal([200, 200])
    expect(bodies).to.have.length(6)
    for (const body of bodies.slice(0, 3)) expect(body.includes(text)).to.equal(true)
    for (const body of bodies.slice(3)) expect(body.includes(recording)).to.equal(true)
  })

  for (const [when, close] of [
    ['after a second of silence', (socket) => sleep(1_050).then(() => socket.resetAndDestroy())],
    ['after the first byte of an answer', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-', () => socket.end())],
    [
      'after it said that it goes on',
      (socket, response) => {
        response.writeContinue(() => socket.end())
      },
    ],
  ] satisfies [string, Second][])
    it(`is a failure ${when}: the provider may have worked`, async () => {
      second = close
      expect([await ask(), await ask()]).to.deep.equal([200, 502])
      expect(bodies).to.have.length(2)
    })

  it('is a failure when the connection is new', async () => {
    provider.once('connection', (socket: Socket) => carried.set(socket, 1))
    expect(await ask()).to.equal(502)
    expect(bodies).to.have.length(1)
  })

  it('is never a second call of a tool', async () => {
    const send = (method: string, params: object, headers: Record<string, string> = {}) =>
      fetch(`${gateway.url}/servers/tools/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    const clientInfo = { name: 'c', version: '1' }
    const opened = await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    const session = opened.headers.get('mcp-session-id') ?? ''
    expect(opened.status, await opened.text()).to.equal(200)
    const called = await send('tools/call', { name: 'pay', arguments: {} }, { 'mcp-session-id': session })
    expect([called.status, await called.text()]).to.deep.include(502)
    expect(bodies.map((body) => (JSON.parse(body.toString()) as { method: string }).method)).to.deep.equal([
      'initialize',
      'tools/call',
    ])
  })
})
