import * as api from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, RandomIdGenerator, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { GatewayMetrics } from '../../plugins/telemetry/gateway-metrics.ts'
import { Registry } from '../../plugins/telemetry/registry.ts'
import { TracedExchanges } from '../../plugins/telemetry/traced-exchanges.ts'
import type { SpanSettings } from '../../plugins/telemetry/traced-exchanges.ts'
import { Tracer } from '../../plugins/telemetry/tracer.ts'

const settings: SpanSettings = {
  stages: false,
  continues: true,
  request: {
    headers: new Map([['session.id', 'x-session']]),
    clientAddress: false,
    door: { scheme: 'http', host: 'localhost', port: 80 },
  },
  propagates: true,
  langfuse: true,
  providers: new Map(),
  scrub: (text) => text,
}

describe('spans of a job that begins before its request is answered', () => {
  it('leave the request what its headers say, and have it, too', () => {
    const spans: ReadableSpan[] = []
    const exporter: SpanExporter = {
      export(ended, done) {
        spans.push(...ended)
        done({ code: 0 })
      },
      shutdown: () => Promise.resolve(),
    }
    const tracer = new Tracer(api, new AlwaysOnSampler(), new RandomIdGenerator(), {
      resource: resourceFromAttributes({}),
      scope: { name: 'test' },
      valueLength: Infinity,
      processors: [new SimpleSpanProcessor({ exporter })],
    })
    const exchanges = new TracedExchanges({ api, tracer, close: () => Promise.resolve() }, settings)
    const ingress = { headers: { 'user-agent': 'a client', 'x-session': 's-1' }, remote: '127.0.0.1' } as never
    // A job has the id of the request that began it.
    const request = { id: 'one', pipeline: 'responses', protocol: 'responses', transport: 'http', method: 'POST' }
    exchanges.begins(request as never)
    const trace = exchanges.contextOf('one', ingress)
    const job = { id: 'one', pipeline: 'responses-background', protocol: 'responses', trace }
    exchanges.begins(job as never)
    exchanges.replies({ scope: { id: 'one' }, slots: { ingress } } as never)
    exchanges.ends(request as never)
    exchanges.ends(job as never)
    const attributesOf = (name: string) => spans.find((span) => span.name === name)?.attributes
    const common = { 'langfuse.trace.name': 'responses', 'langfuse.session.id': 's-1' }
    expect(attributesOf('POST')).to.deep.include({ ...common, 'user_agent.original': 'a client' })
    expect(attributesOf('pipeline responses-background')).to.deep.include(common)
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).to.equal(1)
  })
})

describe('metrics of a job that begins before its request is over', () => {
  it('count both, and the calls of the job', () => {
    const registry = new Registry((_owner, error) => expect.fail(String(error)))
    const metrics = new GatewayMetrics(registry)
    const request = { id: 'one', pipeline: 'responses', protocol: 'responses', transport: 'http' }
    const job = { id: 'one', pipeline: 'responses-background', protocol: 'responses' }
    const call = { exchange: 'one', attempt: 1, provider: 'far', type: 'echo' }
    metrics.begins(request as never)
    metrics.begins(job)
    metrics.ends(Object.assign(request, { result: 'completed', duration: 1 }) as never)
    metrics.called(call)
    metrics.ends(Object.assign(job, { result: 'completed', duration: 1 }) as never)
    const valuesOf = (name: string) =>
      registry
        .told()
        .find((metric) => metric.name === name)
        ?.values.map(({ labels, value }) => [labels['pipeline'], value])
    const both = (value: number) => ['responses', 'responses-background'].map((pipeline) => [pipeline, value])
    expect(valuesOf('sluice_requests_total')).to.deep.equal(both(1))
    expect(valuesOf('sluice_in_flight')).to.deep.equal(both(0))
    expect(valuesOf('sluice_upstream_requests_total')).to.have.length(1)
  })
})
