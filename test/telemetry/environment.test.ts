import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { startServe } from '../engine/cli/process.ts'
import { configuration, sandbox } from '../engine/cli/sandbox.ts'
import { readEnvironment } from '../../plugins/telemetry/environment.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../service/streams.ts'
import { until } from '../support/until.ts'
import { startCollector } from './collector.ts'
import type { Collector } from './collector.ts'

const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
type Environment = Record<string, string>

describe("OpenTelemetry's variables", () => {
  let collector: Collector
  let gateway: AdminGateway | undefined
  beforeEach(async () => void (collector = await startCollector()))
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    await collector.close()
  })

  const start = async (environment: Environment, telemetry: object = {}) =>
    (gateway = await startAdmin({ environment, server_config: { telemetry } }))
  const ask = async () => {
    const answer = await (gateway as AdminGateway).post('/v1/chat/completions', body)
    await answer.text()
    return answer.status
  }
  const quick = () => ({ OTEL_BSP_SCHEDULE_DELAY: '1' })
  /** The error lines about a signal. */
  const errors = (of: string) => {
    const lines = gateway?.lines.map((line) => JSON.parse(line) as Record<string, unknown>) ?? []
    return lines.filter(({ level, signal }) => level === 'error' && signal === of)
  }
  const health = async () =>
    (await (await fetch(`${gateway?.url}/api/health`)).json()) as {
      readonly status: string
      readonly degraded: string[]
    }

  it('that cannot be used are findings with the values that work, and never quote a secret', async () => {
    const here = await sandbox({ 'config/sluice.yaml': configuration })
    try {
      const wrong: Record<string, [string, RegExp]> = {
        OTEL_TRACES_EXPORTER: ['zipkin', /must be otlp, console or none/],
        OTEL_METRICS_EXPORTER: ['console', /must be otlp, prometheus or none/],
        OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', /must be http\/protobuf or http\/json/],
        OTEL_EXPORTER_OTLP_ENDPOINT: ['ftp://there', /must be a URL of http or https/],
        OTEL_EXPORTER_OTLP_HEADERS: ['Basic hush-hush', /must be a list "name=value,name=value"/],
        OTEL_EXPORTER_OTLP_COMPRESSION: ['zstd', /must be gzip or none/],
        OTEL_EXPORTER_OTLP_TIMEOUT: ['soon', /must be a whole number of at least 1/],
        OTEL_EXPORTER_OTLP_CERTIFICATE: ['/nowhere.pem', /there is no such file/],
        OTEL_PROPAGATORS: ['b3', /must be tracecontext, baggage or none/],
        OTEL_TRACES_SAMPLER: ['rate_limited', /must be always_on, parentbased_always_on, /],
        OTEL_TRACES_SAMPLER_ARG: ['7', /must be a number from 0 to 1/],
        OTEL_BSP_MAX_QUEUE_SIZE: ['0', /must be a whole number of at least 1/],
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: [
          'EVENT_ONLY',
          /must be true, span_only, false or no_content/,
        ],
        OTEL_RESOURCE_ATTRIBUTES: ['a=%zz', /must be a list/],
      }
      for (const [variable, [value, says]] of Object.entries(wrong)) {
        const { status, out } = await here.run(['check'], { [variable]: value })
        expect([variable, status]).to.deep.equal([variable, 1])
        const lines = out.filter((line) => line.startsWith(`${variable}:1:1: `) && line.endsWith(' [environment]'))
        expect(lines, out.join('\n')).to.have.length(1)
        expect(lines[0]).to.match(says)
        expect(out.join('\n')).to.not.include('hush-hush')
      }
      const right = {
        OTEL_LOGS_EXPORTER: 'otlp',
        OTEL_PROPAGATORS: 'tracecontext,baggage',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.5',
        OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi',
      }
      const { status, out } = await here.run(['check'], right)
      expect(status).to.equal(0)
      expect(out.filter((line) => line.includes('[environment]'))).to.deep.equal([
        'OTEL_LOGS_EXPORTER:1:1: warning: logs are not exported; none says so [environment]',
      ])
    } finally {
      await here.remove()
    }
  })

  it('turn a signal off that they spoil, while the gateway serves and says so', async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
    expect(await ask()).to.equal(200)
    expect(await health()).to.deep.include({ status: 'degraded', degraded: ['telemetry'] })
    const told = errors('traces')
    expect(told).to.have.length(1)
    expect(told[0]?.['reason']).to.equal('OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json')
    expect(collector.requests).to.deep.equal([])
  })

  it('with a header that could never be sent turn a signal off, and quote nothing of it', async () => {
    for (const value of ['hush-hush%0A', '%E2%82%AChush-hush']) {
      await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: `authorization=${value}` })
      expect(await ask()).to.equal(200)
      expect(await health()).to.deep.include({ status: 'degraded', degraded: ['telemetry'] })
      expect(errors('traces').map(({ reason }) => reason)).to.deep.equal([
        'OTEL_EXPORTER_OTLP_HEADERS must have values that a header may have: one line of Latin-1',
      ])
      expect(gateway?.lines.join('')).to.not.include('hush')
      await gateway?.close()
      gateway = undefined
    }
    expect(collector.requests).to.deep.equal([])
  })

  it('that ask for content in a way that is not known put none on spans, whatever the file says', async () => {
    const asked = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY' }
    await start({ ...quick(), ...asked, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, { traces: { content: 'span' } })
    expect(await ask()).to.equal(200)
    const spans = await collector.trace(({ kind }) => kind === 'client')
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).to.not.match(/Hello|gen_ai\.(input|output)\.mess/)
    const { body: shown } = await (gateway as AdminGateway).asAdmin('GET /api/config/server/telemetry')
    expect(Object.keys(shown['overridden'] as object)).to.deep.equal(['traces.content'])
  })

  it('that name no exporter of metrics turn off what is sent, and leave what is read', async () => {
    await start({ OTEL_METRICS_EXPORTER: 'otlp,prometeus', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: collector.url })
    expect(await health()).to.deep.include({ status: 'degraded', degraded: ['telemetry'] })
    const told = errors('metrics')
    expect(told).to.have.length(1)
    expect(told[0]?.['reason']).to.match(/^OTEL_METRICS_EXPORTER must be otlp, prometheus or none/)
    const headers = { authorization: `Bearer ${gateway?.admin.token}` }
    expect((await fetch(`${gateway?.url}/metrics`, { headers })).status).to.equal(200)
    await gateway?.close()
    gateway = undefined
    expect(collector.requests).to.deep.equal([])
  })

  it('of one signal count instead of those of all, so that a credential goes where it is meant for', async function () {
    this.timeout(300_000)
    const other = await startCollector()
    try {
      await loaded({
        ...quick(),
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_METRIC_EXPORT_INTERVAL: '50',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20for-one,x-common=one',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${other.url}/v1/metrics`,
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-own=other',
      })
      const seen = ({ requests }: Collector) =>
        new Set(
          requests.map(({ headers: { authorization, ...all } }) =>
            [authorization, all['x-common'], all['x-own']].map(String).join(' '),
          ),
        )
      expect([...seen(collector)]).to.deep.equal(['Basic for-one one undefined'])
      expect([...seen(other)]).to.deep.equal(['undefined undefined other'])
    } finally {
      await other.close()
    }
  })

  it('that name a certificate which cannot be read turn their signal off, while the gateway serves', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-certificates-'))
    try {
      for (const [signal, more] of [
        ['traces', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:9' }],
        ['metrics', { OTEL_METRICS_EXPORTER: 'otlp' }],
      ] as const) {
        await start({ ...more, OTEL_EXPORTER_OTLP_CERTIFICATE: folder })
        expect(await ask()).to.equal(200)
        expect(await health()).to.deep.include({ status: 'degraded', degraded: ['telemetry'] })
        const told = errors(signal)
        expect(told).to.have.length(1)
        const reason = 'OTEL_EXPORTER_OTLP_CERTIFICATE names a file that cannot be read (EISDIR)'
        expect(told[0]?.['reason']).to.equal(reason)
        await gateway?.close()
        gateway = undefined
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('that name a certificate which is gone when it is needed turn their signal off, too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-certificates-'))
    const file = join(folder, 'ca.pem')
    try {
      for (const [signal, more] of [
        ['traces', { OTEL_TRACES_EXPORTER: 'otlp' }],
        ['metrics', { OTEL_METRICS_EXPORTER: 'otlp' }],
      ] as const) {
        await writeFile(file, '')
        const environment = { ...more, OTEL_EXPORTER_OTLP_CERTIFICATE: file }
        // The variables are read once, and the file when something is to be sent.
        expect(readEnvironment(environment).broken.size).to.equal(0)
        await rm(file)
        await start(environment)
        expect(await ask()).to.equal(200)
        await until(() => errors(signal).length > 0)
        expect(await health()).to.deep.include({ status: 'degraded', degraded: ['telemetry'] })
        expect(errors(signal)).to.have.length(1)
        await gateway?.close()
        gateway = undefined
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('win over the file, and the admin API says which settings they decide', async () => {
    await start(
      {
        ...quick(),
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
      },
      { traces: { enabled: false, content: 'off' } },
    )
    await ask()
    const [, call] = (await collector.trace(() => true)).toSorted((one, other) => Number(one.start - other.start))
    expect(call?.attributes['gen_ai.output.messages']).to.be.a('string')
    const { body: shown } = await (gateway as AdminGateway).asAdmin('GET /api/config/server/telemetry')
    expect(shown['overridden']).to.deep.equal({
      'traces.enabled': 'OTEL_TRACES_EXPORTER',
      'traces.content': 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
    })
    expect(shown['values']).to.deep.include({ mcp_context: true })
    expect((shown['values'] as { traces: object }).traces).to.deep.include({ enabled: true, content: 'span' })
  })

  it('turn everything off', async () => {
    await start(
      { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { traces: { enabled: true } },
    )
    expect(await ask()).to.equal(200)
    const metrics = await fetch(`${gateway?.url}/metrics`, {
      headers: { authorization: `Bearer ${gateway?.admin.token}` },
    })
    expect(metrics.status).to.equal(404)
    expect(await health()).to.deep.include({ status: 'ok' })
    expect(collector.requests).to.deep.equal([])
  })

  it('may ask for JSON and for compression, and add a path to what stands before it', async () => {
    const behind = await startCollector('/otlp')
    try {
      await start({
        ...quick(),
        OTEL_EXPORTER_OTLP_ENDPOINT: `${behind.url}/`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_SERVICE_NAME: 'gate',
      })
      await ask()
      const spans = await behind.trace(() => true)
      expect(spans.map(({ kind }) => kind).toSorted()).to.deep.equal(['client', 'server'])
      expect(spans[0]?.resource['service.name']).to.equal('gate')
      const [request] = behind.requests
      expect(request?.path).to.equal('/otlp/v1/traces')
      expect(request?.headers['content-type']).to.equal('application/json')
      expect(request?.headers['content-encoding']).to.equal('gzip')
    } finally {
      await behind.close()
    }
  })

  it('cut the values of attributes, unless they say 0', async () => {
    const told = async (limit: string, traceId: string) => {
      const quickly = { ...quick(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
      await start({ ...quickly, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: limit })
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
      const asked = { ...body, stop: ['an end of it'] }
      await (await gateway?.post('/v1/chat/completions', asked, { traceparent }))?.text()
      const spans = await collector.trace((span) => span.traceId === traceId && span.kind === 'client')
      await gateway?.close()
      const call = spans.find(({ kind }) => kind === 'client')
      return ['sluice.provider', 'gen_ai.request.stop_sequences'].map((name) => call?.attributes[name])
    }
    expect(await told('3', '4bf92f3577b34da6a3ce929d0e0e4736')).to.deep.equal(['ech', ['an ']])
    expect(await told('0', '4bf92f3577b34da6a3ce929d0e0e4737')).to.deep.equal(['echo', ['an end of it']])
  })

  it('choose what is sampled, and whether trace context passes', async () => {
    await start({ ...quick(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_off' })
    expect(await ask()).to.equal(200)
    await gateway?.close()
    expect(collector.requests).to.deep.equal([])
    await start({ ...quick(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_PROPAGATORS: 'none' })
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await (await gateway?.post('/v1/chat/completions', body, { traceparent }))?.text()
    const spans = await collector.trace(({ kind }) => kind === 'server')
    expect(spans.some(({ traceId }) => traceparent.includes(traceId))).to.equal(false)
  })

  it('that let no trace context pass leave the trace in rows of the log', async () => {
    const upstream = await scriptedUpstream()
    try {
      gateway = await startAdmin({
        environment: { ...quick(), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_PROPAGATORS: 'none' },
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
        models: [{ name: 'echo', provider: 'far' }],
      })
      upstream.answer({ body: chatAnswer })
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      await (await gateway.post('/v1/chat/completions', body, { traceparent })).text()
      const spans = await collector.trace(({ kind }) => kind === 'server')
      const [row] = await gateway.rows()
      expect(row?.['trace_id']).to.equal(spans[0]?.traceId)
      expect(upstream.requests.at(-1)?.headers).to.not.have.property('traceparent')
    } finally {
      await upstream.close()
    }
  })

  it('that are not there leave no module of the SDK loaded, and those that are load it', async function () {
    this.timeout(300_000)
    expect(await loaded({})).to.deep.equal({ atStart: [], later: [] })
    const { atStart: some } = await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...quick() })
    expect(some.some((url) => url.includes('/sdk-trace/'))).to.equal(true)
    expect(some.some((url) => url.includes('/exporter-trace-otlp-http/'))).to.equal(false)
  })

  it('have all modules loaded before the gateway listens, so that the first request waits for none', async function () {
    this.timeout(300_000)
    const { atStart, later } = await loaded({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    })
    expect(atStart.some((url) => url.includes('/exporter-trace-otlp-proto/'))).to.equal(true)
    expect(later).to.deep.equal([])
  })

  /** The modules of OpenTelemetry that a gateway loads before its first request, and from then on until it has ended. */
  async function loaded(environment: Environment): Promise<Record<'atStart' | 'later', readonly string[]>> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-modules-'))
    const watcher = `
      import { subscribe } from 'node:diagnostics_channel'
      import { registerHooks } from 'node:module'
      subscribe('http.server.request.start', () => process.stderr.write('asked\\n'))
      registerHooks({ load: (url, context, next) => {
        if (url.includes('/@opentelemetry/')) process.stderr.write('loaded ' + url + '\\n')
        return next(url, context)
      } })`
    await writeFile(join(folder, 'watch.mjs'), watcher)
    const key = 'sk-scraper-0123456789abcdef0123456789abcdef'
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0 },
        database: { url: `sqlite:${join(folder, 'sluice.db')}` },
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
        api_keys: [{ name: 'scraper', key, metrics: true }],
      }),
    )
    const own = { SLUICE_SECRET: 'secret-of-the-test-0123456789', ...environment }
    const serving = startServe(
      folder,
      { ...own, NODE_OPTIONS: `--import ${pathToFileURL(join(folder, 'watch.mjs')).href}` },
      '--config',
      'sluice.yaml',
      '--json',
      '--no-watch',
    )
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      const { url } = Object.assign({}, ...serving.out.map((line) => JSON.parse(line) as object)) as { url: string }
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }
      const asked = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
      expect([asked.status, (await asked.text()) !== '']).to.deep.equal([200, true])
      const scraped = await fetch(`${url}/metrics`, { headers })
      expect(await scraped.text()).to.include('sluice_requests_total')
      serving.signal('SIGTERM')
      await serving.ended
      if (environment['OTEL_EXPORTER_OTLP_ENDPOINT']) await until(() => collector.spans.length > 0)
      const asks = serving.error.indexOf('asked')
      expect(asks).to.be.at.least(0)
      const urls = (lines: readonly string[]) => lines.filter((line) => line.startsWith('loaded '))
      const later = urls(serving.error.slice(asks))
      // prom-client itself loads the API of OpenTelemetry, with the first scrape.
      return {
        atStart: urls(serving.error.slice(0, asks)),
        later: later.filter((url) => !url.includes('/@opentelemetry/api/')),
      }
    } finally {
      await serving.remove()
      await rm(folder, { recursive: true, force: true })
    }
  }
})
