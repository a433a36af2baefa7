import { expect } from 'chai'
import { sendFrames } from '../../../engine/sockets/frames.ts'
import type { Outlet } from '../../../engine/sockets/frames.ts'
import type { Reply } from '../../../engine/index.ts'

describe('an answer that lasts', () => {
  it('is refused on a socket of messages, where nothing would come after it', async () => {
    const source = {
      open(): never {
        throw new Error('it was opened')
      },
    }
    const reply: Reply = {
      status: 200,
      headers: {},
      body: { kind: 'stream', source, type: 'text/event-stream', lasting: true },
    }
    const sent = sendFrames({ socket: { on: () => undefined } } as unknown as Outlet, reply)
    expect(await sent.catch((error: Error) => error.message)).to.equal('an answer that lasts is for HTTP')
  })
})
