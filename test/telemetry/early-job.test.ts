import * as api from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, RandomIdGenerator, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
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
