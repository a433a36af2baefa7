import { expect } from 'chai'
import { events, otherKey, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig, Rpc } from '../support/mcp.ts'

const secretKey = 'sk-limited-0123456789abcdef0123456789'

describe('mcp/rows', () => {
  let rig: McpRig
  beforeEach(async () => {
    rig = await startMcp(
      { tools: { deny: ['drop'] } },
      {
        api_keys: [
          { name: 'other', key: otherKey },
          { name: 'limited', key: secretKey, rate_limit: { requests: 3, tokens: 1, period: '1h' } },
        ],
      },
    )
    rig.upstream.answer(speaking(({ id }) => result(id, { content: 'the-result' })))
  })
  afterEach(() => rig.close())

  const call = (name: string, id: unknown = 7): Rpc => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: { text: 'the-argument' } },
  })

  it('each JSON-RPC request is one row, with its server, method and tool, and without contents', async () => {
    const session = await rig.open()
    await rig.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { session })
    await rig.post({ jsonrpc: '2.0', id: 1, result: { content: 'the-result' } }, { session })
    await (await rig.post(call('search'), { session })).text()
    await rig.post(call('drop'), { session })
    const failure = { jsonrpc: '2.0', id: 7, error: { code: -32042, message: 'the-result' } }
    rig.upstream.answer(events([`data: ${JSON.stringify(failure)}\n\n`]))
    await (await rig.post(call('search'), { session })).text()
    rig.upstream.answer({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(failure) })
    await (await rig.post(call('search'), { session })).text()
    await rig.delete({ session })
    await rig.post(call('search'), { session })
    const rows = await rig.gateway.rows(6)
    expect(rows.map(({ type, key_name: key, status, protocol }) => [type, key, status, protocol])).to.deep.equal([
      ['mcp', 'test', 200, 'mcp'],
      ['mcp', 'test', 200, 'mcp'],
      ['mcp', 'test', 200, 'mcp'],
      ['mcp', 'test', 200, 'mcp'],
      ['mcp', 'test', 200, 'mcp'],
      ['mcp', 'test', 404, 'mcp'],
    ])
    const facts = rows.map(({ metadata, error, result: ended }) => {
      const { server, method, tool, error_code: code } = JSON.parse(metadata) as Record<string, unknown>
      return [server, method, tool, code, error, ended]
    })
    expect(facts).to.deep.equal([
      ['docs', 'initialize', undefined, undefined, null, 'completed'],
      ['docs', 'tools/call', 'search', undefined, null, 'completed'],
      ['docs', 'tools/call', 'drop', -32602, 'tool_not_allowed', 'refused'],
      ['docs', 'tools/call', 'search', -32042, null, 'completed'],
      ['docs', 'tools/call', 'search', -32042, null, 'completed'],
      ['docs', 'tools/call', 'search', -32001, 'session_not_found', 'refused'],
    ])
    for (const row of rows) {
      expect(row.duration).to.be.at.least(0)
      expect(JSON.stringify(row)).to.not.include('the-argument').and.to.not.include('the-result')
    }
  })

  it('each JSON-RPC request is one request of the limits of the key; sessions are looked at before', async () => {
    const calling = { key: secretKey }
    const session = await rig.open(calling)
    const response = await rig.post(call('search'), { session, ...calling })
    expect(response.headers.get('x-ratelimit-remaining-requests')).to.equal('1')
    // Neither a notification nor an answer is a request.
    for (let count = 0; count < 5; count++)
      await rig.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { session, ...calling })
    expect((await rig.post(call('search'), { session, ...calling })).status).to.equal(200)
    const asked = rig.upstream.requests.length
    const limited = await rig.post(call('search'), { session, ...calling })
    expect(limited.status).to.equal(429)
    expect(Number(limited.headers.get('retry-after'))).to.be.at.least(1)
    expect(await limited.json()).to.nested.include({ jsonrpc: '2.0', id: 7, 'error.code': -32000 })
    expect(rig.upstream.requests.length).to.equal(asked)
    expect((await rig.post(call('search'), { session: 'x'.repeat(43), ...calling })).status).to.equal(404)
    // What was refused is not in flight.
    const again = await rig.post(call('search'), { session, ...calling })
    expect(again.status).to.equal(429)
  })
})
