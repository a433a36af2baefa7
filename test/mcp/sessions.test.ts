import { expect } from 'chai'
import { bodyOf, events, initialized, otherKey, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig } from '../support/mcp.ts'
import { until } from '../support/until.ts'

const call = (id: unknown, name = 'search') => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
const unknown = {
  jsonrpc: '2.0',
  id: 7,
  error: { code: -32001, message: 'The session is unknown or has ended; initialize a new one.' },
}

describe('mcp/sessions', () => {
  let rig: McpRig
  beforeEach(async () => {
    rig = await startMcp()
    rig.upstream.answer(speaking(({ id }) => result(id, { ok: true })))
  })
  afterEach(() => rig.close())

  it('a session has an id of the gateway; the server sees its own', async () => {
    const response = await rig.post({ jsonrpc: '2.0', id: 'a', method: 'initialize', params: { x: 1 } })
    expect(response.status).to.equal(200)
    const session = response.headers.get('mcp-session-id') ?? ''
    expect(session).to.match(/^[\w-]{43}$/)
    expect(await response.json()).to.deep.include({ id: 'a' })
    const { headers, body } = await rig.upstream.received(1)
    expect(headers).to.not.have.property('mcp-session-id')
    expect(body.toString()).to.equal('{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"x":1}}')

    const answer = await rig.post(call(7), { session })
    expect([answer.status, await answer.json()]).to.deep.equal([200, { jsonrpc: '2.0', id: 7, result: { ok: true } }])
    expect(answer.headers.get('mcp-session-id')).to.equal(null)
    expect((await rig.upstream.received(2)).headers['mcp-session-id']).to.equal('upstream-1')
    // The id of the server is no id of the gateway.
    expect((await rig.post(call(7), { session: 'upstream-1' })).status).to.equal(404)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('two sessions of one key are two sessions of the server', async () => {
    const [one, two] = [await rig.open(), await rig.open()]
    expect(one).to.not.equal(two)
    await rig.post(call(1), { session: two })
    await rig.post(call(1), { session: one })
    const sessions = rig.upstream.requests.map(({ headers }) => headers['mcp-session-id'])
    expect(sessions).to.deep.equal([undefined, undefined, 'upstream-2', 'upstream-1'])
  })

  it('a session of another key or of another server is unknown, as one that never was', async () => {
    const session = await rig.open()
    const told = [
      await rig.post(call(7), { session, key: otherKey }),
      await rig.post(call(7), { session, server: 'notes' }),
      await rig.post(call(7), { session: 'x'.repeat(43) }),
      await rig.post(call(7), { session: '../../../etc' }),
    ]
    for (const response of told) expect([response.status, await response.json()]).to.deep.equal([404, unknown])
    for (const response of [await rig.get({ session, key: otherKey }), await rig.delete({ session, server: 'notes' })])
      expect([response.status, await response.json()]).to.deep.equal([404, { ...unknown, id: null }])
    expect(rig.upstream.requests.length).to.equal(1)
    expect((await rig.post(call(7), { session })).status).to.equal(200)
  })

  it('a message without a session is refused, unless it is initialize', async () => {
    for (const message of [call(7), { jsonrpc: '2.0', method: 'notifications/initialized' }]) {
      const response = await rig.post(message)
      expect(response.status).to.equal(400)
      expect(await response.json()).to.deep.equal({
        jsonrpc: '2.0',
        id: 'id' in message ? 7 : null,
        error: { code: -32600, message: 'The header mcp-session-id is missing; send initialize first.' },
      })
    }
    expect((await rig.get()).status).to.equal(400)
    expect((await rig.delete()).status).to.equal(400)
    expect(rig.upstream.requests).to.deep.equal([])
  })

  it('DELETE ends the session, at the server, too', async () => {
    const session = await rig.open()
    const response = await rig.delete({ session })
    expect([response.status, await response.text()]).to.deep.equal([200, ''])
    const { method, headers } = await rig.upstream.received(2)
    expect([method, headers['mcp-session-id']]).to.deep.equal(['DELETE', 'upstream-1'])
    expect((await rig.post(call(7), { session })).status).to.equal(404)
    expect((await rig.delete({ session })).status).to.equal(404)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('a server may refuse to end a session', async () => {
    const session = await rig.open()
    rig.upstream.answer({ status: 405, headers: { allow: 'GET, POST' } }, ({ body }) =>
      result((JSON.parse(body.toString()) as { id: number }).id),
    )
    const response = await rig.delete({ session })
    expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'GET, POST'])
    expect((await rig.post(call(7), { session })).status).to.equal(200)
  })

  it('a session that the server has forgotten is forgotten here', async () => {
    const session = await rig.open()
    rig.upstream.answer({ status: 404, body: 'sessions: upstream-1, upstream-9' })
    const response = await rig.post(call(7), { session })
    expect([response.status, await response.json()]).to.deep.equal([404, unknown])
    expect((await rig.post(call(7), { session })).status).to.equal(404)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('a refused initialize opens no session', async () => {
    const refusal = { jsonrpc: '2.0', id: 0, error: { code: -32602, message: 'Unsupported protocol version' } }
    rig.upstream.answer({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(refusal) })
    const response = await rig.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
    expect(response.headers.get('mcp-session-id')).to.equal(null)
    expect([response.status, await response.json()]).to.deep.equal([200, refusal])
  })

  it('a session whose client has left before it had the id is ended at the server', async () => {
    const { upstream } = rig
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 'upstream-7' }
    upstream.answer(({ method }) =>
      method === 'DELETE' ? { status: 200 } : { headers, chunks: ['{"jsonrpc":"2.0",'], ending: 'hang' },
    )
    const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }
    const ended = () => upstream.requests.filter(({ method }) => method === 'DELETE')
    // A client that leaves before the gateway has read the id of the server leaves nothing to be ended.
    await until(async () => {
      const leaving = new AbortController()
      const at = upstream.requests.length
      const left = rig.post(message, { signal: leaving.signal }).catch(() => undefined)
      await upstream.when(() => ended().length > 0 || (upstream.requests[at]?.sent ?? 0) > 0)
      await rig.post(message, { server: 'absent' })
      leaving.abort()
      await left
      await upstream.closed()
      return ended().length > 0
    })
    expect(ended()[0]?.headers['mcp-session-id']).to.equal('upstream-7')
  })

  it('a server that keeps no sessions gets no session id', async () => {
    rig.upstream.answer(
      ({ body }) => initialized((JSON.parse(body.toString()) as { id: number }).id),
      ({ body }) => result((JSON.parse(body.toString()) as { id: number }).id),
    )
    const session = await rig.open()
    expect(session).to.match(/^[\w-]{43}$/)
    expect((await rig.post(call(7), { session })).status).to.equal(200)
    expect((await rig.upstream.received(2)).headers).to.not.have.property('mcp-session-id')
    expect((await rig.delete({ session })).status).to.equal(204)
    expect((await rig.post(call(7), { session })).status).to.equal(404)
    expect(rig.upstream.requests.length).to.equal(2)
  })

  it('an initialize that is answered as a stream opens a session, too', async () => {
    rig.upstream.answer({
      ...events([`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 0, result: {} })}\n\n`]),
      headers: { 'content-type': 'text/event-stream', 'mcp-session-id': 'upstream-5' },
    })
    const session = await rig.open()
    rig.upstream.answer(({ body }) => result((JSON.parse(body.toString()) as { id: number }).id))
    expect((await rig.post(call(7), { session })).status).to.equal(200)
    expect((await rig.upstream.received(2)).headers['mcp-session-id']).to.equal('upstream-5')
  })

  it('a request whose id is in flight is refused; afterwards the id is free', async () => {
    const session = await rig.open()
    const slow = Promise.withResolvers<void>()
    rig.upstream.answer(async ({ body }) => {
      await slow.promise
      return result((JSON.parse(body.toString()) as { id: number }).id)
    })
    const first = rig.post(call(7), { session })
    await rig.upstream.received(2)
    const second = await rig.post(call(7), { session })
    expect([second.status, await second.json()]).to.deep.equal([
      400,
      {
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32600, message: 'A request with this id is still in flight in this session.' },
      },
    ])
    // The text "7" is another id than the number.
    const other = rig.post(call('7'), { session })
    await rig.upstream.received(3)
    slow.resolve()
    expect((await first).status).to.equal(200)
    expect((await other).status).to.equal(200)
    expect((await rig.post(call(7), { session })).status).to.equal(200)
  })

  it('the equal ids of two clients never cross', async () => {
    const clients = [await rig.open(), await rig.open({ key: otherKey })]
    rig.upstream.answer((request) => {
      const { id } = bodyOf(request)
      return result(id, { session: request.headers['mcp-session-id'], id })
    })
    const ids = Array.from({ length: 1_000 }, (_, index) => index)
    const ask = async (session: string, key: string | undefined, id: number) =>
      (await rig.post(call(id), { session, ...(key === undefined ? {} : { key }) })).json()
    for (let from = 0; from < ids.length; from += 50)
      await Promise.all(
        ids.slice(from, from + 50).flatMap((id) =>
          clients.map(async (session, index) => {
            const answer = await ask(session, index === 0 ? undefined : otherKey, id)
            expect(answer).to.deep.equal({ jsonrpc: '2.0', id, result: { session: `upstream-${index + 1}`, id } })
          }),
        ),
      )
  })
})
