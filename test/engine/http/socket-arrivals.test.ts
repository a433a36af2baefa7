import type { Socket } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import { connect, frame } from './socket-client.ts'
import type { SocketClient } from './socket-client.ts'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `name: talk
summary: Answers messages.
routes: [WS /talk, POST /talk]
stages: [auth, stub]
`

describe('what arrives on a socket', () => {
  let gateway: StubGateway
  const start = async (sockets: object, bodies: number) => {
    gateway = await startStub(pipelines, { limits: { sockets, bodies } })
    gateway.answer(async ({ ingress }) => json({ size: (await ingress.body(2 ** 26)).size }))
  }
  afterEach(() => gateway.close())

  /** Begins a message and does not end it. */
  const begin = ({ socket }: SocketClient, size: number) => socket.send('x'.repeat(size), { fin: false })
  /** Waits until a body of `size` bytes finds room, or none. */
  const room = async (size: number, found: boolean) => {
    for (;;) {
      const answer = await gateway.post('/talk', 'x'.repeat(size))
      await answer.text()
      if ((answer.status === 200) === found) return
    }
  }

  it('has to be whole in time, and gives back what it took', async () => {
    await start({ arrival: 2_000 }, 100_000)
    const client = await connect(gateway, '/talk')
    begin(client, 90_000)
    await room(50_000, false)
    expect(await client.closed).to.deep.equal({ code: 1013, reason: 'too slow to send' })
    await room(90_000, true)
  })

  it('closes nobody else when there is too much of it', async () => {
    await start({ beat: 30 }, 100_000)
    const [idle, greedy] = [await connect(gateway, '/talk'), await connect(gateway, '/talk')]
    begin(greedy, 110_000)
    await room(10_000, false)
    for (let beat = 0; beat < 4; beat++) await once(idle.socket, 'ping')
    idle.send('x'.repeat(10_000))
    expect(await idle.nextJson()).to.deep.equal({ size: 10_000 })
    greedy.socket.send('x'.repeat(50_000), { fin: true })
    expect((await greedy.closed).code).to.equal(1013)
  })

  it('lets the answer under way be finished when there is too much of it', async () => {
    await start({ beat: 30 }, 100_000)
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    gateway.answer(async ({ ingress }) => {
      if (ingress.transport === 'ws') {
        begun.resolve()
        await gate.promise
      }
      return json({ size: (await ingress.body(2 ** 26)).size })
    })
    const [other, client] = [await connect(gateway, '/talk'), await connect(gateway, '/talk')]
    client.send('{}')
    await begun.promise
    begin(client, 110_000)
    await room(10_000, false)
    client.socket.send('x'.repeat(50_000), { fin: true })
    // Longer than somebody who says nothing would be waited for.
    for (let beat = 0; beat < 5; beat++) await once(other.socket, 'ping')
    gate.resolve()
    expect(await client.nextJson()).to.deep.equal({ size: 2 })
    expect(await client.closed).to.deep.equal({ code: 1013, reason: 'the gateway is overloaded' })
    await room(90_000, true)
  })

  it('shows that its client is there, in the middle of a frame, too', async () => {
    await start({ beat: 30 }, 100_000)
    const client = await connect(gateway, '/talk', { autoPong: false })
    const { _socket: stream } = client.socket as unknown as { _socket: Socket }
    const bytes = frame(0x81, 'x'.repeat(1_000))
    let at = 0
    const slowly = () => stream.write(bytes.subarray(at, (at += 100)))
    slowly()
    client.socket.on('ping', slowly)
    expect(await client.nextJson()).to.deep.equal({ size: 1_000 })
  })
})
