import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { says, startBackground } from '../service/background.ts'
import { chatAnswer, messagesAnswer } from '../service/streams.ts'
import { startCollector } from './collector.ts'
import type { Collector, SeenSpan, Value } from './collector.ts'

/** What Langfuse makes of a span (langfuse/langfuse, `packages/shared/src/server/otel/`). */
interface Observation {
  readonly type: 'GENERATION' | 'EMBEDDING' | 'TOOL' | 'SPAN'
  readonly usage: Readonly<Record<string, number>>
  readonly cost: number | undefined
  readonly trace: Readonly<Record<string, Value | undefined>>
}

const generations = new Set(['chat', 'completion', 'text_completion', 'generate_content', 'generate'])
const models = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name', 'model']
const own = { 'cache_read.input_tokens': 'input_cached_tokens', 'cache_write.input_tokens': 'input_cache_creation' }

function typeOf(attributes: SeenSpan['attributes']): Observation['type'] {
  const operation = String(attributes['gen_ai.operation.name'])
  if (generations.has(operation)) return 'GENERATION'
  if (operation === 'embeddings') return 'EMBEDDING'
  if (operation === 'execute_tool' || attributes['gen_ai.tool.name'] !== undefined) return 'TOOL'
  return models.some((name) => attributes[name] !== undefined) ? 'GENERATION' : 'SPAN'
}

/** Input contains what was read from, and written to, a cache: each is taken off and stands for itself. */
function usageOf(attributes: SeenSpan['attributes']): Record<string, number> {
  const prefix = 'gen_ai.usage.'
  const usage: Record<string, number> = {}
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith(prefix) && name !== `${prefix}cost`) {
      const word = name.slice(prefix.length)
      const known = { ...own, input_tokens: 'input', output_tokens: 'output' }[word] ?? word
      usage[known] = Number(value)
    }
  const cached = (usage['input_cached_tokens'] ?? 0) + (usage['input_cache_creation'] ?? 0)
  return usage['input'] === undefined ? usage : { ...usage, input: usage['input'] - cached }
}

function observed({ attributes }: SeenSpan): Observation {
  const cost = attributes['gen_ai.usage.cost']
  const names = ['langfuse.trace.name', 'langfuse.trace.tags', 'langfuse.session.id', 'langfuse.user.id']
  return {
    type: typeOf(attributes),
    usage: usageOf(attributes),
    cost: cost === undefined ? undefined : Number(cost),
    trace: Object.fromEntries(names.map((name) => [name, attributes[name]])),
  }
}

/** As its tables add them up: every key that contains the word. */
function sumOf(observations: readonly Observation[], word: string): number {
  const counts = observations.flatMap(({ usage }) => Object.entries(usage).filter(([name]) => name.includes(word)))
  return counts.reduce((sum, [, count]) => sum + count, 0)
}

describe('Langfuse', () => {
  let upstream: ScriptedUpstream
  let langfuse: Collector
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    langfuse = await startCollector('/api/public/otel')
    gateway = await startGateway({
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: langfuse.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20cGs6c2s%3D',
        OTEL_BSP_SCHEDULE_DELAY: '1',
      },
      server_config: {
        resilience: { retries: { wait: '1ms' } },
        telemetry: { traces: { headers: { 'session.id': 'x-session-id', 'user.id': 'x-user-id' } } },
      },
      providers: [{ name: 'far', type: 'messages', base_url: upstream.url, api_key: 'k' }],
      models: ['one', 'two'].map((name) => ({
        name,
        provider: 'far',
        pricing: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
        fallbacks: ['two'].filter((other) => other !== name),
      })),
      key_fields: { tags: { team: 'blue' } },
    })
  })
  after(async () => {
    await gateway.close()
    await langfuse.close()
    await upstream.close()
  })

  it('counts one generation per call of a provider, and the tokens and the cost of the log', async () => {
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 2_000,
      cache_creation_input_tokens: 300,
      output_tokens: 50,
    }
    upstream.answer({ status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } } })
    upstream.answer({ status: 529, body: {} }, { body: { ...messagesAnswer, usage } })
    const answer = await gateway.post(
      '/v1/messages',
      { model: 'one', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] },
      { 'x-session-id': 's-7', 'x-user-id': 'u-3' },
    )
    expect(answer.status, await answer.text()).to.equal(200)
    const id = answer.headers.get('x-request-id') ?? ''
    const observations = (await langfuse.trace(({ attributes }) => attributes['sluice.request.id'] === id)).map(
      observed,
    )
    const calls = observations.filter(({ type }) => type === 'GENERATION')
    const row = await gateway.row((one) => one.id === id)
    expect(calls).to.have.length(row.attempts)
    expect(observations.filter(({ type }) => type === 'SPAN')).to.have.length(1)
    expect(observations).to.have.length(row.attempts + 1)
    expect(sumOf(observations, 'input')).to.equal(
      Number(row.input_tokens) + Number(row.cache_read_tokens) + Number(row.cache_write_tokens),
    )
    expect(sumOf(observations, 'output')).to.equal(Number(row.output_tokens) + Number(row.reasoning_tokens))
    const cost = calls.reduce((sum, call) => sum + (call.cost ?? 0), 0)
    expect(cost).to.be.closeTo(Number(row.cost_micros) / 1e6, 1e-9)
    expect(cost).to.be.above(0)
    for (const { trace } of observations)
      expect(trace).to.deep.equal({
        'langfuse.trace.name': 'messages',
        'langfuse.trace.tags': ['team:blue'],
        'langfuse.session.id': 's-7',
        'langfuse.user.id': 'u-3',
      })
    const [request] = langfuse.requests
    expect([request?.path, request?.headers['authorization']]).to.deep.equal([
      '/api/public/otel/v1/traces',
      'Basic cGs6c2s=',
    ])
  })
})

describe('Langfuse, of all that an exchange does', () => {
  let upstream: ScriptedUpstream
  let langfuse: Collector
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    langfuse = await startCollector('/api/public/otel')
  })
  afterEach(async () => {
    await langfuse.close()
    await upstream.close()
  })

  const mapped = {
    telemetry: { traces: { stages: 'all', headers: { 'session.id': 'x-session', 'user.id': 'x-user' } } },
  }
  const traceOf = (pipeline: string) => ({
    'langfuse.trace.name': pipeline,
    'langfuse.trace.tags': ['team:blue'],
    'langfuse.session.id': 's-8',
    'langfuse.user.id': 'u-4',
  })
  const about = { 'x-session': 's-8', 'x-user': 'u-4' }
  const common = () => ({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: langfuse.url, OTEL_BSP_SCHEDULE_DELAY: '1' },
    server_config: mapped,
    key_fields: { tags: { team: 'blue' } },
  })

  it('knows the trace of every span: of stages, of other rooms, and of what an exchange began', async () => {
    const judge = join(import.meta.dirname, '..', 'seams', 'judge')
    const pipelines = await copyPipelines(join(judge, 'pipelines'))
    await pipelines.edit('acme-judged.yaml', '  - parse\n', '  - parse\n  - acme-work\n')
    const own = await startGateway({
      ...common(),
      plugins: [join(judge, 'plugin.ts'), join(import.meta.dirname, 'working', 'plugin.ts')],
      pipelines: pipelines.folder,
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'k' }],
      models: ['m', 'judge'].map((name) => ({ name, provider: 'far' })),
    })
    try {
      upstream.answer(says('chat', 'yes'), { body: chatAnswer })
      const messages = [{ role: 'user', content: 'Hello' }]
      const answer = await own.post('/judged', { model: 'm', messages }, about)
      expect(answer.status, await answer.text()).to.equal(200)
      const id = answer.headers.get('x-request-id') ?? ''
      const spans = await langfuse.trace(({ attributes }) => attributes['sluice.request.id'] === id)
      expect(spans.map(({ name }) => name)).to.include.members([
        'POST /judged',
        'pipeline acme-jury',
        'acme work',
        'chat judge',
        'chat m',
        'parse',
      ])
      for (const span of spans) expect(observed(span).trace, span.name).to.deep.equal(traceOf('acme-judged'))
      // It was ended twice while it waited.
      expect(spans.filter(({ name }) => name === 'acme work')).to.have.length(1)
      expect(spans.find(({ name }) => name === 'acme work')?.attributes['acme.done']).to.equal(true)
      // What waited for the end of the request has ended when it did.
      const server = spans.find(({ kind }) => kind === 'server') as SeenSpan
      for (const { name, end } of spans) expect(end <= server.end, name).to.equal(true)
    } finally {
      await own.close()
      await pipelines.remove()
    }
  })

  it('knows the trace of a job, which any process may run', async function () {
    const store = await redis(this)
    const own = await startBackground(upstream, store.url, common())
    try {
      upstream.answer(says('chat', 'Well.'))
      const answer = await own.post('/v1/responses', { model: 'chat', input: 'Hello?', background: true }, about)
      expect(answer.status, await answer.text()).to.equal(200)
      const all = ['POST /v1/responses', 'pipeline responses-background', 'chat chat-2026']
      await until(() => all.every((one) => langfuse.spans.some(({ name }) => name === one)))
      const { traceId } = langfuse.spans.find(({ name }) => name === all[1]) as SeenSpan
      const spans = langfuse.spans.filter((span) => span.traceId === traceId)
      expect(spans.map(({ name }) => name)).to.include.members(all)
      for (const span of spans) expect(observed(span).trace, span.name).to.deep.equal(traceOf('responses'))
      // A provider is told of the trace, and of nothing else.
      const { headers } = upstream.requests.at(-1) ?? {}
      expect(headers?.['traceparent']).to.include(traceId)
      expect(JSON.stringify(headers)).not.to.match(/langfuse|s-8|u-4/)
    } finally {
      await own.close()
      await store.stop()
    }
  })
})
