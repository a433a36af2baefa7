import { deepEqual, equal, ok } from 'node:assert/strict'
import { group } from './check.ts'
import { collect } from '../kit.ts'
import { ExchangeScope } from '../http/scope.ts'
import { scriptedUpstream } from './upstream.ts'
import { key } from './rig.ts'

export const sends = group('sends', (check, checkWhen) => {
  check('the bytes as they are, with its key and without an encoding of the answer', async (rig) => {
    rig.upstream.answer({ body: {} })
    await collect((await rig.send(rig.open())).body, 1_000)
    const [request] = rig.upstream.requests
    equal(request?.method, 'POST')
    equal(request?.body.toString(), '{"model":"m","text":"é"}')
    equal(request?.headers['content-type'], 'application/json')
    equal(request?.headers['content-length'], '25')
    equal(request?.headers['accept-encoding'], 'identity')
    equal(request?.headers.host, new URL(rig.upstream.url).host)
    equal(request?.rawHeaders.filter((value) => value.includes(key)).length, 1)
  })

  check('no header of the client that it does not list (faults J3)', async (rig) => {
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
    deepEqual(
      rig.upstream.requests[0]?.rawHeaders.filter((value) => value.includes('client')),
      [],
    )
    equal(rig.upstream.requests[0]?.headers.host, new URL(rig.upstream.url).host)
  })

  check('to an address that no model name can change (faults I6)', async (rig) => {
    rig.upstream.answer({ body: {} })
    const provider = rig.open()
    const models = ['m', '../../admin?a#b', 'x@evil.example', '__proto__', 'a\r\nb: c', '\\\\host', '%2e%2e']
    for (const model of models) await collect((await rig.send(provider, rig.call({ model }))).body, 1_000)
    equal(rig.upstream.requests.length, 7)
    // An address may contain the model name, as one segment of its path, or before the colon in one.
    const segment = (text: string, model = '') => {
      const [name = '', ...verb] = text.split(/(?=:)/)
      return decodeURIComponent(name) === model ? ['{model}', ...verb].join('') : text
    }
    const paths = rig.upstream.requests.map(({ path }, index) =>
      path.split('/').map((text) => segment(text, models[index])),
    )
    equal(new Set(paths.map((path) => path.join('/'))).size, 1)
    if (paths[0]?.some((text) => text.startsWith('{model}')) === true)
      for (const model of ['.', '..']) await rig.failure(rig.send(provider, rig.call({ model })))
  })

  check('over connections that are used again, even after a reload', async (rig) => {
    rig.upstream.answer({ body: { ok: true } })
    for (let reload = 0; reload < 3; reload++) {
      const provider = rig.open()
      for (let index = 0; index < 3; index++) await collect((await rig.send(provider)).body, 1_000)
    }
    equal(rig.upstream.requests.length, 9)
    // A connection becomes free one turn of the event loop after its response ended; a quick next request may open a
    // second one.
    ok(rig.upstream.sockets >= 1 && rig.upstream.sockets <= 2)
  })

  checkWhen({ field: 'max_connections' }, 'no more at a time than max_connections allows', async (rig) => {
    rig.upstream.answer({ frames: ['1'], ending: 'hang' }, { body: { second: true } })
    const provider = rig.open({ max_connections: 1 })
    const scope = new ExchangeScope()
    await rig.send(provider, rig.call({ scope }))
    const second = rig.send(provider)
    equal(rig.upstream.requests.length, 1)
    scope.abort(new Error('enough'))
    equal((await collect((await second).body, 1_000)).toString(), '{"second":true}')
  })

  checkWhen({ field: 'max_connections' }, 'nothing that was aborted while it waited for a connection', async (rig) => {
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
    equal(await second, reason)
    gate.resolve()
    equal((await collect((await first).body, 1_000)).toString(), '{"first":true}')
    await collect((await rig.send(provider)).body, 1_000)
    equal(rig.upstream.requests.length, 2)
    equal(rig.upstream.sockets, 1)
  })

  checkWhen({ field: 'endpoint_base_urls' }, 'nothing to an address that a moved operation left', async (rig) => {
    const other = await scriptedUpstream()
    other.answer({ body: {} })
    const moved = Object.fromEntries(rig.movable.map((word) => [word, `${other.url}/else/where?a=b`]))
    await rig.send(rig.open({ endpoint_base_urls: moved }))
    equal(rig.upstream.requests.length, 0)
    equal(other.requests[0]?.path, '/else/where?a=b')
    await other.close()
  })
})
