import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'
import { addRows, onEachDatabase, rowWith, startLogs } from './rig.ts'
import type { LogsGateway } from './rig.ts'

const further = [
  'times',
  'spans',
  'losses',
  'tries',
  'routing',
  'upstream',
  'error_detail',
  'headers',
  'address',
  'trace_url',
  'config_version',
  'children',
  'charged',
  'feedback',
  'metadata',
  'capture',
]

interface Span extends JsonObject {
  readonly path: string
  readonly attempt: number | null
  readonly duration_ms: number
  readonly at_ms: number
}

describe('GET /api/logs/:id', () => {
  onEachDatabase((settings) => {
    let upstream: ScriptedUpstream
    let gateway: LogsGateway
    before(async () => {
      upstream = await scriptedUpstream()
      const at = { type: 'compatible', base_url: upstream.url, api_key: 'upstream-key' }
      gateway = await startLogs({
        ...(await settings()),
        providers: [
          { name: 'busy', ...at },
          { name: 'free', ...at },
        ],
        models: [
          { name: 'first', provider: 'busy', fallbacks: ['second'] },
          { name: 'second', provider: 'free', pricing: { input: 1, output: 4 } },
        ],
        server_config: { logging: { headers: ['X-Team', 'x-absent'], client_address: true } },
      })
    })
    after(async () => {
      await gateway.close()
      await upstream.close()
    })

    const detailOf = async (id: string, ask = gateway.asAdmin) => {
      const { status, body } = await ask(`GET /api/logs/${id}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return body
    }
    const send = async (body: object, key = gateway.own.text, more: Record<string, string> = {}) => {
      const response = await gateway.post('/v1/chat/completions', body, {
        authorization: `Bearer ${key}`,
        'x-team': 'search sk-canary-0123456789',
        'x-request-id': 'mine',
        ...more,
      })
      await response.text()
      await gateway.engine.flush()
      return response.headers.get('x-request-id') ?? ''
    }
    const messages = [{ role: 'user', content: 'hello' }]

    it('shows a request that a second provider served, with every try and every run of a stage', async () => {
      const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }
      upstream.answer({ status: 503, body: { error: { message: 'Busy.' } } }, { body: { ...chatAnswer, usage } })
      const id = await send({ model: 'first', messages, strange: 1 })
      const shown = await detailOf(id)
      expect(Object.keys(shown).slice(-further.length)).to.deep.equal(further)
      expect(shown).to.deep.include({
        id,
        key: { id: gateway.own.id, name: 'own' },
        member: { id: gateway.viewer.id, username: 'viewer' },
        tags: { team: 'search' },
        requested: 'first',
        model: 'second',
        provider: 'free',
        attempts: 2,
        status: 200,
        result: 'completed',
        usage: { input: 100, cache_read: 0, cache_write: 0, output: 50, reasoning: 0, total: 150 },
        cost: 0.0003,
        reference: 'mine',
        routing: null,
        error_detail: null,
        headers: { 'x-team': 'search sk-[redacted]' },
        address: '127.0.0.1',
        config_version: gateway.engine.live.status.version,
        children: [],
        charged: [],
        feedback: null,
        capture: null,
        upstream: { id: chatAnswer.id, model: chatAnswer.model, stop: 'end' },
      })
      const tries = shown['tries'] as JsonObject[]
      expect(tries.map(({ duration_ms: took, ...one }) => [one, typeof took])).to.deep.equal([
        [{ model: 'first', provider: 'busy', status: 503, error: 'upstream_error' }, 'number'],
        [{ model: 'second', provider: 'free', status: 200, error: null }, 'number'],
      ])
      expect(shown['metadata']).to.include({ pipeline: 'chat-completions' })
      const spans = shown['spans'] as unknown as Span[]
      const calls = spans.filter(({ path }) => path === 'generate/attempt/call')
      expect(calls.map(({ name, attempt, outcome }) => ({ name, attempt, outcome }))).to.deep.equal([
        { name: 'call', attempt: 1, outcome: 'failed' },
        { name: 'call', attempt: 2, outcome: 'ok' },
      ])
      expect(spans[0]).to.include({ path: 'auth', name: 'auth', attempt: null, outcome: 'ok' })
      expect(spans.map(({ path }) => path)).to.include('finally/price')
      for (const [index, span] of spans.entries()) {
        expect(Object.keys(span)).to.deep.equal(['path', 'name', 'at_ms', 'duration_ms', 'attempt', 'outcome'])
        const before = spans[index - 1]
        if (before) expect(span.at_ms).to.be.at.least(before.at_ms)
      }
      const times = shown['times'] as Record<string, number>
      expect(times).to.include.keys('auth', 'parse', 'call', 'upstream')
      const sum = calls.reduce((all, { duration_ms: took }) => all + took, 0)
      expect(times['call']).to.be.closeTo(sum, 0.01)
    })

    it('shows why a request failed, and where', async () => {
      const shown = await detailOf(await send({ model: 'missing', messages }))
      expect(shown).to.deep.include({
        status: 404,
        result: 'refused',
        error: 'model_not_found',
        attempts: 0,
        tries: [],
        upstream: null,
      })
      const { message, at } = shown['error_detail'] as { readonly message: string; readonly at: string }
      expect(message).to.equal('The model "missing" does not exist.')
      expect(at).to.match(/pipelines\/route\.yaml:\d+:\d+ \(resolve\)$/)
      const spans = shown['spans'] as unknown as Span[]
      expect(spans.find(({ path }) => path === 'route/resolve')).to.include({ outcome: 'failed', attempt: null })
    })

    it('shows the trace that it is a part of, and where it is seen', async () => {
      const trace = '0af7651916cd43dd8448eb211c80319c'
      const traced = (parent: string) =>
        send({ model: 'second', messages }, gateway.own.text, { traceparent: `00-${trace}-${parent}-01` })
      const setUrl = (url: string) => gateway.asAdmin('PATCH /api/config/server/telemetry', { traces: { url } })
      upstream.answer({ body: chatAnswer }, { body: chatAnswer }, { body: chatAnswer }, { body: chatAnswer })
      const ids = [await traced('b7ad6b7169203331'), await traced('00f067aa0ba902b7')]
      const [first = ''] = ids
      expect(await detailOf(first)).to.include({ trace_id: trace, trace_url: null })
      for (const [url, message] of [
        ['https://traces.example/trace', 'must contain {trace_id}'],
        ['http://traces.example/{trace_id}', 'must be an address with https, or with http on this machine'],
        ['data:text/html,{trace_id}', 'must be an address with https, or with http on this machine'],
      ] as const) {
        const { status, body } = await setUrl(url)
        expect(status, url).to.equal(422)
        expect(JSON.stringify(body)).to.include(message).and.include('traces.url')
      }
      expect((await setUrl('https://traces.example/trace/{trace_id}?tab=1')).status).to.equal(200)
      expect(await detailOf(first)).to.include({ trace_url: `https://traces.example/trace/${trace}?tab=1` })
      expect((await setUrl('http://127.0.0.1:16686/trace/{trace_id}')).status).to.equal(200)
      expect(await detailOf(first)).to.include({ trace_url: `http://127.0.0.1:16686/trace/${trace}` })
      const alone = [await send({ model: 'second', messages }), await traced('0'.repeat(16))]
      for (const id of alone) expect(await detailOf(id)).to.include({ trace_id: null, trace_url: null })
      expect(await gateway.ids(`?trace_id=${trace}`)).to.have.members(ids)
      expect(await gateway.ids(`?trace_id=${trace.toUpperCase()}`)).to.deep.equal([])
    })

    it('shows losses, children, what was charged, how it was routed, and other notes', async () => {
      const losses = [{ field: 'seed', because: 'there is none' }]
      const charged = [{ bucket: 'key', usd: 0.0015 }]
      const metadata = {
        losses,
        charged,
        routing: { v: 1 },
        times: { call: 1.5 },
        routing_tier: 'SIMPLE',
        units: { images: 1 },
      }
      await addRows(gateway, [
        rowWith('whole', { key_id: gateway.own.id, metadata: JSON.stringify(metadata) }),
        rowWith('child-1', { parent: 'whole', type: 'judge', cost_micros: 20 }),
        rowWith('child-2', { parent: 'whole', type: 'judge', cost_micros: null, at: 1 }),
      ])
      expect(await detailOf('whole')).to.deep.include({
        losses,
        charged,
        routing: { v: 1 },
        times: { call: 1.5 },
        spans: [],
        metadata: { routing_tier: 'SIMPLE', units: { images: 1 } },
        children: [
          { id: 'child-2', type: 'judge', cost: null },
          { id: 'child-1', type: 'judge', cost: 0.00002 },
        ],
        tries: [{ model: 'small', provider: 'acme', status: 200, error: null, duration_ms: 0 }],
      })
    })

    it('is not there for a viewer whose key it was not', async () => {
      await addRows(gateway, [rowWith('strange', { key_id: 'other' }), rowWith('keyless')])
      const missing = (id: string) => ({
        status: 404,
        code: 'not_found',
        message: `There is no request "${id}" in the log.`,
      })
      for (const id of ['strange', 'keyless', 'unknown']) {
        const { status, body, code } = await gateway.asViewer(`GET /api/logs/${id}`)
        const { message } = body['error'] as { readonly message: string }
        expect({ status, code, message }).to.deep.equal(missing(id))
      }
      expect((await gateway.asViewer('GET /api/logs/whole')).status).to.equal(200)
      expect((await gateway.asAdmin('GET /api/logs/unknown')).status).to.equal(404)
      expect(await gateway.asAdmin('GET /api/logs/whole?x=1')).to.include({ status: 422, code: 'unknown_field' })
    })
  })
})
