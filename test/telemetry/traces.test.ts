import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { valueIn } from './exposition.ts'
import { chatAnswer, chatFrames, messagesFrames } from '../service/streams.ts'
import { startCollector } from './collector.ts'
import type { Collector, SeenSpan } from './collector.ts'

const messages = [{ role: 'user', content: 'What is the secret word?' }]
const client = { trace: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
/** A stream of messages that ends with an error. */
const messagesBroken = [
  ...messagesFrames().slice(0, 1),
  { event: 'error', data: { type: 'error', error: { type: 'weird_error', message: 'No room.' } } },
]
const traceparent = (flags = '01') => `00-${client.trace}-${client.span}-${flags}`

describe('traces', () => {
  let upstream: ScriptedUpstream
  let collector: Collector
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    collector = await startCollector()
    gateway = await startGateway({
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-secret=a%20b,authorization=Bearer%20hush-hush',
        OTEL_BSP_SCHEDULE_DELAY: '5',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=a%20b',
      },
      server_config: {
        resilience: { retries: { wait: '1ms' }, breaker: { failures: 100 } },
        telemetry: { traces: { headers: { 'session.id': 'X-Session-Id' } }, metrics: { access: 'open' } },
      },
      providers: [
        { name: 'far', type: 'compatible', base_url: upstream.url, telemetry_name: 'mistral_ai' },
        { name: 'near', type: 'echo' },
        { name: 'anthropic', type: 'messages', base_url: upstream.url, api_key: 'k' },
      ],
      models: [
        { name: 'm', provider: 'far', upstream_model: 'm-2026', pricing: { input: 100, output: 200 } },
        {
          name: 'fallen',
          provider: 'far',
          upstream_model: 'fallen-1',
          pricing: { input: 1, output: 2 },
          fallbacks: ['m'],
        },
        { name: 'claude', provider: 'anthropic' },
        { name: 'plain', provider: 'near', pricing: { input: 1, output: 1 } },
      ],
      key_fields: { tags: { team: 'blue' } },
    })
  })
  after(async () => {
    await gateway.close()
    await collector.close()
    await upstream.close()
  })

  const ask = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await gateway.post('/v1/chat/completions', { model: 'm', messages, ...body }, headers)
    await answer.text()
    return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' }
  }
  const of = (id: string) => collector.trace((span) => span.attributes['sluice.request.id'] === id)
  const kinds = (spans: readonly SeenSpan[], kind: SeenSpan['kind']) => spans.filter((span) => span.kind === kind)

  it('have a span of the exchange, and below it one of the call', async () => {
    upstream.answer({ body: chatAnswer })
    const { id } = await ask({ temperature: 0.5, max_tokens: 50, stop: ['x'], n: 1 }, { 'x-session-id': 's-1' })
    const spans = await of(id)
    const [server] = kinds(spans, 'server')
    const [call, ...others] = kinds(spans, 'client')
    expect(spans).to.have.length(2)
    expect(others).to.deep.equal([])
    expect([server?.name, call?.name]).to.deep.equal(['POST /v1/chat/completions', 'chat m-2026'])
    expect([server?.parentSpanId, call?.parentSpanId]).to.deep.equal(['', server?.spanId])
    const { 'sluice.config.version': version, 'sluice.key.id': key, ...attributes } = server?.attributes ?? {}
    expect([version, typeof key]).to.deep.equal([gateway.engine.live.current.version, 'string'])
    const { 'user_agent.original': agent, 'server.port': port, ...rest } = attributes
    expect(agent).to.be.a('string')
    expect(port).to.equal(gateway.engine.address.port)
    expect(rest).to.deep.equal({
      'sluice.request.id': id,
      'sluice.pipeline': 'chat-completions',
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'http.route': '/v1/chat/completions',
      'url.path': '/v1/chat/completions',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'server.address': '127.0.0.1',
      'session.id': 's-1',
      'sluice.protocol': 'chat',
      'sluice.key.name': 'test',
      'sluice.requested': 'm',
      'sluice.served': 'm',
      'sluice.provider': 'far',
      'sluice.tries': 1,
      'sluice.cost.usd': 0.0017,
      'sluice.cost.origin': 'reported',
      'sluice.tag.team': 'blue',
    })
    expect(call?.attributes).to.deep.equal({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'mistral_ai',
      'gen_ai.request.model': 'm-2026',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 50,
      'gen_ai.request.stop_sequences': ['x'],
      'gen_ai.response.model': 'vendor-model',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.cost': 0.0017,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'sluice.provider': 'far',
      'sluice.attempt': 1,
      'sluice.upstream.protocol': 'chat',
      'sluice.lane': 'bytes',
    })
    const [began, ended] = [server?.start ?? 0n, server?.end ?? 0n]
    expect(
      (call?.start ?? 0n) >= began && (call?.end ?? 0n) <= ended && (call?.end ?? 0n) > (call?.start ?? 0n),
    ).to.equal(true)
    expect(Math.abs(Number(began / 1_000_000n) - Date.now())).to.be.below(60_000)
  })

  it('say what was asked for where the neutral form has no such request', async () => {
    const asked = { temperature: 0.5, max_completion_tokens: 50 }
    const numbers = { 'gen_ai.request.temperature': 0.5, 'gen_ai.request.max_tokens': 50 }
    const parametersOf = async (body: object) => {
      upstream.answer({ body: chatAnswer })
      const { id, status } = await ask({ ...asked, ...body })
      expect(status).to.equal(200)
      const [call] = kinds(await of(id), 'client')
      expect(call?.attributes['sluice.lane']).to.equal('bytes')
      return Object.fromEntries(
        Object.entries(call?.attributes ?? {}).filter(
          ([name]) => name.startsWith('gen_ai.request.') && name !== 'gen_ai.request.model',
        ),
      )
    }
    expect(await parametersOf({ n: 2, stop: ['x'], reasoning_effort: 'low' })).to.deep.equal({
      ...numbers,
      'gen_ai.request.choice.count': 2,
      'gen_ai.request.stop_sequences': ['x'],
      'gen_ai.request.reasoning.level': 'low',
    })
    const tool_choice = { type: 'function', function: { name: 'nowhere' } }
    expect(await parametersOf({ tool_choice })).to.deep.equal(numbers)
  })

  it('name the conversation that the client names, and the response that it goes on with', async () => {
    const named = async (path: string, body: object, headers: Record<string, string> = {}) => {
      upstream.answer({ body: chatAnswer })
      const answer = await gateway.post(path, { model: 'm', ...body }, headers)
      expect(answer.status, await answer.clone().text()).to.equal(200)
      await answer.text()
      const [call] = kinds(await of(answer.headers.get('x-request-id') ?? ''), 'client')
      const { attributes = {} } = call ?? {}
      return [attributes['gen_ai.conversation.id'], attributes['gen_ai.request.previous_response.id']]
    }
    const header = { 'x-conversation-id': 'c-header' }
    const chat = { messages, routing: { conversation: 'c-routing' } }
    expect(await named('/v1/chat/completions', { messages })).to.deep.equal([undefined, undefined])
    expect(await named('/v1/chat/completions', { messages }, header)).to.deep.equal(['c-header', undefined])
    expect(await named('/v1/chat/completions', chat, header)).to.deep.equal(['c-routing', undefined])
    const asked = { model: 'm', input: 'Hello?', store: true }
    upstream.answer({ body: chatAnswer })
    const { id } = (await (await gateway.post('/v1/responses', asked)).json()) as { readonly id: string }
    const next = { input: 'And?', previous_response_id: id }
    expect(await named('/v1/responses', next, header)).to.deep.equal(['c-header', id])
  })

  it('go on with the trace of a client, and reach the provider as the span of its call', async () => {
    upstream.answer({ body: chatAnswer })
    const before = upstream.requests.length
    const { id } = await ask({}, { traceparent: traceparent(), tracestate: 'vendor=1,other=a:b' })
    const spans = await of(id)
    const [server] = kinds(spans, 'server')
    const [call] = kinds(spans, 'client')
    expect([server?.traceId, server?.parentSpanId, server?.traceState]).to.deep.equal([
      client.trace,
      client.span,
      'vendor=1,other=a:b',
    ])
    const headers = upstream.requests[before]?.headers ?? {}
    expect(headers['traceparent']).to.equal(`00-${client.trace}-${call?.spanId}-01`)
    expect(headers['tracestate']).to.equal('vendor=1,other=a:b')
  })

  it('of an answer that ends with an error tell it, as the metrics do', async () => {
    const [first = ''] = chatFrames('Hel')
    upstream.answer({ frames: [first, { data: { error: { message: 'No room.', code: 'weird' } } }] })
    const chat = await of((await ask({ stream: true })).id)
    upstream.answer({ frames: messagesBroken })
    const answer = await gateway.post('/v1/messages', { model: 'claude', max_tokens: 5, messages, stream: true })
    expect(await answer.text()).to.include('event: error')
    const claude = await of(answer.headers.get('x-request-id') ?? '')
    for (const spans of [chat, claude]) {
      const [call] = kinds(spans, 'client')
      expect([call?.attributes['error.type'], call?.isError]).to.deep.equal(['upstream_error', true])
      const [server] = kinds(spans, 'server')
      // What a provider says is no word of ours.
      expect(server?.attributes['error.type']).to.be.oneOf(['upstream_error', '_OTHER'])
      expect(server?.isError).to.equal(true)
    }
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    const outcome = 'broken'
    expect(valueIn(text, 'sluice_upstream_requests_total', { provider: 'far', model: 'm', outcome })).to.equal(1)
    expect(valueIn(text, 'sluice_upstream_requests_total', { provider: 'anthropic', outcome })).to.equal(1)
  })

  it('are not exported if the client does not sample, and its flags stay', async () => {
    upstream.answer({ body: chatAnswer })
    const before = upstream.requests.length
    const { id } = await ask({}, { traceparent: traceparent('00') })
    const headers = upstream.requests[before]?.headers ?? {}
    const parts = String(headers['traceparent']).split('-')
    expect([parts[1], parts[3]]).to.deep.equal([client.trace, '00'])
    expect(parts[2]).to.not.equal(client.span)
    upstream.answer({ body: chatAnswer })
    await of((await ask({})).id)
    expect(collector.spans.some((span) => span.attributes['sluice.request.id'] === id)).to.equal(false)
  })

  it('have a span per try, also of one that failed, and their costs are those of the log', async () => {
    upstream.answer(
      { status: 500, body: { error: { message: 'broken' } } },
      { status: 503, body: {} },
      { body: chatAnswer },
    )
    const { id, status } = await ask({ model: 'fallen' })
    expect(status).to.equal(200)
    const spans = await of(id)
    const calls = kinds(spans, 'client').toSorted((a, b) => Number(a.start - b.start))
    expect(calls.map(({ name, isError, attributes }) => [name, isError, attributes['error.type'] ?? ''])).to.deep.equal(
      [
        ['chat fallen-1', true, '500'],
        ['chat m-2026', true, '503'],
        ['chat fallen-1', false, ''],
      ],
    )
    const [server] = kinds(spans, 'server')
    expect(server?.isError).to.equal(false)
    expect(calls.map(({ parentSpanId }) => parentSpanId)).to.deep.equal(calls.map(() => server?.spanId))
    expect(calls.map(({ attributes }) => attributes['sluice.attempt'])).to.deep.equal([1, 2, 3])
    const row = await gateway.row((one) => one.id === id)
    const sum = calls.reduce((all, { attributes }) => all + Number(attributes['gen_ai.usage.cost'] ?? 0), 0)
    expect(sum).to.be.closeTo(Number(row.cost_micros) / 1e6, 1e-9)
  })

  it('of a stream that a provider refuses name it, and have no time of a first part', async () => {
    upstream.answer({ status: 400, body: { error: { message: 'no' } } })
    const { id } = await ask({ stream: true })
    const spans = await of(id)
    const [call] = kinds(spans, 'client')
    // Nobody has served it, and the provider that refused it is named.
    const { 'sluice.served': served, 'sluice.provider': provider } = kinds(spans, 'server')[0]?.attributes ?? {}
    expect([served, provider]).to.deep.equal([undefined, 'far'])
    expect(call?.attributes).to.include({ 'gen_ai.request.stream': true, 'error.type': '400' })
    expect(call?.attributes['gen_ai.response.time_to_first_chunk']).to.equal(undefined)
  })

  it('say how a stream broke, and what of it was estimated', async () => {
    upstream.answer({ frames: chatFrames('Hello', ' there').slice(0, 3), every: 10, ending: 'reset' })
    const { id } = await ask({ stream: true })
    const spans = await of(id)
    const [server] = kinds(spans, 'server')
    const [call] = kinds(spans, 'client')
    expect([server?.isError, call?.isError]).to.deep.equal([true, true])
    expect(server?.attributes['error.type']).to.be.a('string')
    expect(call?.attributes['error.type']).to.be.a('string')
    expect(call?.attributes['gen_ai.request.stream']).to.equal(true)
    expect(call?.attributes['gen_ai.response.time_to_first_chunk']).to.be.above(0)
    const row = await gateway.row((one) => one.id === id)
    expect(row.trace_id).to.equal(call?.traceId)
    const { attributes } = call as SeenSpan
    const tokens = Number(row.input_tokens) + Number(row.cache_read_tokens) + Number(row.cache_write_tokens)
    expect(attributes['gen_ai.usage.input_tokens']).to.equal(tokens)
    expect(attributes['gen_ai.usage.output_tokens']).to.equal(Number(row.output_tokens) + Number(row.reasoning_tokens))
    expect(attributes['gen_ai.usage.cost']).to.be.closeTo(Number(row.cost_micros) / 1e6, 1e-9)
  })

  it('say that a client has left, which is no error of the gateway', async () => {
    upstream.answer({ frames: chatFrames('Hello'), ending: 'hang', every: 20 })
    const leaving = new AbortController()
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages, stream: true }),
      signal: leaving.signal,
    })
    const id = answer.headers.get('x-request-id') ?? ''
    await answer.body?.getReader().read()
    leaving.abort()
    const spans = await of(id)
    const [server] = kinds(spans, 'server')
    const [call] = kinds(spans, 'client')
    expect([server?.attributes['error.type'], server?.isError]).to.deep.equal(['client_closed', false])
    expect(call?.attributes['error.type']).to.equal('client_closed')
  })

  it('take no attribute of the gateway from a header', async () => {
    for (const attribute of ['model', 'error.type', 'llm.model', 'server.address', 'url.path', 'service.name']) {
      const telemetry = { traces: { headers: { [attribute]: 'x-any' } } }
      const problem = await startGateway({ server_config: { telemetry } }).then(
        (running) => running.close().then(() => undefined),
        (error: unknown) => error as Error,
      )
      expect([attribute, problem?.message]).to.satisfy(([, said]: string[]) => said?.includes("the gateway's own"))
    }
  })

  it('have no secret of what a client writes, and cut it', async () => {
    upstream.answer({ body: chatAnswer })
    const { key } = gateway
    const { id } = await ask(
      { stop: [`stop ${key}`, 'x'.repeat(1_000)] },
      { 'x-session-id': `session ${key}`, 'user-agent': `agent ${key}` },
    )
    const spans = await of(id)
    const [server] = kinds(spans, 'server')
    const [call] = kinds(spans, 'client')
    expect(server?.attributes['user_agent.original']).to.match(/^agent /)
    expect(server?.attributes['session.id']).to.match(/^session /)
    const stops = call?.attributes['gen_ai.request.stop_sequences'] as string[]
    expect(stops.map(({ length }) => length <= 256)).to.deep.equal([true, true])
    const path = `/v1beta/models/${key}:generateContent`
    const answer = await gateway.post(path, { contents: [{ parts: [{ text: 'x' }] }] })
    await answer.text()
    const asked = await of(answer.headers.get('x-request-id') ?? '')
    expect(kinds(asked, 'server')[0]?.attributes['url.path']).to.match(/^\/v1beta\/models\//)
    const all = JSON.stringify([...spans, ...asked].map(({ name, attributes }) => [name, attributes]))
    expect(all).to.not.include(key)
  })

  it('have no attribute that makes Langfuse count the span of an exchange, or leaks a secret', async () => {
    for (const { kind, attributes } of collector.spans) {
      if (kind === 'client') continue
      expect(Object.keys(attributes).filter((name) => name.startsWith('gen_ai.') || name === 'model')).to.deep.equal([])
    }
    expect(
      JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).to.not.match(/hush-hush|secret word|sk-test/)
    expect(gateway.lines.join('')).to.not.include('hush-hush')
    const [request] = collector.requests
    expect(request?.headers['x-secret']).to.equal('a b')
    expect(request?.headers['content-type']).to.equal('application/x-protobuf')
    const { 'service.instance.id': instance, 'host.name': host, ...resource } = collector.spans[0]?.resource ?? {}
    expect([instance, host].every((value) => typeof value === 'string' && value !== '')).to.equal(true)
    expect(resource).to.deep.equal({
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.name': 'opentelemetry',
      'telemetry.sdk.version': resource['telemetry.sdk.version'],
      'service.name': 'sluice',
      'service.version': gateway.engine.live.current && resource['service.version'],
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.versions.node,
      'deployment.environment.name': 'test',
      team: 'a b',
    })
  })

  it('make no spans of the admin API, of health and of metrics', async () => {
    const before = collector.spans.length
    for (const path of ['/metrics', '/api/health', '/v1/models'])
      await (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } })).text()
    upstream.answer({ body: chatAnswer })
    await of((await ask({})).id)
    const routes = collector.spans.slice(before).map(({ attributes }) => attributes['http.route'])
    expect(routes.filter((route) => /health|metrics|api/.test(String(route)))).to.deep.equal([])
  })

  it('name the trace in lines of the log about an exchange', async () => {
    upstream.answer({ status: 401, body: { error: { message: 'no' } } })
    const { id } = await ask({})
    await until(() => gateway.lines.some((line) => line.includes(id)))
    const line = JSON.parse(gateway.lines.find((one) => one.includes(id)) ?? '{}') as Record<string, unknown>
    const [server] = kinds(await of(id), 'server')
    expect([line['trace_id'], line['span_id']]).to.deep.equal([server?.traceId, server?.spanId])
  })
})
