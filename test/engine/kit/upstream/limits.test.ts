import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { Limits } from '../../../../engine/kit/upstream/limits.ts'

describe('the limits of an exchange', () => {
  it('are not passed by what has arrived while the process stood still', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [writer] = (await once(server, 'connection')) as [Socket]
    await once(reader, 'connect')
    const told: string[] = []
    const limits = new Limits({ connect: 0, firstByte: 0, idle: 20, total: 0 }, (limit) => told.push(limit))
    limits.enter('idle')
    const heard = once(reader, 'data').then(() => {
      limits.heard()
      told.push('heard')
    })
    writer.write('x')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
    await heard
    expect(told).to.deep.equal(['heard'])
    limits.stop()
    reader.destroy()
    server.close()
  })
})
