import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { collect } from '../../../engine/index.ts'
import { reading, zeros } from './rig.ts'
import type { Rig } from './rig.ts'

export function takes(rig: Rig): void {
  describe('takes', () => {
    it('any status as an answer, with its headers', async () => {
      const answer = await rig.answered({
        status: 429,
        headers: { 'Retry-After': '7', 'X-Two': ['a', 'b'] },
        body: { error: 'busy' },
      })
      expect(answer.status).to.equal(429)
      expect(answer.headers['retry-after']).to.equal('7')
      expect(answer.headers['x-two']).to.equal('a, b')
      expect((await collect(answer.body, 1_000)).toString()).to.equal('{"error":"busy"}')
    })

    it('a final answer after early hints (faults A19)', async () => {
      const raw = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
      const answer = await rig.answered({ raw })
      expect(answer.status).to.equal(200)
      expect((await collect(answer.body, 1_000)).toString()).to.equal('ok')
    })

    it('a final answer after 100 Continue that nobody asked for, however it arrives (faults A19)', async () => {
      const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
      const final = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
      const whole = interim + 'HTTP/1.1 100 \r\nx: y\r\n\r\n' + final
      const provider = rig.open()
      for (const raw of [whole, ...[1, 9, 20, 24, 26, 40].map((at) => [whole.slice(0, at), whole.slice(at)])]) {
        rig.upstream.answer({ raw, ending: 'close' })
        const answer = await rig.send(provider)
        expect(answer.status).to.equal(200)
        expect((await collect(answer.body, 1_000)).toString()).to.equal('ok')
      }
    })

    it('a body that looks like 100 Continue', async () => {
      const says = 'HTTP/1.1 100 Continue\r\n\r\n'
      const chunks = ['one', says, 'two', says]
      const answer = await rig.answered({ chunks, every: 5 })
      expect((await collect(answer.body, 1_000)).toString()).to.equal(chunks.join(''))
    })

    it('every byte in order, though the body is opened late', async () => {
      const chunks = Array.from({ length: 200 }, (_, index) => `${index};`.padEnd(2_000, '.'))
      const answer = await rig.answered({ chunks })
      await rig.upstream.closed()
      expect((await collect(answer.body, 1_000_000)).toString()).to.equal(chunks.join(''))
    })

    it('little of a body that nobody opens, and lets go of it at the idle limit', async () => {
      rig.upstream.answer({ chunks: zeros(Infinity) }, { body: {} })
      const provider = rig.open()
      await rig.send(provider, rig.limited({ idle: 150 }))
      for (let index = 0; index < 30; index++) await collect((await rig.send(provider)).body, 1_000)
      await rig.upstream.closed()
      expect(rig.upstream.requests[0]?.sent).to.be.below(32 * 1024 * 1024)
    })

    it('nothing while its reader has paused (faults B3)', async () => {
      const total = 64 * 1024 * 1024
      rig.upstream.answer({ chunks: zeros(total) }, { body: {} })
      const provider = rig.open()
      const reader = reading(await rig.send(provider))
      await reader.some
      reader.flow.pause()
      const { size } = reader
      // Meanwhile the world goes on: without the pause these exchanges leave time for megabytes.
      for (let index = 0; index < 30; index++) await collect((await rig.send(provider)).body, 1_000)
      const [big] = rig.upstream.requests
      expect(reader.size - size).to.be.at.most(64 * 1024)
      expect(big?.blocked).to.equal(true)
      expect(big?.sent).to.be.below(total / 2)
      reader.flow.resume()
      await reader.over
      expect(reader.size).to.equal(total)
      expect(reader.error).to.equal(undefined)
    })

    it('no offence at a pause that is longer than the idle limit', async () => {
      rig.upstream.answer({ chunks: zeros(4 * 1024 * 1024) })
      const reader = reading(await rig.send(rig.open(), rig.limited({ idle: 60 })))
      await reader.some
      reader.flow.pause()
      // Three times the limit: only time itself can show that it does not count.
      await sleep(180)
      expect(reader.error).to.equal(undefined)
      reader.flow.resume()
      await reader.over
      expect(reader.size).to.equal(4 * 1024 * 1024)
    })
  })
}
