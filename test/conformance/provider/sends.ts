import { expect } from 'chai'
import { collect } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { key } from './rig.ts'
import type { Rig } from './rig.ts'

export function sends(rig: Rig): void {
  describe('sends', () => {
    it('the bytes as they are, with its key and without an encoding of the answer', async () => {
      rig.upstream.answer({ body: {} })
      await collect((await rig.send(rig.open())).body, 1_000)
      const [request] = rig.upstream.requests
      expect(request?.method).to.equal('POST')
      expect(request?.body.toString()).to.equal('{"model":"m","text":"é"}')
      expect(request?.headers['content-type']).to.equal('application/json')
      expect(request?.headers['content-length']).to.equal('25')
      expect(request?.headers['accept-encoding']).to.equal('identity')
      expect(request?.headers.host).to.equal(new URL(rig.upstream.url).host)
      expect(request?.rawHeaders.filter((value) => value.includes(key))).to.have.length(1)
    })

    it('no header of the client that it does not list (faults J3)', async () => {
      rig.upstream.answer({ body: {} })
      const clientHeaders = {
        authorization: 'Bearer client',
        'x-api-key': 'client',
        cookie: 'a=client',
        host: 'client.example',
        connection: 'x-api-key',
        'x-forwarded-for': 'client',
        'accept-encoding': 'gzip',
        'user-agent': 'client',
        'proxy-authorization': 'client',
        'x-custom': 'client',
      }
      await rig.send(rig.open(), rig.call({ clientHeaders }))
      expect(rig.upstream.requests[0]?.rawHeaders.filter((value) => value.includes('client'))).to.deep.equal([])
      expect(rig.upstream.requests[0]?.headers.host).to.equal(new URL(rig.upstream.url).host)
    })

    it('to an address that no model name can change (faults I6)', async () => {
      rig.upstream.answer({ body: {} })
      const provider = rig.open()
      for (const model of ['m', '../../admin?a#b', 'x@evil.example', '__proto__', 'a\r\nb: c', '\\\\host', '%2e%2e']) {
        await collect((await rig.send(provider, rig.call({ model }))).body, 1_000)
      }
      expect(new Set(rig.upstream.requests.map(({ path }) => path)).size).to.equal(1)
      expect(rig.upstream.requests).to.have.length(7)
    })

    it('over connections that are used again, even after a reload', async () => {
      rig.upstream.answer({ body: { ok: true } })
      for (let reload = 0; reload < 3; reload++) {
        const provider = rig.open()
        for (let index = 0; index < 3; index++) await collect((await rig.send(provider)).body, 1_000)
      }
      expect(rig.upstream.requests).to.have.length(9)
      // A connection is free again one turn of the event loop after its answer ended; a quick next request takes a second.
      expect(rig.upstream.sockets).to.be.within(1, 2)
    })

    it('no more at a time than max_connections allows', async () => {
      rig.upstream.answer({ frames: ['1'], ending: 'hang' }, { body: { second: true } })
      const provider = rig.open({ max_connections: 1 })
      const scope = new ExchangeScope()
      await rig.send(provider, rig.call({ scope }))
      const second = rig.send(provider)
      expect(rig.upstream.requests).to.have.length(1)
      scope.abort(new Error('enough'))
      expect((await collect((await second).body, 1_000)).toString()).to.equal('{"second":true}')
    })

    it('nothing that was aborted while it waited for a connection', async () => {
      const gate = Promise.withResolvers<void>()
      rig.upstream.answer(async () => {
        await gate.promise
        return { body: { first: true } }
      })
      const provider = rig.open({ max_connections: 1 })
      const first = rig.send(provider)
      const scope = new ExchangeScope()
      const reason = new Error('enough')
      const second = rig.send(provider, rig.call({ scope })).catch((error: unknown) => error)
      scope.abort(reason)
      expect(await second).to.equal(reason)
      gate.resolve()
      expect((await collect((await first).body, 1_000)).toString()).to.equal('{"first":true}')
      await collect((await rig.send(provider)).body, 1_000)
      expect(rig.upstream.requests).to.have.length(2)
      expect(rig.upstream.sockets).to.equal(1)
    })

    it('nothing to an address that a moved operation left', async () => {
      const other = await scriptedUpstream()
      other.answer({ body: {} })
      const moved = Object.fromEntries(rig.movable.map((word) => [word, `${other.url}/else/where?a=b`]))
      await rig.send(rig.open({ endpoint_base_urls: moved }))
      expect(rig.upstream.requests).to.have.length(0)
      expect(other.requests[0]?.path).to.equal('/else/where?a=b')
      await other.close()
    })
  })
}
