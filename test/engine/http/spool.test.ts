import { once } from 'node:events'
import { expect } from 'chai'
import type { Body, BodyReader } from '../../../engine/index.ts'
import { rawClient, request } from './raw-client.ts'
import { json, startStub } from './stub.ts'
import type { StubGateway } from './stub.ts'

const pipelines = `endpoints:
  - name: things
    summary: Reads bodies.
    public: true
    routes: [POST /things]
    stages: [stub]
    finally: [stub-outcome]
`
const megabyte = 1024 * 1024

/** Keeps nothing but what it says. */
const reader = (memory: number, kept = 0): BodyReader => ({ memory, kept, push: () => undefined })

/** How many bytes there are when it is read. */
function lengthOf(body: Body): Promise<number> {
  return new Promise((resolve, reject) => {
    let length = 0
    body.open().open({ data: (chunk) => (length += chunk.length), end: () => resolve(length), fail: reject })
  })
}

describe('the body of a request that somebody reads along', () => {
  let gateway: StubGateway
  afterEach(() => gateway.close())
  const post = async (size: number) => {
    const response = await fetch(`${gateway.url}/things`, { method: 'POST', body: Buffer.alloc(size) })
    return [response.status, await response.json()] as const
  }

  it('is held as long as its reader wants, however much that is, and else goes to a file', async () => {
    gateway = await startStub(pipelines)
    gateway.answer(async ({ ingress }) => {
      const body = await ingress.body(16 * megabyte, reader(4 * megabyte))
      return json([body.bytes ? 'held' : 'on disk', await lengthOf(body)])
    })
    expect(await post(3 * megabyte)).to.deep.equal([200, ['held', 3 * megabyte]])
    expect(await post(6 * megabyte)).to.deep.equal([200, ['on disk', 6 * megabyte]])
  })

  it('can be read until its exchange is over', async () => {
    gateway = await startStub(pipelines)
    let body: Body | undefined
    gateway.answer(async ({ ingress }) => {
      body = await ingress.body(megabyte, reader(1000))
      return json('read')
    })
    const found: (number | string)[] = []
    gateway.atEnd(async () => {
      for (let round = 0; round < 2; round++) {
        // The connection may be closed before, or not.
        await new Promise(setImmediate)
        found.push(await lengthOf(body as Body).catch((error: Error) => error.message))
      }
    })
    expect(await post(300_000)).to.deep.equal([200, 'read'])
    await gateway.ended(1)
    expect(found).to.deep.equal([300_000, 300_000])
  })

  it('gives back what it took when its client leaves in the middle', async function () {
    this.timeout(300_000)
    const kept = 100_000
    gateway = await startStub(pipelines, { limits: { bodies: 2 * megabyte } })
    gateway.answer(async ({ ingress }) => json((await ingress.body(8 * megabyte, reader(1000, kept))).size))
    for (let round = 0; round < 60; round++) {
      const client = await rawClient(gateway)
      client.write(request('POST /things', [`content-length: ${8 * megabyte}`], ''))
      if (!client.socket.write(Buffer.alloc(megabyte))) await once(client.socket, 'drain')
      client.socket.destroy()
    }
    await gateway.ended(60)
    expect(await post(megabyte)).to.deep.equal([200, megabyte])
  })
})
