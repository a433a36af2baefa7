import { once } from 'node:events'
import { createConnection } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { expect } from 'chai'
import type { Flow, Reply, Sink } from '../../../engine/index.ts'
import { connect } from './socket-client.ts'
import { aborted, events, json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `name: talk
summary: Answers messages.
routes: [WS /talk, POST /talk]
stages: [auth, stub]
finally: [stub-outcome]
`

describe('a socket', () => {
  let gateway: StubGateway
  let closed = false
  const start = async (sockets: object = {}, more: object = {}) => {
    closed = false
    gateway = await startStub(pipelines, { limits: { sockets, ...more } })
  }
  const close = async (deadline?: number) => {
    closed = true
    await gateway.engine.close(deadline)
  }
  afterEach(() => (closed ? gateway.remove() : gateway.close()))

  it('closes when it is too old, after the answer under way (H8)', async () => {
    await start({ age: 1_500 })
    const gate = Promise.withResolvers<void>()
    async function* slow() {
      yield '{"n":1}'
      await gate.promise
      yield '{"n":2}'
    }
    gateway.answer(() => events(slow()))
    const client = await connect(gateway, '/talk')
    const idle = await connect(gateway, '/talk')
    client.send('{}')
    await client.next()
    expect(await idle.closed).to.deep.equal({ code: 1001, reason: 'open for too long' })
    expect(JSON.parse(idle.heard[0] ?? '')).to.deep.equal({
      type: 'error',
      status: 400,
      error: {
        message: 'The socket has been open for the longest time allowed; connect again.',
        type: 'invalid_request_error',
        param: null,
        code: 'websocket_connection_limit_reached',
      },
    })
    expect(client.heard).to.deep.equal([])
    gate.resolve()
    expect(await client.closed).to.deep.equal({ code: 1001, reason: 'open for too long' })
    expect(client.heard.map((text) => JSON.parse(text))).to.deep.include({ n: 2 })
    expect(client.heard.length).to.equal(2)
  })

  it('is cut when its client answers no pings, and its answer with it (H9)', async () => {
    await start({ beat: 30 })
    const over = Promise.withResolvers<Error>()
    gateway.answer(({ scope }) => {
      void aborted(scope).then(over.resolve)
      return over.promise.then(() => json({}))
    })
    const dumb = await connect(gateway, '/talk', { autoPong: false })
    const lively = await connect(gateway, '/talk')
    let pings = 0
    dumb.socket.on('ping', () => pings++)
    dumb.send('{}')
    expect((await dumb.closed).code).to.equal(1006)
    expect(await over.promise).to.deep.include({ code: 'client_closed' })
    expect(pings).to.equal(2)
    lively.send('{}')
    expect(await lively.nextJson()).to.deep.equal({})
  })

  it('pauses its source for a client that does not read, then closes (H10)', async () => {
    await start({ stalled: 200, closeTimeout: 50 })
    const megabyte = `"${'x'.repeat(1024 * 1024 - 32)}"`
    let pulled = 0
    const over = Promise.withResolvers<void>()
    async function* endless() {
      try {
        for (;;) {
          pulled++
          yield megabyte
          // Lets the network have its turn.
          await new Promise(setImmediate)
        }
      } finally {
        over.resolve()
      }
    }
    gateway.answer(() => events(endless()))
    const client = await connect(gateway, '/talk')
    client.send('{}')
    await client.next()
    client.socket.pause()
    const [outcome] = await gateway.ended(1)
    expect(outcome).to.include({ result: 'client_closed' })
    await over.promise
    // What is beyond lies in the buffers of the two sockets.
    expect(pulled).to.be.below(24)
    client.socket.resume()
    await client.closed
  })

  it('goes on when a slow client reads again', async () => {
    await start({ unsent: 100_000 })
    const text = JSON.stringify('x'.repeat(50_000))
    const paused = Promise.withResolvers<void>()
    gateway.answer(() => watched(events([...Array.from({ length: 400 }, () => text), '"end"']), paused.resolve))
    const client = await connect(gateway, '/talk')
    client.send('{}')
    await client.next()
    client.socket.pause()
    await paused.promise
    client.socket.resume()
    for (let index = 1; index < 400; index++) expect((await client.next()).length).to.equal(50_002)
    expect(await client.next()).to.equal('"end"')
    expect((await gateway.ended(1))[0]).to.include({ result: 'completed' })
  })

  it('does not negotiate about frames that break the protocol (H2)', async () => {
    await start({ closeTimeout: 50 })
    const frames: [string, Buffer, number][] = [
      ['unmasked', Buffer.from([0x81, 0x02, 0x7b, 0x7d]), 1002],
      ['reserved bit', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
      ['unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
      ['invalid text', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]), 1007],
      ['long ping', Buffer.from([0x89, 0xfe, 0, 0x7e, 0, 0, 0, 0]), 1002],
      [
        'many fragments',
        Buffer.concat([
          Buffer.from([0x01, 0x80, 0, 0, 0, 0]),
          ...Array.from({ length: 20_000 }, () => Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x78])),
        ]),
        1008,
      ],
      ['huge', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]), 1009],
    ]
    for (const [name, bytes, code] of frames) expect(await closeCode(bytes), name).to.equal(code)
  })

  it('closes with 1001 when the gateway stops, after the answer under way (D4)', async () => {
    await start()
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    gateway.answer(async () => {
      begun.resolve()
      await gate.promise
      return json({ done: true })
    })
    const [busy, idle] = [await connect(gateway, '/talk'), await connect(gateway, '/talk')]
    busy.send('{}')
    await begun.promise
    const closing = close()
    expect((await idle.closed).code).to.equal(1001)
    gate.resolve()
    expect(await busy.nextJson()).to.deep.equal({ done: true })
    expect((await busy.closed).code).to.equal(1001)
    expect(busy.heard).to.deep.equal([])
    await closing
  })

  it('is cut when the gateway cannot wait any longer, and says so (D5)', async () => {
    await start()
    const begun = Promise.withResolvers<void>()
    gateway.answer(async ({ scope }) => {
      begun.resolve()
      throw await aborted(scope)
    })
    const client = await connect(gateway, '/talk')
    client.send('{}')
    await begun.promise
    await close(30)
    expect(await client.nextJson()).to.deep.include({ type: 'error', status: 503 })
    expect((await client.closed).code).to.equal(1001)
  })

  it('is gone at the end even when its pipeline does not end', async () => {
    await start({ closeTimeout: 50 })
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    gateway.answer(async () => {
      begun.resolve()
      await gate.promise
      return json({})
    })
    const client = await connect(gateway, '/talk')
    client.send('{}')
    await begun.promise
    const closing = close(30)
    expect((await client.closed).code).to.equal(1006)
    gate.resolve()
    await closing
  })

  it('uses what was reloaded from the next message on (E3)', async () => {
    await start()
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    gateway.answer(async () => {
      begun.resolve()
      await gate.promise
      return json({ done: true })
    })
    const client = await connect(gateway, '/talk')
    client.send('{}')
    await begun.promise
    await writeFile(gateway.pipelineFile, pipelines.replace('WS /talk, ', ''))
    expect(await gateway.engine.live.reload()).to.deep.equal([])
    gate.resolve()
    expect(await client.nextJson()).to.deep.equal({ done: true })
    client.send('{}')
    expect(await client.nextJson()).to.deep.include({ type: 'error', status: 404 })
    expect((await client.closed).code).to.equal(1001)
  })

  /** The code of the close frame with which bytes on an open socket are answered. */
  async function closeCode(bytes: Buffer): Promise<number> {
    const { hostname, port } = new URL(gateway.url)
    const socket = createConnection(Number(port), hostname)
    const closed = once(socket, 'close')
    let received = Buffer.alloc(0)
    const enough = (size: number) =>
      new Promise<void>((resolve) => {
        const look = (chunk: Buffer) => {
          received = Buffer.concat([received, chunk])
          const head = received.indexOf('\r\n\r\n')
          if (head < 0 || received.length < head + 4 + size) return
          socket.off('data', look)
          resolve()
        }
        socket.on('data', look)
      })
    const head = [
      'GET /talk HTTP/1.1',
      'host: x',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      `authorization: Bearer ${gateway.key}`,
    ]
    socket.on('error', () => undefined)
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await enough(0)
    socket.write(bytes)
    await enough(4)
    socket.resume()
    await closed
    const frame = received.subarray(received.indexOf('\r\n\r\n') + 4)
    expect(frame[0]).to.equal(0x88)
    return frame.readUInt16BE(2)
  }
})

/** A streamed reply that tells when its reader pauses it. */
function watched(reply: Reply, onPause: () => void): Reply {
  const { body } = reply
  if (body.kind !== 'stream') return reply
  const open = (sink: Sink): Flow => {
    const flow = body.source.open(sink)
    const pause = () => {
      onPause()
      flow.pause()
    }
    return { pause, resume: () => flow.resume(), cancel: (reason) => flow.cancel(reason) }
  }
  return { ...reply, body: { ...body, source: { open } } }
}
