import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { collect } from '../../../engine/index.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { reading, zeros } from './rig.ts'
import type { Rig } from './rig.ts'

export function fails(rig: Rig): void {
  describe('fails', () => {
    it('as unreachable when the connection is refused (faults A1)', async () => {
      const gone = await scriptedUpstream()
      await gone.close()
      const provider = rig.openAt(gone.url)
      for (let index = 0; index < 20; index++) {
        const error = await rig.failure(rig.send(provider))
        expect(error.code).to.equal('upstream_unreachable')
        expect(error.tags).to.deep.equal(['connect'])
        expect(error.failure.status).to.equal(502)
      }
    })

    it('as unreachable when there is no TLS', async () => {
      const provider = rig.openAt(rig.upstream.url.replace('http:', 'https:'))
      expect((await rig.failure(rig.send(provider))).code).to.equal('upstream_unreachable')
    })

    it('when no connection comes about in time', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
      const provider = rig.openAt(url, { timeouts: { connect: '80ms' } })
      const started = performance.now()
      const error = await rig.failure(rig.send(provider))
      expect(error.code).to.equal('upstream_timeout')
      expect(error.tags).to.deep.equal(['connect', 'timeout'])
      expect(performance.now() - started).to.be.within(79, 330)
      await rig.host.closeKept()
      silent.close()
    })

    it('in time when nothing is answered, and closes the connection (faults A2)', async () => {
      rig.upstream.answer({ silent: true })
      const started = performance.now()
      const error = await rig.failure(rig.send(rig.open(), rig.limited({ firstByte: 120 })))
      expect(performance.now() - started).to.be.within(119, 370)
      expect(error.code).to.equal('upstream_timeout')
      expect(error.tags).to.deep.equal(['timeout'])
      await rig.upstream.closed()
    })

    it('when its own limits say so, whatever the pipeline allows', async () => {
      rig.upstream.answer({ silent: true })
      const error = await rig.failure(rig.send(rig.open({ timeouts: { first_byte: '50ms' } })))
      expect(error.facts['limit']).to.equal('firstByte')
      await rig.upstream.closed()
    })

    it('in time when a stream falls silent (faults A3)', async () => {
      rig.upstream.answer({ frames: ['1', '2', '3'], ending: 'hang' })
      const reader = reading(await rig.send(rig.open(), rig.limited({ idle: 100 })))
      await reader.over
      expect(reader.text).to.equal('data: 1\n\ndata: 2\n\ndata: 3\n\n')
      const error = rig.harmless(reader.error)
      expect(error.code).to.equal('upstream_timeout')
      expect(error.facts['limit']).to.equal('idle')
      await rig.upstream.closed()
    })

    it('in time when a stream drips for ever (faults A20)', async () => {
      rig.upstream.answer({ chunks: zeros(Infinity, 1), every: 20 })
      const started = performance.now()
      const reader = reading(await rig.send(rig.open(), rig.limited({ idle: 500, total: 200 })))
      await reader.over
      expect(performance.now() - started).to.be.within(199, 450)
      expect(rig.harmless(reader.error).facts['limit']).to.equal('total')
      expect(reader.size).to.be.above(1)
      await rig.upstream.closed()
    })

    it('when the connection is reset in the middle, after all that arrived (faults A4)', async () => {
      rig.upstream.answer({ frames: ['1', '2', '3'], ending: 'reset', every: 5 })
      const reader = reading(await rig.send(rig.open()))
      await reader.over
      expect(rig.harmless(reader.error).code).to.equal('upstream_error')
      expect('data: 1\n\ndata: 2\n\ndata: 3\n\n'.startsWith(reader.text)).to.equal(true)
    })

    it('when the connection ends before the body does', async () => {
      for (const head of ['content-length: 99', 'transfer-encoding: chunked']) {
        rig.upstream.answer({ raw: `HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nabcde\r\n`, ending: 'close' })
        const reader = reading(await rig.send(rig.open()))
        await reader.over
        expect(rig.harmless(reader.error).code).to.equal('upstream_error')
      }
    })

    it('when the connection closes before an answer', async () => {
      for (const ending of ['close', 'reset'] as const) {
        rig.upstream.answer({ raw: '', ending })
        const error = await rig.failure(rig.send(rig.open()))
        expect(error.code).to.equal('upstream_error')
        expect(error.tags).to.deep.equal(['connect'])
      }
    })

    it('at a redirect, and asks nobody else (faults A17)', async () => {
      const other = await scriptedUpstream()
      for (const status of [301, 302, 303, 307, 308]) {
        rig.upstream.answer({ status, headers: { location: `${other.url}/stolen` }, body: {} })
        const error = await rig.failure(rig.send(rig.open()))
        expect(error.code).to.equal('upstream_invalid_response')
        expect(error.failure.status).to.equal(502)
      }
      expect(other.requests).to.have.length(0)
      expect(other.sockets).to.equal(0)
      await other.close()
    })

    it('at headers too large or too many (faults A18)', async () => {
      const heads = [`x: ${'y'.repeat(20_000)}\r\n`, 'a: b\r\n'.repeat(10_000), 'a:\r\n'.repeat(300)]
      for (const head of heads) {
        rig.upstream.answer({ raw: `HTTP/1.1 200 OK\r\n${head}content-length: 2\r\n\r\nok` })
        expect((await rig.failure(rig.send(rig.open()))).code).to.equal('upstream_invalid_response')
        await rig.upstream.closed()
      }
    })

    it('at what is not HTTP (faults A18)', async () => {
      rig.upstream.answer({ raw: 'SSH-2.0-x\r\n\r\n' })
      expect((await rig.failure(rig.send(rig.open()))).code).to.equal('upstream_invalid_response')
      rig.upstream.answer({ raw: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n' })
      const error = await rig.failure(rig.send(rig.open()).then((answer) => collect(answer.body, 1_000)))
      expect(error.code).to.equal('upstream_invalid_response')
      await rig.upstream.closed()
    })

    it('at a body that is encoded though none was asked for (faults A11)', async () => {
      for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity']) {
        rig.upstream.answer({ headers: { 'content-encoding': encoding }, body: {} })
        expect((await rig.failure(rig.send(rig.open()))).code).to.equal('upstream_invalid_response')
      }
    })

    it('at a body beyond a reader’s limit, and reads no more of it (faults A10)', async () => {
      const answer = await rig.answered({ chunks: zeros(Infinity) })
      const error = await rig.failure(collect(answer.body, 1024 * 1024))
      expect(error.code).to.equal('upstream_invalid_response')
      await rig.upstream.closed()
      expect(rig.upstream.requests[0]?.sent).to.be.below(64 * 1024 * 1024)
    })

    it('without a word of what the upstream echoes (faults A21)', async () => {
      rig.upstream.answer(({ rawHeaders }) => ({ raw: `HTTP/1.1 ${rawHeaders.join(' ')}\r\n\r\n` }))
      expect((await rig.failure(rig.send(rig.open()))).code).to.equal('upstream_invalid_response')
    })
  })
}
