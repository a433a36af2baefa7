import { expect } from 'chai'
import { GatewayError, collect } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { reading, zeros } from './rig.ts'
import type { Rig } from './rig.ts'

export function closes(rig: Rig): void {
  describe('closes the connection at once', () => {
    const reason = new GatewayError('client_closed')

    it('when it is aborted before the answer (faults B1)', async () => {
      rig.upstream.answer({ silent: true })
      const scope = new ExchangeScope()
      const sending = rig.send(rig.open(), rig.call({ scope })).catch((error: unknown) => error)
      await rig.upstream.received()
      const aborted = performance.now()
      scope.abort(reason)
      expect(await sending).to.equal(reason)
      await rig.upstream.closed()
      expect(performance.now() - aborted).to.be.below(100)
    })

    it('when it is aborted in the middle (faults B1)', async () => {
      rig.upstream.answer({ frames: ['1'], ending: 'hang' })
      const scope = new ExchangeScope()
      const reader = reading(await rig.send(rig.open(), rig.call({ scope })))
      await reader.some
      const aborted = performance.now()
      scope.abort(reason)
      await reader.over
      await rig.upstream.closed()
      expect(performance.now() - aborted).to.be.below(100)
      expect(reader.error).to.equal(reason)
      expect(rig.upstream.sockets).to.equal(0)
    })

    it('when its reader cancels, and says no more', async () => {
      rig.upstream.answer({ chunks: zeros(Infinity) })
      const reader = reading(await rig.send(rig.open()))
      await reader.some
      reader.flow.cancel(new Error('enough'))
      const { size } = reader
      await rig.upstream.closed()
      expect(reader.size).to.equal(size)
      expect(reader.error).to.equal(undefined)
    })

    it('or sends nothing when it was aborted before', async () => {
      const scope = new ExchangeScope()
      scope.abort(reason)
      expect(await rig.send(rig.open(), rig.call({ scope })).catch((error: unknown) => error)).to.equal(reason)
      expect(rig.upstream.requests).to.have.length(0)
      expect(rig.upstream.sockets).to.equal(0)
    })

    it('and forgets the exchange once it is over', async () => {
      rig.upstream.answer({ body: {} })
      let listeners = 0
      class CountingScope extends ExchangeScope {
        override onAbort(listener: (reason: Error) => void) {
          listeners++
          const forget = super.onAbort(listener)
          return () => {
            listeners--
            forget()
          }
        }
      }
      const answer = await rig.send(rig.open(), rig.call({ scope: new CountingScope() }))
      expect(listeners).to.be.within(0, 1)
      await collect(answer.body, 1_000)
      expect(listeners).to.equal(0)
    })
  })
}
