import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from './streams.ts'

describe('the settings of connections', function () {
  this.timeout(300_000)
  let gateway: RunningGateway
  let agent: Agent
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
    })
  })
  beforeEach(() => (agent = new Agent({ keepAlive: true })))
  afterEach(() => agent.destroy())
  after(() => gateway.close())

  const set = (patch: Record<string, string>) =>
    gateway.engine.live.changeAll(() => [{ kind: 'change', type: 'section', name: 'keepalive', patch }])

  /** A request on a connection that stays open. */
  const ask = async (): Promise<{ headers: Record<string, unknown>; socket: Socket }> => {
    const request = get(`${gateway.url}/api/health/live`, { agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return { headers: response.headers, socket: request.socket as Socket }
  }

  it('close idle connections of clients after connection_idle, from the next request on', async () => {
    expect((await ask()).headers['keep-alive']).to.equal('timeout=65')
    await set({ connection_idle: '1s' })
    const { headers, socket } = await ask()
    expect(headers['keep-alive']).to.equal('timeout=1')
    if (!socket.destroyed) await once(socket, 'close')
  })

  it('probe silent connections of clients after tcp_delay', async function () {
    if (process.platform !== 'linux') this.skip()
    await set({ tcp_delay: '1h', connection_idle: '65s' })
    const { socket } = await ask()
    // Kind and time of the running timer (proc_net_tcp); kind 2 is the keep-alive, in hundredths of a second.
    const { kind, hundredths } = timerOf(Number(new URL(gateway.url).port), socket.localPort as number)
    expect(kind).to.equal('02')
    expect(hundredths).to.be.within(3_000 * 100, 3_600 * 100)
  })

  it('ping sockets each websocket_ping', async () => {
    const headers = { authorization: `Bearer ${gateway.key}` }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers })
    await once(socket, 'open')
    await set({ websocket_ping: '1s' })
    await once(socket, 'ping')
    await once(socket, 'ping')
    socket.terminate()
  })

  it('close idle connections to providers after upstream_idle', async () => {
    let open = 0
    const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(chatAnswer))
    })
    server.on('connection', (socket) => {
      open++
      socket.on('close', () => open--)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const own = await startGateway({
      providers: [{ name: 'p', type: 'compatible', base_url: `http://127.0.0.1:${port}` }],
      models: [{ name: 'm', provider: 'p' }],
      server_config: { keepalive: { upstream_idle: '1s' } },
    })
    const answer = await own.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] })
    expect(answer.status, await answer.text()).to.equal(200)
    await until(() => open === 0)
    await own.close()
    server.close()
  })
})

/** The timer of the server's end of a connection. */
function timerOf(server: number, client: number): { readonly kind: string; readonly hundredths: number } {
  const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  const fields = lines.map((line) => line.trim().split(/\s+/))
  const own = fields.find(([, local, remote]) => local?.endsWith(hex(server)) && remote?.endsWith(hex(client)))
  const [kind = '', time = ''] = own?.[5]?.split(':') ?? []
  return { kind, hundredths: Number.parseInt(time, 16) }
}
