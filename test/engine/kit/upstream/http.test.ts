import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { collect } from '../../../../engine/kit.ts'
import type { Body, Flow, Sink } from '../../../../engine/index.ts'
import { ExchangeScope } from '../../../../engine/http/scope.ts'
import { BytesBody } from '../../../../engine/stream/body.ts'
import { openHttp } from '../../../../engine/kit/upstream/http.ts'
import type { Asking } from '../../../../engine/kit/upstream/http.ts'
import { testHost } from '../../../support/host.ts'
import type { TestHost } from '../../../support/host.ts'
import { scriptedUpstream } from '../../../support/upstream.ts'
import type { ScriptedUpstream } from '../../../support/upstream.ts'

describe('the client of providers', () => {
  let upstream: ScriptedUpstream
  let host: TestHost
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    host = testHost()
  })
  afterEach(async () => {
    await host.closeKept()
    await upstream.close()
  })

  const asking = (timeouts: Partial<Asking['timeouts']> = {}): Asking => ({
    model: 'm',
    timeouts: { firstByte: 60_000, idle: 0, total: 0, ...timeouts },
    scope: new ExchangeScope(),
  })
  const open = () => {
    const http = openHttp({}, host)
    return { http, target: http.target(new URL(`${upstream.url}/events?a=b`), ['accept', 'text/event-stream']) }
  }

  it('reads a stream that is asked for with GET, which may be silent for ever, and closes it when it is told to', async () => {
    const { promise: more, resolve: go } = Promise.withResolvers<void>()
    async function* chunks() {
      yield 'data: one\n\n'
      await more
      yield 'data: two\n\n'
    }
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks(), ending: 'hang' })
    const { http, target } = open()
    const answer = await http.ask(target, 'GET', asking(), ['last-event-id', '7'])
    expect(answer.status).to.equal(200)
    const [request] = upstream.requests
    expect(request).to.include({ method: 'GET', path: '/events?a=b' })
    expect(request?.headers).to.include({ accept: 'text/event-stream', 'last-event-id': '7' })
    expect(request?.headers).not.to.have.any.keys('content-length', 'content-type', 'transfer-encoding')
    let heard = ''
    const flow = await new Promise<Flow>((resolve, reject) => {
      const opened = answer.body.open({
        data(chunk) {
          heard += Buffer.from(chunk).toString()
          if (heard.endsWith('one\n\n')) go()
          if (heard.endsWith('two\n\n')) resolve(opened)
        },
        end: () => reject(new Error('it ended')),
        fail: reject,
      })
    })
    expect(heard).to.equal('data: one\n\ndata: two\n\n')
    flow.cancel(new Error('enough'))
    await upstream.closed()
  })

  it('hears an answer whose server has closed the connection before it had read the request', async () => {
    let sink: Sink | undefined
    const chunk = Buffer.alloc(64 * 1024)
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge')
        socket.resetAndDestroy()
        // Nobody has read the answer yet.
        sink?.data(chunk)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const target = openHttp({}, host).target(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), [])
    const body: Body = {
      size: 4 * chunk.length,
      open: () => ({
        open(opened) {
          sink = opened
          queueMicrotask(() => opened.data(chunk))
          return { pause: () => undefined, resume: () => undefined, cancel: () => undefined }
        },
      }),
    }
    try {
      const sending = { ...asking(), body, contentType: 'text/plain' }
      const { status, body: answer } = await openHttp({}, host).post(target, sending)
      expect([status, String(await collect(answer, 100))]).to.deep.equal([413, 'large'])
    } finally {
      server.close()
    }
  })

  it('asks on another connection after an answer that came before its request was sent', async () => {
    let connections = 0
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      connections += 1
      const isFirst = connections === 1
      socket.once('data', () => {
        // It reads no more, and keeps the connection.
        if (isFirst) socket.pause()
        socket.write(`HTTP/1.1 ${isFirst ? '413 Too Large' : '200 OK'}\r\ncontent-length: 4\r\n\r\ntold`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const http = openHttp({ max_connections: 1 }, host)
    const target = http.target(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), [])
    const ask = async (bytes: Buffer): Promise<unknown> => {
      const body = new BytesBody(bytes)
      const { status, body: answer } = await http.post(target, { ...asking(), body, contentType: 'text/plain' })
      return [status, String(await collect(answer, 100))]
    }
    try {
      expect(await ask(Buffer.alloc(32 * 1024 * 1024))).to.deep.equal([413, 'told'])
      expect(await ask(Buffer.from('short'))).to.deep.equal([200, 'told'])
      expect(connections).to.equal(2)
    } finally {
      server.close()
    }
  })

  it('asks with DELETE, without a body', async () => {
    upstream.answer({ status: 204 })
    const { http, target } = open()
    expect((await http.ask(target, 'DELETE', asking())).status).to.equal(204)
    expect(upstream.requests[0]).to.include({ method: 'DELETE', path: '/events?a=b' })
    expect(upstream.requests[0]?.body).to.have.length(0)
  })
})
