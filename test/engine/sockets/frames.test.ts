import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import type { Reply, Sink } from '../../../engine/index.ts'
import { sendFrames } from '../../../engine/sockets/frames.ts'
import type { Outlet } from '../../../engine/sockets/frames.ts'
import { json } from '../http/stub.ts'

/** A socket that sends nothing until it is told to. */
class SlowSocket extends EventEmitter {
  readonly OPEN = WebSocket.OPEN
  readyState: number = WebSocket.OPEN
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly terminate = () => undefined
  readonly #waiting: (() => void)[] = []
  readonly closed = Promise.withResolvers<number>()

  send(message: string, handedOver: () => void): void {
    this.sent.push(message)
    this.bufferedAmount += message.length
    this.#waiting.push(() => {
      this.bufferedAmount -= message.length
      handedOver()
    })
  }

  handOver(): void {
    this.#waiting.shift()?.()
  }

  close(code: number): void {
    this.closed.resolve(code)
  }
}

/** A streamed reply, and where its bytes are put in. */
function streamed() {
  const { promise, resolve } = Promise.withResolvers<Sink>()
  const source = {
    open(sink: Sink) {
      resolve(sink)
      return { pause: () => undefined, resume: () => undefined, cancel: () => undefined }
    },
  }
  const reply: Reply = { status: 200, headers: {}, body: { kind: 'stream', source, type: 'text/event-stream' } }
  return { reply, sink: promise }
}

describe('the messages of an answer', () => {
  const outlet = (socket: SlowSocket, event: (data: string) => string): Outlet => ({
    socket: socket as unknown as WebSocket,
    limits: { unsent: 10, stalled: 30, closeTimeout: 10, trailing: 1000 },
    writer: {
      event: ({ data }) => event(data),
      whole: (_, value) => JSON.stringify(value),
      end: () => undefined,
      ended: false,
    },
    room: { limit: 1_000_000 },
    broken: (error) => json({ broken: error.message }, 500),
  })

  it('have to be read in time to the last, though the stream has ended', async () => {
    const socket = new SlowSocket()
    const { reply, sink } = streamed()
    void sendFrames(
      outlet(socket, (data) => data),
      reply,
    )
    const { data, end } = await sink.then((one) => ({ data: one.data.bind(one), end: one.end.bind(one) }))
    data(Buffer.from(`data: ${'x'.repeat(20)}\n\ndata: y\n\n`))
    end()
    socket.handOver()
    expect(socket.bufferedAmount).to.equal(1)
    expect(await socket.closed.promise).to.equal(1013)
  })

  it('say when the last one cannot be written', async () => {
    const socket = new SlowSocket()
    const { reply, sink } = streamed()
    const wrong = new Error('it is wrong')
    const sent = sendFrames(
      outlet(socket, () => {
        throw wrong
      }),
      reply,
    )
    const source = await sink
    source.data(Buffer.from('data: x\n'))
    source.end()
    expect(socket.sent).to.deep.equal(['{"broken":"it is wrong"}'])
    socket.handOver()
    expect((await sent).broken).to.equal(wrong)
  })
})
