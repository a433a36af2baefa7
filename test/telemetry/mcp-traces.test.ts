import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { bodyOf, result, speaking, startMcp } from '../support/mcp.ts'
import type { McpRig } from '../support/mcp.ts'
import { startCollector } from './collector.ts'
import type { Collector, SeenSpan } from './collector.ts'

const [traceOfMessage, traceOfRequest] = ['a1a2a3a4a5a6a7a8a9aaabacadaeafb0', 'b1b2b3b4b5b6b7b8b9babbbcbdbebfc0']
const contextIn = (trace: string) => `00-${trace}-00f067aa0ba902b7-01`

describe('traces of messages to MCP servers', () => {
  let collector: Collector
  let rig: McpRig
  const start = async (telemetry: object = {}, variables: Record<string, string> = {}) => {
    collector = await startCollector()
    rig = await startMcp(
      {},
      {
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1', ...variables },
        server_config: { telemetry },
      },
    )
  }
  let session: string | undefined
  afterEach(async () => {
    session = undefined
    await rig.close()
    await collector.close()
  })

  const call = async (params: JsonObject | string, headers: Record<string, string> = {}, method = 'tools/call') => {
    const text = typeof params === 'string' ? params : JSON.stringify({ jsonrpc: '2.0', id: 'r-1', method, params })
    session ??= await rig.open()
    const answer = await rig.post(text, {
      session,
      headers: { 'mcp-protocol-version': '2025-11-25', ...headers },
    })
    await answer.text()
    return answer.headers.get('x-request-id') ?? ''
  }
  /** The server's own name of the session never shows. */
  const of = async (id: string) => {
    const spans = await collector.trace(({ attributes }) => attributes['sluice.request.id'] === id)
    const server = spans.find(({ attributes }) => attributes['sluice.request.id'] === id)
    const client = spans.find(({ parentSpanId }) => parentSpanId === server?.spanId)
    return { server: server as SeenSpan, client: client as SeenSpan }
  }

  it('go on with the context of the message, link that of its request, and reach the server', async () => {
    await start()
    rig.upstream.answer(speaking(({ id }) => result(id, { content: [] })))
    // A number that JavaScript cannot hold passes as it came.
    const text = `{"jsonrpc":"2.0","id":"r-1","method":"tools/call","params":{"name":"add","arguments":{"n":12345678901234567890},"_meta":{"progressToken":7,"traceparent":"${contextIn(traceOfMessage)}"}}}`
    const id = await call(text, { traceparent: contextIn(traceOfRequest) })
    const { server, client } = await of(id)
    expect([server.traceId, server.parentSpanId]).to.deep.equal([traceOfMessage, '00f067aa0ba902b7'])
    expect(server.links).to.deep.equal([{ traceId: traceOfRequest, spanId: '00f067aa0ba902b7' }])
    expect([server.name, client.name]).to.deep.equal(['tools/call add', 'tools/call add'])
    expect(client.parentSpanId).to.equal(server.spanId)
    const sent = rig.upstream.requests.at(-1)
    const context = `00-${traceOfMessage}-${client.spanId}-01`
    expect(sent?.body.toString()).to.equal(text.replace(contextIn(traceOfMessage), context))
    expect(sent?.headers['traceparent']).to.equal(context)
    expect(server.attributes).to.deep.include({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'jsonrpc.request.id': 'r-1',
      'network.transport': 'tcp',
      'sluice.mcp.server': 'docs',
      'mcp.session.id': session,
    })
    expect(Object.keys(server.attributes).filter((name) => name.startsWith('gen_ai.'))).to.deep.equal([])
    expect(client.attributes).to.deep.equal({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'jsonrpc.request.id': 'r-1',
      'network.transport': 'tcp',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'add',
      'sluice.mcp.server': 'docs',
      'mcp.session.id': session,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(rig.upstream.url).port),
    })
    expect([server.isError, client.isError]).to.deep.equal([false, false])
    const row = await rig.gateway.row((one) => one.id === id)
    expect(row.trace_id).to.equal(traceOfMessage)
  })

  it('name the version that the first message of a session offers', async () => {
    await start()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const answer = await rig.post({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    await answer.text()
    for (const { name, attributes } of Object.values(await of(answer.headers.get('x-request-id') ?? '')))
      expect([name, attributes['mcp.protocol.version']]).to.deep.equal(['initialize', '2025-06-18'])
  })

  it('begin a trace of their own, without a link, where no context is read from clients', async () => {
    await start({}, { OTEL_PROPAGATORS: 'none' })
    rig.upstream.answer(speaking(({ id }) => result(id, { content: [] })))
    const params = { name: 'add', _meta: { traceparent: contextIn(traceOfMessage) } }
    const { server } = await of(await call(params, { traceparent: contextIn(traceOfRequest) }))
    expect([traceOfMessage, traceOfRequest]).to.not.include(server.traceId)
    expect([server.parentSpanId, server.links]).to.deep.equal(['', []])
  })

  it('give a message without a context one, wherever its place is missing', async () => {
    await start()
    rig.upstream.answer(speaking(({ id }) => result(id)))
    for (const message of [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"c"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{}}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":"{"}}}',
    ]) {
      const { server, client } = await of(
        await call(message, { traceparent: contextIn(traceOfRequest), tracestate: 'v=1' }),
      )
      expect([server.name, server.traceId]).to.deep.equal(['tools/list', traceOfRequest])
      const { params, ...others } = bodyOf(rig.upstream.requests.at(-1) as never)
      const { params: given = {}, ...own } = JSON.parse(message) as { params?: { _meta?: object } }
      const _meta = { ...given._meta, traceparent: `00-${traceOfRequest}-${client.spanId}-01`, tracestate: 'v=1' }
      expect([params, others]).to.deep.equal([{ ...given, _meta }, own])
    }
  })

  it('say what an error, and a tool that failed, answered', async () => {
    await start()
    rig.upstream.answer(
      speaking(({ id }) => ({
        headers: { 'content-type': 'application/json' },
        body: { jsonrpc: '2.0', id: id as string, error: { code: -32_602, message: 'no' } },
      })),
    )
    const failed = await of(await call({ name: 'add' }))
    for (const span of [failed.server, failed.client])
      expect([span.attributes['error.type'], span.attributes['rpc.response.status_code']]).to.deep.equal([
        '-32602',
        '-32602',
      ])
    expect(failed.client.isError).to.equal(true)
    rig.upstream.answer(speaking(({ id }) => result(id, { isError: true, content: [] })))
    const told = await of(await call({ name: 'add' }))
    expect([told.client.attributes['error.type'], told.client.isError]).to.deep.equal(['tool_error', true])
    const prompt = await of(await call({ name: 'greet' }, {}, 'prompts/get'))
    expect([prompt.client.name, prompt.client.attributes['gen_ai.prompt.name']]).to.deep.equal([
      'prompts/get greet',
      'greet',
    ])
    expect(prompt.client.attributes['gen_ai.operation.name']).to.equal(undefined)
    const resource = await of(await call({ uri: 'file:///secret/a' }, {}, 'resources/read'))
    expect([resource.client.name, resource.client.attributes['mcp.resource.uri']]).to.deep.equal([
      'resources/read',
      'file:///secret/a',
    ])
  })

  it('have arguments and results only if content is wanted, and leave messages alone if they are told to', async () => {
    await start({ mcp_context: false, traces: { content: 'span' } })
    rig.upstream.answer(speaking(({ id }) => result(id, { content: [{ type: 'text', text: '3' }] })))
    const { client } = await of(await call({ name: 'add', arguments: { a: 1, b: 2 } }))
    expect(JSON.parse(String(client.attributes['gen_ai.tool.call.arguments']))).to.deep.equal({ a: 1, b: 2 })
    expect(JSON.parse(String(client.attributes['gen_ai.tool.call.result']))).to.deep.equal({
      content: [{ type: 'text', text: '3' }],
    })
    const sent = rig.upstream.requests.at(-1)
    expect(sent?.headers['traceparent']).to.equal(undefined)
    expect(bodyOf(sent as never)['params']).to.deep.equal({ name: 'add', arguments: { a: 1, b: 2 } })
  })

  it('have no secret, neither in content nor in what they are about', async () => {
    const hidden = 'sk-hidden-q7w8e9r0t1y2u3i4'
    await start({ traces: { content: 'span' } })
    rig.upstream.answer(
      speaking(({ id }) => result(id, { content: [{ type: 'text', text: `It is Bearer ${hidden}-2.` }] })),
    )
    const told = await of(await call({ name: 'add', arguments: { note: `password=${hidden}`, deep: [{ k: hidden }] } }))
    const given = String(told.client.attributes['gen_ai.tool.call.arguments'])
    expect(JSON.parse(given)).to.deep.equal({ note: 'password=[redacted]', deep: [{ k: 'sk-[redacted]' }] })
    expect(String(told.client.attributes['gen_ai.tool.call.result'])).to.include('It is Bearer [redacted]')
    const named = await of(await call({ name: `tell-${hidden}` }))
    const uri = `https://files.example/a?token=${hidden}`
    const read = await of(await call({ uri }, {}, 'resources/read'))
    expect(read.client.attributes['mcp.resource.uri']).to.equal('https://files.example/a?token=[redacted]')
    const prompt = await of(await call({ name: hidden }, {}, 'prompts/get'))
    expect(prompt.client.attributes['gen_ai.prompt.name']).to.equal('sk-[redacted]')
    for (const { server, client } of [told, named, read, prompt])
      for (const { name, attributes } of [server, client])
        expect(`${name} ${JSON.stringify(attributes)}`).not.to.include('q7w8e9r0')
  })
})
