import { equal, ok } from 'node:assert/strict'
import { group } from './check.ts'
import { GatewayError } from '../index.ts'
import { collect } from '../kit.ts'
import { ExchangeScope } from '../http/scope.ts'
import { reading, zeros } from './rig.ts'

export const closes = group('closes the connection at once', (check) => {
  const reason = new GatewayError('client_closed')

  check('when it is aborted before the answer (faults B1)', async (rig) => {
    rig.upstream.answer({ silent: true })
    const scope = new ExchangeScope()
    const sending = rig.send(rig.open(), rig.call({ scope })).catch((error: unknown) => error)
    await rig.upstream.received()
    scope.abort(reason)
    equal(await sending, reason)
    await rig.upstream.closed()
  })

  check('when it is aborted in the middle (faults B1)', async (rig) => {
    rig.upstream.answer({ frames: ['1'], ending: 'hang' })
    const scope = new ExchangeScope()
    const reader = reading(await rig.send(rig.open(), rig.call({ scope })))
    await reader.some
    scope.abort(reason)
    await reader.over
    await rig.upstream.closed()
    equal(reader.error, reason)
    equal(rig.upstream.sockets, 0)
  })

  check('when its reader cancels, and says no more', async (rig) => {
    rig.upstream.answer({ chunks: zeros(Infinity) })
    const reader = reading(await rig.send(rig.open()))
    await reader.some
    reader.flow.cancel(new Error('enough'))
    const { size } = reader
    await rig.upstream.closed()
    equal(reader.size, size)
    equal(reader.error, undefined)
  })

  check('or sends nothing when it was aborted before', async (rig) => {
    const scope = new ExchangeScope()
    scope.abort(reason)
    equal(await rig.send(rig.open(), rig.call({ scope })).catch((error: unknown) => error), reason)
    equal(rig.upstream.requests.length, 0)
    equal(rig.upstream.sockets, 0)
  })

  check('and forgets the exchange once it is over', async (rig) => {
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
    ok(listeners <= 1)
    await collect(answer.body, 1_000)
    equal(listeners, 0)
  })
})
