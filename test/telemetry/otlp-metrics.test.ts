import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { result, speaking } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatFrames, messagesAnswer } from '../service/streams.ts'
import { startCollector } from './collector.ts'
import type { Collector } from './collector.ts'
import { valueIn } from './exposition.ts'

const messages = [{ role: 'user', content: 'Hello' }]

describe('metrics over OTLP', () => {
  let upstream: ScriptedUpstream
  let collector: Collector
  let gateway: AdminGateway | undefined
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    collector = await startCollector()
  })
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    await collector.close()
    await upstream.close()
  })

  const start = async (environment: Record<string, string>) => {
    gateway = await startAdmin({
      environment: { OTEL_BSP_SCHEDULE_DELAY: '1', ...environment },
      providers: [
        { name: 'far', type: 'messages', base_url: upstream.url, api_key: 'k', telemetry_name: 'anthropic' },
        { name: 'near', type: 'echo' },
      ],
      models: [
        { name: 'plain', provider: 'near', upstream_model: 'neutral-1' },
        { name: 'm', provider: 'far', upstream_model: 'm-2026', pricing: { input: 1, output: 2 } },
      ],
      records: { mcp_servers: [{ name: 'docs', transport: 'http', url: `${upstream.url}/docs` }] },
      key_fields: { mcp_servers: ['docs'] },
    })
    return gateway
  }
  const open = () => gateway as AdminGateway
  const ask = async (body: object) => {
    const answer = await open().post('/v1/messages', { model: 'm', max_tokens: 5, messages, ...body })
    await answer.text()
    return answer.status
  }
  /** The newest point of a metric with these attributes. */
  const point = (metric: string, attributes: object = {}) =>
    collector.points.findLast((one) => {
      const wanted = Object.entries(attributes)
      return one.metric === metric && wanted.every(([name, value]) => one.attributes[name] === value)
    })

  it('are those of Prometheus under names with dots, and those of the conventions', async () => {
    await start({
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRIC_EXPORT_INTERVAL: '20',
    })
    const usage = { input_tokens: 5, cache_read_input_tokens: 70, cache_creation_input_tokens: 11, output_tokens: 9 }
    upstream.answer({ body: { ...messagesAnswer, usage } }, { status: 400, body: { type: 'error', error: {} } })
    expect([await ask({}), await ask({})]).to.deep.equal([200, 400])
    const told = { pipeline: 'messages', model: 'm', provider: 'far', code: 'ok' }
    await until(
      () =>
        point('sluice.requests', told)?.value === 1 && point('sluice.requests', { pipeline: 'messages' }) !== undefined,
    )
    await until(() => point('gen_ai.client.inference.duration', { 'error.type': '400' })?.value === 1)
    // What is known only when somebody reads is there without a scrape, too.
    expect(point('sluice.store.up', { store: 'database' })?.value).to.equal(1)
    expect(point('sluice.build.info', { node: process.versions.node })?.value).to.equal(1)
    await until(() => (point('sluice.config.age')?.value ?? 0) > 0)
    const headers = { authorization: `Bearer ${open().admin.token}` }
    const text = await (await fetch(`${open().url}/metrics`, { headers })).text()
    expect(valueIn(text, 'sluice_requests_total', told)).to.equal(1)
    expect(point('sluice.tokens', { model: 'm', type: 'cache_read' })).to.deep.include({ value: 70, unit: '{token}' })
    expect(point('sluice.cost', { model: 'm' })?.unit).to.equal('USD')
    const duration = point('sluice.request.duration', { model: 'm', pipeline: 'messages' })
    expect([duration?.unit, duration?.value]).to.deep.equal(['s', 2])
    expect(duration?.sum).to.be.closeTo(
      valueIn(text, 'sluice_request_duration_seconds_sum', { model: 'm' }) ?? NaN,
      1e-9,
    )
    const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'm' }
    const of = (word: string) => point(`gen_ai.client.inference.usage.${word}`, call)?.value
    expect([
      of('input_tokens'),
      of('output_tokens'),
      of('cache_read.input_tokens'),
      of('cache_write.input_tokens'),
    ]).to.deep.equal([86, 9, 70, 11])
    expect(point('gen_ai.client.inference.duration', { ...call, 'error.type': '400' })?.value).to.equal(1)
    expect(
      collector.points.every(({ attributes }) => Object.values(attributes).every((value) => value !== '')),
    ).to.equal(true)
    expect(point('sluice.requests')?.resource['service.name']).to.equal('sluice')
  })

  it('measure streams and MCP servers', async () => {
    await start({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
      OTEL_METRIC_EXPORT_INTERVAL: '20',
    })
    upstream.answer({ frames: chatFrames('Hello') })
    await ask({ stream: true })
    upstream.answer(speaking(({ id }) => result(id, { isError: true })))
    const post = async (message: object, session = '') => {
      const headers = {
        accept: 'application/json, text/event-stream',
        ...(session === '' ? {} : { 'mcp-session-id': session }),
      }
      const answer = await open().post('/servers/docs/mcp', { jsonrpc: '2.0', ...message }, headers)
      await answer.text()
      return answer.headers.get('mcp-session-id') ?? ''
    }
    const session = await post({ id: 1, method: 'initialize', params: {} })
    await post({ id: 2, method: 'tools/call', params: { name: 'add' } }, session)
    // A server may invent any number, and only those of a table are labels.
    for (const code of [-32_602, -9_007, -8_007]) {
      upstream.answer(
        speaking(({ id }) => ({ body: { jsonrpc: '2.0', id: id as number, error: { code, message: 'no' } } })),
      )
      await post({ id: 10 - code, method: 'tools/call', params: { name: 'add' } }, session)
    }
    for (const side of ['client', 'server'])
      for (const [type, count] of [
        ['tool_error', 1],
        ['-32602', 1],
        ['_OTHER', 2],
      ] as const) {
        const failed = { 'mcp.method.name': 'tools/call', 'error.type': type }
        await until(() => point(`mcp.${side}.operation.duration`, failed)?.value === count)
        await until(() => point('sluice.mcp.requests', { method: 'tools/call', outcome: type })?.value === count)
      }
    expect(JSON.stringify(collector.points.map(({ attributes }) => attributes))).to.not.match(/9007|8007/)
    const neutral = { model: 'plain', max_tokens: 5, messages }
    expect(await ask(neutral)).to.equal(200)
    await until(() => point('gen_ai.client.inference.duration', { 'gen_ai.request.model': 'plain' })?.value === 1)
    // Traces have no endpoint of their own, and so there are none.
    expect(collector.spans).to.deep.equal([])
  })

  it('are not sent because there is an endpoint for traces', async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRIC_EXPORT_INTERVAL: '1' })
    upstream.answer({ body: messagesAnswer })
    expect(await ask({})).to.equal(200)
    await collector.trace(() => true)
    await gateway?.close()
    await start({
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
    })
    // What is sent at all is sent at the end, too.
    await gateway?.close()
    gateway = undefined
    expect(collector.points).to.deep.equal([])
  })

  it('are sent a last time when the gateway stops', async () => {
    await start({
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRIC_EXPORT_INTERVAL: '600000',
    })
    upstream.answer({ body: messagesAnswer })
    expect(await ask({})).to.equal(200)
    await gateway?.close()
    gateway = undefined
    expect(point('sluice.requests', { model: 'm', code: 'ok' })?.value).to.equal(1)
  })
})
