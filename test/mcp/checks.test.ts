import { expect } from 'chai'
import { bothTypes, events, otherKey, rawRequest, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig, Rpc } from '../support/mcp.ts'

const list: Rpc = { jsonrpc: '2.0', id: 7, method: 'tools/list' }

describe('mcp/checks', () => {
  let rig: McpRig
  let session: string
  before(async () => {
    rig = await startMcp(
      {},
      {
        api_keys: [
          { name: 'other', key: otherKey },
          { name: 'limited', key: 'sk-limited-0123456789abcdef0123456789', mcp_servers: ['notes'] },
        ],
        server_config: {
          mcp_security: {
            allowed_hosts: ['gateway.example', 'proxy.example:8443'],
            allowed_origins: ['https://app.example'],
          },
          request_policy: { max_body_bytes: 4_096 },
        },
      },
    )
    rig.upstream.answer(speaking(({ id }) => result(id)))
    session = await rig.open()
  })
  after(() => rig.close())

  const asked = () => rig.upstream.requests.length
  /** Posts, and requires that the server was not asked. */
  const refused = async (message: Rpc | string, headers: Record<string, string> = {}) => {
    const before = asked()
    const response = await rig.post(message, { session, headers })
    expect(asked()).to.equal(before)
    return {
      status: response.status,
      body: (await response.json()) as { id: unknown; error: { code: number; message: string } },
    }
  }
  const rpc = ({ status, body: { id, error } }: Awaited<ReturnType<typeof refused>>) => [status, id, error.code]

  it('a request without a valid key is answered with 401 and a challenge, before anything else', async () => {
    for (const headers of [{ authorization: 'Bearer sk-unknown' }, { authorization: '' }]) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const response = await fetch(`${rig.gateway.url}/servers/nothing/mcp`, {
          method,
          headers,
          ...(method === 'POST' ? { body: 'no JSON' } : {}),
        })
        expect([response.status, response.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer'])
        expect(await response.json()).to.nested.include({ jsonrpc: '2.0', id: null, 'error.code': -32000 })
      }
    }
    const byHeader = await rig.post(list, { session, headers: { authorization: '', 'x-api-key': rig.gateway.key } })
    expect(byHeader.status).to.equal(200)
  })

  it('unknown and forbidden servers are answered in the same words', async () => {
    const key = 'sk-limited-0123456789abcdef0123456789'
    const told = [
      await rig.post(list, { server: 'nothing', key }),
      await rig.post(list, { server: 'docs', key }),
      await rig.post(list, { server: 'docs', key, session }),
    ]
    const bodies = await Promise.all(told.map((response) => response.text()))
    expect(told.map(({ status }) => status)).to.deep.equal([404, 404, 404])
    expect(new Set(bodies).size).to.equal(1)
    expect(JSON.parse(bodies[0] ?? '')).to.deep.equal({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32000, message: 'There is no such MCP server, or this API key may not use it.' },
    })
    expect((await rig.get({ server: 'docs', key })).status).to.equal(404)
    expect((await rig.delete({ server: 'docs', key })).status).to.equal(404)
    expect(await rig.open({ server: 'notes', key })).to.match(/^[\w-]{43}$/)
  })

  it('foreign names and foreign origins are refused before the key is looked at, on every method', async () => {
    const url = `${rig.gateway.url}/servers/docs/mcp`
    const { host } = new URL(rig.gateway.url)
    const status = async (method: string, headers: Record<string, string>) =>
      (await rawRequest(url, method, headers)).status
    const port = host.split(':')[1] ?? ''
    for (const method of ['POST', 'GET', 'DELETE']) {
      for (const foreign of [
        'evil.example',
        `evil.example:${port}`,
        'proxy.example',
        'localhost.evil.example',
        'a@localhost',
      ])
        expect(await status(method, { host: foreign }), foreign).to.equal(403)
      for (const own of [host, 'localhost:1', '[::1]:9', 'GATEWAY.example', 'gateway.example:77', 'proxy.example:8443'])
        expect(await status(method, { host: own }), own).to.equal(401)
      for (const origin of [
        'https://evil.example',
        'null',
        'http://app.example',
        'https://app.example.evil.example',
        'x',
      ])
        expect(await status(method, { host, origin }), origin).to.equal(403)
      for (const origin of ['https://app.example', 'http://localhost:5173', 'http://127.0.0.1:1', `http://${host}`])
        expect(await status(method, { host, origin }), origin).to.equal(401)
    }
    const told = await rawRequest(url, 'POST', { host, origin: 'https://evil.example' }, '{}')
    expect(JSON.parse(told.text)).to.nested.include({ jsonrpc: '2.0', id: null, 'error.code': -32000 })
  })

  it('a POST must accept both kinds of answers, and send JSON', async () => {
    for (const accept of ['application/json', 'text/event-stream', '*/*', 'text/html'])
      expect((await refused(list, { accept })).status, accept).to.equal(406)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
      expect((await refused(list, { 'content-type': type })).status, type).to.equal(415)
    expect((await refused(list, { accept: 'application/json' })).body).to.deep.equal({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: 'The accept header must list application/json and text/event-stream.' },
    })
    const headers = {
      accept: 'text/event-stream;q=0.5, APPLICATION/JSON',
      'content-type': 'application/json; charset=utf-8',
    }
    expect((await rig.post(list, { session, headers })).status).to.equal(200)
    expect((await rig.get({ session, headers: { accept: 'application/json' } })).status).to.equal(406)
  })

  it('what is no JSON, and what is no message, is refused', async () => {
    for (const body of ['', '{', '{"jsonrpc":"2.0",}', 'nothing', '{"jsonrpc":"2.0","id":1,"method":"a"}x'])
      expect(rpc(await refused(body)), body).to.deep.equal([400, null, -32700])
    const bodies = [
      [list],
      [],
      'text',
      7,
      null,
      {},
      { ...list, jsonrpc: '1.0' },
      { ...list, id: null },
      { ...list, id: {} },
      { ...list, id: true },
      { ...list, method: 7 },
      { ...list, params: [] },
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', result: {} },
      { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } },
    ]
    for (const body of bodies) {
      const text = JSON.stringify(body)
      expect(rpc(await refused(text)), text).to.deep.equal([400, null, -32600])
    }
    // No number that anybody could send back.
    expect(rpc(await refused('{"jsonrpc":"2.0","id":1e400,"method":"tools/list"}'))).to.deep.equal([400, null, -32600])
    expect((await refused(JSON.stringify([list]))).body.error.message).to.equal(
      'Batches are not accepted: send one message per request.',
    )
  })

  it('a member that the server might read differently is refused', async () => {
    const bodies = [
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","\\u006dethod":"tools/call"}',
      '{"jsonrpc":"2.0","Id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{},"name":"a","_meta":{}}}',
      '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a","taskId":"b"}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestID":2}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
    ]
    for (const body of bodies) expect(rpc(await refused(body)), body).to.deep.equal([400, null, -32600])
    // Elsewhere it is nothing that the gateway reads.
    const argued =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"id":1,"ID":2,"name":3}}}'
    expect((await rig.post(argued, { session })).status).to.equal(200)
    expect((await rig.upstream.received(asked())).body.toString()).to.equal(argued)
  })

  it('a long body is refused', async () => {
    const long = { ...list, params: { text: 'x'.repeat(4_096) } }
    expect(rpc(await refused(long))).to.deep.equal([413, null, -32000])
  })

  it('versions of the protocol: known ones pass, none is fine, others are refused', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']) {
      expect((await rig.post(list, { session, headers: { 'mcp-protocol-version': version } })).status).to.equal(200)
      expect((await rig.upstream.received(asked())).headers['mcp-protocol-version']).to.equal(version)
    }
    expect((await rig.post(list, { session })).status).to.equal(200)
    expect((await rig.upstream.received(asked())).headers).to.not.have.property('mcp-protocol-version')
    const told = await refused(list, { 'mcp-protocol-version': '1999-01-01' })
    expect([told.status, told.body]).to.deep.equal([
      400,
      {
        jsonrpc: '2.0',
        id: 7,
        error: {
          code: -32022,
          message: 'The protocol version "1999-01-01" is not served here.',
          data: {
            supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'],
            requested: '1999-01-01',
          },
        },
      },
    ])
    expect((await rig.get({ session, headers: { 'mcp-protocol-version': '1999-01-01' } })).status).to.equal(400)
    expect((await rig.delete({ session, headers: { 'mcp-protocol-version': '1999-01-01' } })).status).to.equal(400)
  })

  it('other methods are not allowed', async () => {
    const response = await fetch(`${rig.gateway.url}/servers/docs/mcp`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${rig.gateway.key}`, accept: bothTypes },
    })
    expect(response.status).to.equal(405)
    expect(response.headers.get('allow')?.split(', ').sort()).to.include.members(['DELETE', 'GET', 'POST'])
  })
})

describe('mcp/stateless', () => {
  const version = '2026-07-28'
  const key = 'io.modelcontextprotocol/protocolVersion'
  let rig: McpRig
  before(async () => {
    rig = await startMcp({ tools: { deny: ['drop'] } })
    rig.upstream.answer(({ body }) => {
      const { id } = JSON.parse(body.toString()) as Rpc
      return { ...result(id), headers: { 'content-type': 'application/json', 'mcp-session-id': 'never' } }
    })
  })
  after(() => rig.close())

  const call = (name = 'search', meta: object = { [key]: version }): Rpc => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name, _meta: meta },
  })
  const headersOf = (name = 'search') => ({
    'mcp-protocol-version': version,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  })
  const ask = async (message: Rpc, headers: Record<string, string>, session?: string) => {
    const before = rig.upstream.requests.length
    const response = await rig.post(message, { headers, session })
    const body = (await response.json()) as { id: unknown; error?: { code: number; data?: unknown } }
    return { response, body, asked: rig.upstream.requests.length - before }
  }

  it('passes with its headers; session ids are neither sent, nor made, nor shown', async () => {
    const headers = { ...headersOf(), 'mcp-param-region': '=?base64?w6R6?=' }
    const { response, body, asked } = await ask(call(), headers, 'x'.repeat(43))
    expect([response.status, body, asked]).to.deep.equal([200, { jsonrpc: '2.0', id: 7, result: {} }, 1])
    expect(response.headers.get('mcp-session-id')).to.equal(null)
    const { headers: sent } = await rig.upstream.received(rig.upstream.requests.length)
    expect(sent).to.include(headers)
    expect(sent).to.not.have.property('mcp-session-id')
    expect(sent).to.not.have.property('authorization')
  })

  it('GET and DELETE are not allowed', async () => {
    for (const response of [
      await rig.get({ headers: { 'mcp-protocol-version': version } }),
      await rig.delete({ headers: { 'mcp-protocol-version': version } }),
    ])
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'POST'])
  })

  it('headers that differ from the message are refused before the server is asked', async () => {
    const { 'mcp-protocol-version': _version, ...noVersion } = headersOf()
    const { 'mcp-method': _method, ...noMethod } = headersOf()
    const { 'mcp-name': _name, ...noName } = headersOf()
    const cases: [string, Rpc, Record<string, string>, number][] = [
      ['no version in the headers', call(), noVersion, -32020],
      ['another version in the headers', call(), { ...headersOf(), 'mcp-protocol-version': '2025-11-25' }, -32020],
      ['another version in the message', call('search', { [key]: '2027-01-01' }), headersOf(), -32020],
      ['no version in the message', call('search', {}), headersOf(), -32602],
      ['no method', call(), noMethod, -32020],
      ['another method', call(), { ...headersOf(), 'mcp-method': 'tools/list' }, -32020],
      ['no name', call(), noName, -32020],
      ['another name', call('drop'), headersOf(), -32020],
      ['an encoded other name', call(), headersOf(`=?base64?${Buffer.from('drop').toString('base64')}?=`), -32020],
      ['a broken encoding', call(), headersOf('=?base64?***?='), -32020],
      ['initialize', { ...call(), method: 'initialize', params: {} }, headersOf(), -32020],
    ]
    for (const [title, message, headers, code] of cases) {
      const { response, body, asked } = await ask(message, headers)
      expect([response.status, body.id, body.error?.code, asked], title).to.deep.equal([400, 7, code, 0])
    }
    const encoded = headersOf(`=?base64?${Buffer.from('search').toString('base64')}?=`)
    expect((await ask(call(), encoded)).response.status).to.equal(200)
  })

  it('headers that repeat arguments must be encoded correctly', async () => {
    const { response, body, asked } = await ask(call(), { ...headersOf(), 'mcp-param-region': '=?base64?***?=' })
    expect([response.status, body.id, body.error?.code, asked]).to.deep.equal([400, 7, -32020, 0])
  })

  it('headers repeat the arguments that the schema of a known tool says', async () => {
    const at = (word: string, type: string) => ({ type, 'x-mcp-header': word })
    const properties = {
      region: at('Region', 'string'),
      count: at('Count', 'integer'),
      dry: at('Dry-Run', 'boolean'),
      deep: { type: 'object', properties: { place: at('Place', 'string') } },
      free: { type: 'string' },
    }
    const listing = await startMcp({ tools: { deny: ['drop'] } })
    try {
      listing.upstream.answer(({ body }) => {
        const { id, method } = JSON.parse(body.toString()) as Rpc
        const tools = [{ name: 'search', inputSchema: { type: 'object', properties } }]
        return result(id, method === 'tools/list' ? { tools } : {})
      })
      const send = async (input: object, headers: Record<string, string>) => {
        const before = listing.upstream.requests.length
        const params = { name: 'search', arguments: input, _meta: { [key]: version } }
        const response = await listing.post({ ...call(), params }, { headers: { ...headersOf(), ...headers } })
        const { error } = (await response.json()) as { error?: { code: number } }
        return [response.status, error?.code ?? null, listing.upstream.requests.length - before]
      }
      const [passes, refused] = [
        [200, null, 1],
        [400, -32020, 0],
      ]
      // Before the list has passed, nothing is known.
      expect(await send({ region: 'eu' }, { 'mcp-param-region': 'us' })).to.deep.equal(passes)
      const tools = { ...call(), method: 'tools/list', params: { _meta: { [key]: version } } }
      const asked = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' }
      expect((await listing.post(tools, { headers: asked })).status).to.equal(200)
      const encoded = `=?base64?${Buffer.from('é').toString('base64')}?=`
      const cases: [object, Record<string, string>, unknown][] = [
        [{ region: 'eu' }, { 'mcp-param-region': 'eu' }, passes],
        [{ region: 'eu' }, { 'mcp-param-region': 'us' }, refused],
        [{ region: 'eu' }, {}, refused],
        [{ region: 'é' }, { 'mcp-param-region': encoded }, passes],
        [{ region: 'e' }, { 'mcp-param-region': encoded }, refused],
        [{ count: 42 }, { 'mcp-param-count': '42.0' }, passes],
        [{ count: 42 }, { 'mcp-param-count': '43' }, refused],
        [{ dry: true }, { 'mcp-param-dry-run': 'true' }, passes],
        [{ dry: true }, { 'mcp-param-dry-run': 'True' }, refused],
        [{ deep: { place: 'a' } }, { 'mcp-param-place': 'a' }, passes],
        [{ deep: { place: 'a' } }, { 'mcp-param-place': 'b' }, refused],
        [{ region: null }, {}, passes],
        [{ free: 'x' }, { 'mcp-param-free': 'y' }, passes],
      ]
      for (const [input, headers, expected] of cases)
        expect(await send(input, headers), JSON.stringify([input, headers])).to.deep.equal(expected)
    } finally {
      await listing.close()
    }
  })

  it('an unknown version is refused with those that are served', async () => {
    const { response, body, asked } = await ask(call('search', { [key]: '2027-01-01' }), {
      ...headersOf(),
      'mcp-protocol-version': '2027-01-01',
    })
    expect([response.status, body.error?.code, asked]).to.deep.equal([400, -32022, 0])
    expect(body).to.nested.include({ 'error.data.requested': '2027-01-01', 'error.data.supported[0]': version })
  })

  it('an unknown version is refused with those that the server has said it speaks', async () => {
    const rig = await startMcp()
    const supported = async () => {
      const headers = { ...headersOf(), 'mcp-protocol-version': '2027-01-01' }
      const response = await rig.post(call('search', { [key]: '2027-01-01' }), { headers })
      return ((await response.json()) as { error: { data?: { supported: unknown } } }).error.data?.supported
    }
    const discover = async (...supportedVersions: string[]) => {
      rig.upstream.answer(({ body }) => result((JSON.parse(body.toString()) as Rpc)['id'], { supportedVersions }))
      const headers = { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' }
      expect((await rig.post({ ...call(), method: 'server/discover' }, { headers })).status).to.equal(200)
    }
    try {
      expect(await supported()).to.have.length(6)
      await discover('2027-06-06', version, '2025-06-18')
      expect(await supported()).to.deep.equal([version, '2025-06-18'])
      await discover(version)
      expect(await supported()).to.deep.equal([version])
    } finally {
      await rig.close()
    }
  })

  it('a tool that is not offered is refused', async () => {
    const { response, body, asked } = await ask(call('drop'), headersOf('drop'))
    expect([response.status, body.error?.code, asked]).to.deep.equal([200, -32602, 0])
  })

  it('a notification passes, an answer does not', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    rig.upstream.answer({ status: 202 })
    const response = await rig.post(notification, { headers: { 'mcp-protocol-version': version } })
    expect([response.status, await response.text()]).to.deep.equal([202, ''])
    const answered = await ask({ jsonrpc: '2.0', id: 7, result: {} }, { 'mcp-protocol-version': version })
    expect([answered.response.status, answered.body.error?.code, answered.asked]).to.deep.equal([400, -32600, 0])
  })

  it('a subscription may be silent for longer than a call; its row is written when it has begun', async () => {
    const own = await startMcp({ call_timeout: '50ms' }, { server_config: { keepalive: { sse_interval: '200ms' } } })
    const more = Promise.withResolvers<void>()
    const changed = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
    own.upstream.answer(
      events(
        (async function* () {
          yield ': a\n\n'
          await more.promise
          yield changed
        })(),
        'hang',
      ),
    )
    try {
      const message = { ...call(), method: 'subscriptions/listen', params: { _meta: { [key]: version } } }
      const headers = { 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' }
      const response = await own.post(message, { headers })
      const row = await own.gateway.row(({ type }) => type === 'mcp')
      expect(JSON.parse(row.metadata)).to.include({ server: 'docs', method: 'subscriptions/listen' })
      let text = ''
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        text += Buffer.from(chunk).toString()
        if (text.split(': keep-alive').length > 3) more.resolve()
        if (text.includes(changed)) break
      }
      await own.upstream.closed()
    } finally {
      await own.close()
    }
  })

  it('an unknown method is told as the server tells it', async () => {
    const told = { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found' } }
    rig.upstream.answer({ status: 404, headers: { 'content-type': 'application/json' }, body: told })
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'x/y' }
    const { response, body } = await ask({ ...call(), method: 'x/y' }, headers)
    expect([response.status, body]).to.deep.equal([404, told])
  })
})
