import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { startRig } from '../realtime/rig.ts'
import { startAdmin, viewOf } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import { result, speaking, startMcp } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames } from '../service/streams.ts'
import { seriesIn, valueIn } from './exposition.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const scraper = 'sk-scraper-0123456789abcdef0123456789abcdef'
const rated = 'sk-rated-0123456789abcdef0123456789abcdef'

describe('metrics', () => {
  let upstream: ScriptedUpstream
  let gateway: AdminGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startAdmin({
      server_config: {
        resilience: { retries: { wait: '1ms' }, breaker: { failures: 2 } },
        telemetry: { metrics: { labels: ['key', 'member', 'tag:team'], max_series: 3 } },
      },
      providers: [
        { name: 'far', type: 'compatible', base_url: upstream.url },
        { name: 'near', type: 'echo' },
      ],
      models: [
        { name: 'm', provider: 'far', upstream_model: 'm-2026', pricing: { input: 100, output: 200 } },
        { name: 'unpriced', provider: 'far', fallbacks: ['spare'] },
        { name: 'spare', provider: 'near', pricing: { input: 1, output: 1 } },
        { name: 'far/*', provider: 'far', upstream_model: '*' },
      ],
      key_fields: { tags: { team: 'blue' } },
      api_keys: [
        { name: 'scraper', key: scraper, metrics: true },
        { name: 'rated', key: rated, rate_limit: { requests: 1, period: '30d' } },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    performance.now = now
    await upstream.close()
  })

  const read = (headers: Record<string, string> = { authorization: `Bearer ${scraper}` }) =>
    fetch(`${gateway.url}/metrics`, { headers })
  const scrape = async () => (await read()).text()
  const value = async (name: string, labels: Record<string, string> = {}) => valueIn(await scrape(), name, labels)
  const ask = async (model: string, more: object = {}, headers: Record<string, string> = {}) => {
    const answer = await gateway.post('/v1/chat/completions', { model, messages, ...more }, headers)
    await answer.text()
    return answer.status
  }
  /** Asks the model `m` with a key. */
  const askWith = (key: string) => {
    upstream.answer({ body: chatAnswer })
    return ask('m', {}, { authorization: `Bearer ${key}` })
  }
  const keyWith = async (fields: object) => {
    const { body } = await gateway.asAdmin('POST /api/api-keys', fields)
    return body as unknown as { readonly id: string; readonly key: string }
  }

  it('are read by sessions and by API keys that may, and by nobody else', async () => {
    const { status, headers } = await read()
    expect(status).to.equal(200)
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect((await read({ authorization: `Bearer ${gateway.viewer.token}` })).status).to.equal(200)
    expect((await read({ authorization: `Bearer ${gateway.key}` })).status).to.equal(403)
    expect((await read({ authorization: 'Bearer sk-nobody' })).status).to.equal(401)
    expect((await read({})).status).to.equal(401)
  })

  it('are read by a key that an admin makes for it', async () => {
    const made = await gateway.asAdmin('POST /api/api-keys', { name: 'made-to-read', metrics: true })
    expect([made.status, made.body['metrics']]).to.deep.equal([201, true])
    const headers = { authorization: `Bearer ${made.body['key'] as string}` }
    expect((await read(headers)).status).to.equal(200)
    const changed = await gateway.asAdmin(`PATCH /api/api-keys/${made.body['id'] as string}`, { metrics: false })
    expect(changed.body['metrics']).to.equal(undefined)
    expect((await read(headers)).status).to.equal(403)
  })

  it('each have a meaning and a type, also before anything happened', async () => {
    const text = await scrape()
    for (const name of [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, found]) => found))
      expect(text).to.match(new RegExp(`^# HELP ${name} \\S`, 'm'))
    for (const name of [
      'sluice_requests_total',
      'sluice_breaker_state',
      'process_cpu_seconds_total',
      'nodejs_version_info',
    ])
      expect(text).to.include(`# TYPE ${name} `)
    expect(valueIn(text, 'sluice_workers')).to.equal(1)
    expect(valueIn(text, 'sluice_config_reloads_total', { result: 'refused' })).to.equal(0)
    expect(valueIn(text, 'sluice_limit_rejections_total', { holder: 'key', kind: 'budget' })).to.equal(0)
    expect(valueIn(text, 'sluice_store_up', { store: 'database' })).to.equal(1)
    expect(valueIn(text, 'sluice_build_info', { node: process.versions.node })).to.equal(1)
    expect(valueIn(text, 'sluice_config_info', { version: gateway.engine.live.current.version })).to.equal(1)
    expect(valueIn(text, 'process_start_time_seconds')).to.be.above(1_700_000_000)
  })

  it('count what a request took, cost and came to, with the labels that were asked for', async () => {
    upstream.answer({ body: chatAnswer })
    expect(await ask('m')).to.equal(200)
    const of = { model: 'm', provider: 'far' }
    const further = { key: 'test', tag_team: 'blue' }
    const told = { pipeline: 'chat-completions', protocol: 'chat', code: 'ok', stream: 'false' }
    await until(async () => (await value('sluice_requests_total', { ...of, ...told, ...further })) === 1)
    const text = await scrape()
    expect(valueIn(text, 'sluice_tokens_total', { ...of, ...further, type: 'input' })).to.equal(9)
    expect(valueIn(text, 'sluice_tokens_total', { ...of, ...further, type: 'output' })).to.equal(4)
    expect(valueIn(text, 'sluice_tokens_total', { ...of, type: 'reasoning' })).to.equal(undefined)
    expect(valueIn(text, 'sluice_cost_usd_total', { ...of, ...further, origin: 'reported' })).to.be.closeTo(
      0.0017,
      1e-9,
    )
    const { pipeline, stream } = told
    expect(valueIn(text, 'sluice_request_duration_seconds_count', { ...of, pipeline, stream })).to.equal(1)
    expect(valueIn(text, 'sluice_request_duration_seconds_bucket', { ...of, pipeline, stream, le: '+Inf' })).to.equal(1)
    const seconds = (name: string) =>
      valueIn(text, `${name}_sum`, name === 'sluice_overhead_seconds' ? { pipeline } : of) ?? NaN
    expect(valueIn(text, 'sluice_overhead_seconds_count', { pipeline })).to.equal(1)
    expect(seconds('sluice_overhead_seconds') + seconds('sluice_upstream_first_byte_seconds')).to.be.at.most(
      seconds('sluice_request_duration_seconds') + 1e-9,
    )
    expect(valueIn(text, 'sluice_in_flight', { pipeline })).to.equal(0)
    expect(valueIn(text, 'sluice_upstream_requests_total', { ...of, outcome: 'ok' })).to.equal(1)
    expect(valueIn(text, 'sluice_upstream_first_byte_seconds_count', of)).to.equal(1)
  })

  it('tell when the first content of a stream came, and how fast the rest', async () => {
    upstream.answer({ frames: chatFrames('Hel', 'lo') })
    await ask('m', { stream: true })
    const of = { model: 'm', provider: 'far' }
    await until(async () => (await value('sluice_requests_total', { ...of, stream: 'true', code: 'ok' })) === 1)
    const text = await scrape()
    expect(valueIn(text, 'sluice_time_to_first_token_seconds_count', { ...of, protocol: 'chat' })).to.equal(1)
    expect(valueIn(text, 'sluice_time_to_first_token_seconds_sum', of)).to.be.above(0)
    expect(valueIn(text, 'sluice_time_per_output_token_seconds_count', of)).to.equal(1)
  })

  it('name no code that a provider invents', async () => {
    const failure = { data: { error: { code: 'req_7f3a', message: 'broke' } } }
    upstream.answer({ frames: [...chatFrames('Hel').slice(0, 2), failure] })
    await ask('m', { stream: true })
    await until(async () => (await value('sluice_requests_total', { model: 'm', code: 'other' })) === 1)
    expect(await scrape()).not.to.include('req_7f3a')
  })

  it('count requests of unknown price, not a price of nothing', async () => {
    upstream.answer({ body: chatAnswer })
    await ask('unpriced')
    const of = { model: 'unpriced', provider: 'far' }
    await until(async () => (await value('sluice_cost_unknown_total', of)) === 1)
    expect(await value('sluice_cost_usd_total', of)).to.equal(undefined)
  })

  it('tell each call of a provider by how it ended, and the breaker that they open', async () => {
    const of = { model: 'm', provider: 'far' }
    const calls = async (outcome: string) => (await value('sluice_upstream_requests_total', { ...of, outcome })) ?? 0
    upstream.answer({ status: 422, body: { error: { message: 'not like this' } } })
    await ask('m')
    await until(async () => (await calls('http_422')) === 1)
    await until(async () => (await value('sluice_requests_total', { ...of, code: 'upstream_rejected' })) === 1)
    upstream.answer({ raw: '', ending: 'close' })
    await ask('m')
    await until(async () => (await calls('connect')) > 0)
    await until(async () => ((await value('sluice_retries_total', { ...of, reason: 'connect' })) ?? 0) > 0)
    const text = await scrape()
    expect(valueIn(text, 'sluice_breaker_state', { provider: 'far' })).to.equal(2)
    expect(valueIn(text, 'sluice_breaker_transitions_total', { provider: 'far', to: 'open' })).to.equal(1)
    expect((await gateway.asAdmin('POST /api/config/circuit-breaker/far/reset')).status).to.equal(200)
    expect(await value('sluice_breaker_state', { provider: 'far' })).to.equal(0)
  })

  it('count tries at the same place and at another one, by what had failed', async () => {
    upstream.answer({ status: 503, body: { error: { message: 'no room' } } })
    expect(await ask('unpriced')).to.equal(200)
    const failed = { model: 'unpriced', provider: 'far', reason: 'http_5xx' }
    await until(async () => (await value('sluice_fallbacks_total', failed)) === 1)
    expect(await value('sluice_requests_total', { model: 'spare', provider: 'near', code: 'ok' })).to.equal(1)
    await gateway.asAdmin('POST /api/config/circuit-breaker/far/reset')
  })

  it('count what a limit has refused, by whose it is', async () => {
    upstream.answer({ body: chatAnswer })
    const headers = { authorization: `Bearer ${rated}` }
    const statuses = []
    for (let sent = 0; sent < 2; sent++)
      statuses.push((await gateway.post('/v1/chat/completions', { model: 'm', messages }, headers)).status)
    expect(statuses).to.deep.equal([200, 429])
    expect(await value('sluice_limit_rejections_total', { holder: 'key', kind: 'requests' })).to.equal(1)
  })

  it('have no series for names that clients invent, however many', async () => {
    upstream.answer({ body: chatAnswer })
    await ask('nothing-of-the-kind')
    await ask('far/first')
    await until(async () => (await value('sluice_requests_total', { model: 'far/*', code: 'ok' })) === 1)
    const series = async () => (await scrape()).split('\n').filter((line) => line.startsWith('sluice_')).length
    const before = await series()
    for (let at = 0; at < 50; at++) {
      upstream.answer({ body: chatAnswer })
      expect(await ask(`invented-${at}`)).to.equal(404)
      expect(await ask(`far/invented-${at}`)).to.equal(200)
    }
    await until(async () => (await value('sluice_requests_total', { model: 'far/*', code: 'ok' })) === 51)
    expect(await value('sluice_requests_total', { model: 'unknown', code: 'model_not_found' })).to.equal(51)
    expect(await series()).to.equal(before)
  })

  it('have no more values of a further label than the settings allow', async () => {
    for (const name of ['one', 'two', 'three']) await askWith((await keyWith({ name })).key)
    await until(async () => (await value('sluice_requests_total', { model: 'm', key: 'other', code: 'ok' })) === 2)
    expect(await value('sluice_requests_total', { model: 'm', key: 'one', code: 'ok' })).to.equal(1)
  })

  it('have none of a deleted key within an hour, and room for another value', async () => {
    const keys = (await gateway.asAdmin('GET /api/api-keys?limit=100')).body['data'] as { id: string; name: string }[]
    const idOf = (name: string) => keys.find((one) => one.name === name)?.id ?? ''
    const counted = (key: string) => value('sluice_requests_total', { model: 'm', key, code: 'ok' })
    expect((await gateway.asAdmin(`DELETE /api/api-keys/${idOf('one')}`)).status).to.equal(204)
    later(0)
    expect(await counted('one')).to.equal(1)
    later(56)
    expect(await counted('one')).to.equal(undefined)
    // What goes on has its series, and what was beyond the most gets one of its own.
    expect(await counted('other')).to.equal(2)
    const { body } = await gateway.asAdmin(`POST /api/api-keys/${idOf('two')}/rotate`, {})
    await askWith(body['key'] as string)
    await until(async () => (await counted('two')) === 1)
    // Whoever comes back under a name that was gone is counted again, from nothing.
    expect((await gateway.asAdmin(`DELETE /api/api-keys/${idOf('two')}`)).status).to.equal(204)
    later(0)
    later(56)
    expect(await counted('two')).to.equal(undefined)
    await askWith((await keyWith({ name: 'two' })).key)
    await until(async () => (await counted('two')) === 1)
  })

  it('have none of a tag that no key has any more, and none of a member who is gone', async () => {
    const counted = (labels: Record<string, string>) => value('sluice_requests_total', { model: 'm', ...labels })
    const { id: member } = await gateway.addMember({ username: 'leaving' })
    const owned = await keyWith({ name: 'owned', owner: member })
    const tagged = await keyWith({ name: 'tagged', tags: { team: 'red' } })
    for (const { key } of [owned, tagged, gateway]) expect(await askWith(key)).to.equal(200)
    await until(async () => ((await counted({ tag_team: 'blue' })) ?? 0) > 0)
    const all = [{ member }, { tag_team: 'red' }]
    await until(async () => (await Promise.all(all.map(counted))).every((count) => count === 1))
    expect((await gateway.asAdmin(`DELETE /api/team/members/${member}`)).status).to.equal(204)
    expect((await gateway.asAdmin(`PATCH /api/api-keys/${tagged.id}`, { tags: null })).status).to.equal(200)
    later(0)
    expect(await Promise.all(all.map(counted))).to.deep.equal([1, 1])
    later(56)
    expect(await Promise.all(all.map(counted))).to.deep.equal([undefined, undefined])
    expect(await counted({ tag_team: 'blue' })).to.be.above(0)
  })

  const now = performance.now.bind(performance)
  let passed = 0
  /** Lets so many minutes pass, which no test waits for, and looks at what is there. */
  const later = (minutes: number) => {
    // Between two looks there are at least ten seconds.
    passed += minutes * 60_000 + 20_000
    performance.now = () => now() + passed
    viewOf(gateway.engine, 'metrics').told()
  }

  it('tell rows of the log, and whether a configuration was taken', async () => {
    expect((await gateway.asAdmin('POST /api/config/reload', {})).status).to.equal(200)
    expect((await gateway.asAdmin('PATCH /api/config/server/logging', { retention: '40d' })).status).to.equal(200)
    expect(await value('sluice_config_info')).to.equal(1)
    await until(async () => ((await value('sluice_config_reloads_total', { result: 'live' })) ?? 0) > 0)
    await gateway.engine.flush()
    expect(await value('sluice_log_rows_total', { outcome: 'written' })).to.equal((await gateway.rows()).length)
    expect(await value('sluice_log_rows_total', { outcome: 'lost' })).to.equal(0)
  })
})

describe('metrics of', () => {
  const open = { telemetry: { metrics: { access: 'open' } } }
  const scrape = async (url: string) => (await fetch(`${url}/metrics`)).text()

  it('models that are chosen tell what they cost, and what the baseline would have', async () => {
    const upstream = await scriptedUpstream()
    const model = { provider: 'far', auto_eligible: true, context_length: 100_000, routing_assignments: ['auto'] }
    const gateway = await startGateway({
      server_config: { ...open, smart_routing: { enabled: true, baseline_model: 'dear', graceful_degradation: true } },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [
        { ...model, name: 'cheap', quality_tier: 'economy', pricing: { input: 1, output: 1 } },
        { ...model, name: 'dear', quality_tier: 'premium', pricing: { input: 100, output: 100 } },
      ],
    })
    try {
      upstream.answer({ body: chatAnswer })
      await (await gateway.post('/v1/chat/completions', { model: 'auto', messages })).text()
      const tier = { tier: 'SIMPLE' }
      let text = ''
      await until(async () => {
        text = await scrape(gateway.url)
        return valueIn(text, 'sluice_routing_baseline_usd_total', tier) !== undefined
      })
      expect(valueIn(text, 'sluice_routing_cost_usd_total', tier)).to.be.closeTo(0.000013, 1e-9)
      expect(valueIn(text, 'sluice_routing_baseline_usd_total', tier)).to.be.closeTo(0.0013, 1e-9)
      const kept = { ...tier, model: 'cheap', mode: 'auto', degraded: 'false' }
      expect(valueIn(text, 'sluice_routing_decisions_total', kept)).to.equal(1)
      expect(valueIn(text, 'sluice_routing_decisions_total')).to.equal(1)
      // No model is assigned to this mode.
      await (await gateway.post('/v1/chat/completions', { model: 'fast', messages })).text()
      const relaxed = { ...tier, mode: 'fast', degraded: 'true' }
      text = await scrape(gateway.url)
      expect(valueIn(text, 'sluice_routing_decisions_total', relaxed)).to.equal(1)
      expect(valueIn(text, 'sluice_routing_decisions_total')).to.equal(2)
    } finally {
      await gateway.close()
      await upstream.close()
    }
  })

  it('MCP servers tell each message by its method, and are no calls of providers', async () => {
    const rig = await startMcp({}, { server_config: open })
    try {
      rig.upstream.answer(speaking(({ id }) => result(id, { content: [] })))
      const session = await rig.open()
      expect(valueIn(await scrape(rig.gateway.url), 'sluice_mcp_sessions', { server: 'docs' })).to.equal(1)
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'dig', arguments: {} } }
      expect((await rig.post(call, { session })).status).to.equal(200)
      expect((await rig.post({ jsonrpc: '2.0', id: 2, method: 'no/such' }, { session })).status).to.equal(200)
      let text = ''
      await until(async () => {
        text = await scrape(rig.gateway.url)
        return valueIn(text, 'sluice_mcp_requests_total', { server: 'docs', method: 'other' }) === 1
      })
      const told = { server: 'docs', method: 'tools/call', outcome: 'ok' }
      expect(valueIn(text, 'sluice_mcp_requests_total', told)).to.equal(1)
      expect(valueIn(text, 'sluice_mcp_request_seconds_count', { server: 'docs', method: 'tools/call' })).to.equal(1)
      expect(valueIn(text, 'sluice_upstream_requests_total')).to.equal(undefined)
      expect((await rig.delete({ session })).ok).to.equal(true)
      expect(valueIn(await scrape(rig.gateway.url), 'sluice_mcp_sessions', { server: 'docs' })).to.equal(0)
    } finally {
      await rig.close()
    }
  })
})

describe('the breaker of a provider, or of a model, that is gone', () => {
  it('is no more open, neither in metrics nor among the causes, and the others stay', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-metrics-'))
    const upstream = await scriptedUpstream()
    const gateway = await startAdmin({
      folder,
      server_config: {
        resilience: { retries: { tries: 2 }, breaker: { failures: 1 } },
        telemetry: { metrics: { access: 'open' } },
      },
      providers: ['far', 'near'].map((name) => ({ name, type: 'compatible', base_url: upstream.url, api_key: 'k' })),
      models: [
        { name: 'm', provider: 'far' },
        { name: 'n', provider: 'near' },
        { name: 'near/*', provider: 'near', upstream_model: '*' },
        { name: 'o', provider: 'near' },
      ],
    })
    const file = join(folder, 'sluice.yaml')
    const change = async (...changes: readonly (readonly [from: string, to: string])[]) => {
      const text = await readFile(file, 'utf8')
      await writeFile(
        file,
        changes.reduce((all, [from, to]) => all.replaceAll(from, to), text),
      )
      expect((await gateway.asAdmin('POST /api/config/reload')).status).to.equal(200)
    }
    const states = async () => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text()
      const open = (await gateway.asAdmin('GET /api/notifications')).body['open'] as { readonly subject: string }[]
      const found = seriesIn(text).filter(({ name }) => name === 'sluice_breaker_state')
      return [
        Object.fromEntries(found.map(({ labels, value }) => [labels['provider'], value])),
        open.map(({ subject }) => subject).toSorted(),
      ]
    }
    try {
      upstream.answer({ status: 500, body: { error: { message: 'no' } } })
      for (const model of ['m', 'n', 'near/any'])
        await (await gateway.post('/v1/chat/completions', { model, messages })).text()
      expect(await states()).to.deep.equal([{ far: 2, near: 2 }, ['far / m', 'near / n', 'near / near/any']])
      await change(['name: n\n', 'name: other\n'])
      expect(await states()).to.deep.equal([{ far: 2, near: 2 }, ['far / m', 'near / near/any']])
      await change(['provider: far', 'provider: near'])
      expect(await states()).to.deep.equal([{ far: 0, near: 2 }, ['near / near/any']])
      // A request that is under way goes on to ask what was there when it began.
      const gone = Promise.withResolvers<void>()
      const failing = { status: 503, body: { error: { message: 'no' } } }
      const before = upstream.requests.length
      upstream.answer(() => gone.promise.then(() => failing), failing)
      const asked = gateway.post('/v1/chat/completions', { model: 'o', messages })
      await upstream.received(before + 1)
      await change(['name: near\n', 'name: third\n'], ['provider: near', 'provider: third'])
      expect(await states()).to.deep.equal([{ far: 0, near: 0 }, []])
      gone.resolve()
      expect((await asked).status).to.equal(502)
      expect(upstream.requests).to.have.length(before + 2)
      expect(await states()).to.deep.equal([{ far: 0, near: 0 }, []])
    } finally {
      await gateway.close()
      await upstream.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('metrics of WebSockets', () => {
  const open = { server_config: { telemetry: { metrics: { access: 'open' } } } }
  const socketsAt = async ({ url }: { readonly url: string }, kind: string) =>
    valueIn(await (await fetch(`${url}/metrics`)).text(), 'sluice_sockets', { kind })

  it('count those whose messages are requests, while they are open', async () => {
    const gateway = await startGateway(open)
    try {
      expect(await socketsAt(gateway, 'messages')).to.equal(0)
      const headers = { authorization: `Bearer ${gateway.key}` }
      const address = `${gateway.url.replace('http', 'ws')}/v1/responses`
      const sockets = [new WebSocket(address, { headers }), new WebSocket(address, { headers })]
      await Promise.all(sockets.map((socket) => once(socket, 'open')))
      await until(async () => (await socketsAt(gateway, 'messages')) === 2)
      sockets[0]?.close()
      await until(async () => (await socketsAt(gateway, 'messages')) === 1)
      expect(await socketsAt(gateway, 'relay')).to.equal(0)
      sockets[1]?.terminate()
      await until(async () => (await socketsAt(gateway, 'messages')) === 0)
    } finally {
      await gateway.close()
    }
  })

  it('count those that are one exchange each, apart', async () => {
    const rig = await startRig(open)
    try {
      const { client } = await rig.talk()
      await until(async () => (await socketsAt(rig.gateway, 'relay')) === 1)
      expect(await socketsAt(rig.gateway, 'messages')).to.equal(0)
      client.socket.close()
      await until(async () => (await socketsAt(rig.gateway, 'relay')) === 0)
    } finally {
      await rig.close()
    }
  })
})

describe('the overhead of the gateway', () => {
  const open = { telemetry: { metrics: { access: 'open' } } }
  /** @param others seconds that something else has taken, at least */
  const expectApart = (text: string, pipeline: string, others: number) => {
    const sum = (name: string) => valueIn(text, `${name}_sum`, { pipeline }) ?? NaN
    const rest = sum('sluice_request_duration_seconds') - others
    expect(rest).to.be.above(0)
    expect(sum('sluice_overhead_seconds')).to.be.at.most(rest + 1e-9)
  }

  it('has no part of the wait between two tries', async () => {
    const upstream = await scriptedUpstream()
    const gateway = await startGateway({
      server_config: { ...open, resilience: { retries: { tries: 2 } } },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far' }],
    })
    try {
      upstream.answer({ status: 503, headers: { 'retry-after': '1' }, body: {} }, { body: chatAnswer })
      expect((await gateway.post('/v1/chat/completions', { model: 'm', messages })).status).to.equal(200)
      let text = ''
      await until(async () => {
        text = await (await fetch(`${gateway.url}/metrics`)).text()
        return valueIn(text, 'sluice_overhead_seconds_count', { pipeline: 'chat-completions' }) === 1
      })
      expect(valueIn(text, 'sluice_retries_total')).to.equal(1)
      // A timer may be a millisecond early.
      expectApart(text, 'chat-completions', 0.99)
    } finally {
      await gateway.close()
      await upstream.close()
    }
  })

  it('has no part of the time of an MCP server', async () => {
    const rig = await startMcp({}, { server_config: open })
    try {
      const scrape = async () => (await fetch(`${rig.gateway.url}/metrics`)).text()
      const server = { server: 'docs', method: 'tools/call' }
      rig.upstream.answer(
        speaking(async ({ id }) => {
          const began = performance.now()
          await until(() => performance.now() - began >= 300)
          return result(id, { content: [] })
        }),
      )
      const session = await rig.open()
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'dig', arguments: {} } }
      expect((await rig.post(call, { session })).status).to.equal(200)
      let text = ''
      await until(async () => {
        text = await scrape()
        return valueIn(text, 'sluice_mcp_request_seconds_count', server) === 1
      })
      expect(valueIn(text, 'sluice_mcp_request_seconds_sum', server)).to.be.at.least(0.3)
      await until(async () => valueIn((text = await scrape()), 'sluice_in_flight') === 0)
      const [pipeline = ''] = seriesIn(text).flatMap(({ name, labels }) =>
        name === 'sluice_overhead_seconds_count' ? (labels['pipeline'] ?? '') : [],
      )
      expectApart(text, pipeline, 0.3)
    } finally {
      await rig.close()
    }
  })
})

describe('metrics that are', () => {
  let gateway: AdminGateway | undefined
  afterEach(() => gateway?.close())

  it('switched off are not there, and nothing listens', async () => {
    gateway = await startAdmin({ server_config: { telemetry: { metrics: { enabled: false } } } })
    expect((await gateway.asAdmin('GET /metrics')).status).to.equal(404)
    expect((await gateway.asNobody('GET /metrics')).status).to.equal(404)
  })

  it('open are for anybody', async () => {
    gateway = await startAdmin({ server_config: { telemetry: { metrics: { access: 'open' } } } })
    expect((await fetch(`${gateway.url}/metrics`)).status).to.equal(200)
  })

  it('switched off while a request is under way do not wait for its end', async () => {
    const upstream = await scriptedUpstream()
    const gate = Promise.withResolvers<void>()
    const running = (gateway = await startAdmin({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far' }],
    }))
    const headers = { authorization: `Bearer ${running.admin.token}` }
    const scrape = async () => (await fetch(`${running.url}/metrics`, { headers })).text()
    const set = async (change: object) =>
      expect((await running.asAdmin('PATCH /api/config/server/telemetry', { metrics: change })).status).to.equal(200)
    try {
      upstream.answer(async () => {
        await gate.promise
        return { body: chatAnswer }
      })
      const asked = running.post('/v1/chat/completions', { model: 'm', messages })
      await until(async () => valueIn(await scrape(), 'sluice_in_flight', { pipeline: 'chat-completions' }) === 1)
      await set({ enabled: false })
      gate.resolve()
      await (await asked).text()
      await set({ enabled: true, labels: ['key'] })
      expect(valueIn(await scrape(), 'sluice_in_flight')).to.equal(undefined)
      upstream.answer({ body: chatAnswer })
      await (await running.post('/v1/chat/completions', { model: 'm', messages })).text()
      // A label that was added at run time stands there from then on.
      await until(async () => valueIn(await scrape(), 'sluice_requests_total', { model: 'm', key: 'test' }) === 1)
      expect(valueIn(await scrape(), 'sluice_in_flight')).to.equal(0)
    } finally {
      gate.resolve()
      await upstream.close()
    }
  })

  it('switched off and on at run time go on from what they were', async () => {
    gateway = await startAdmin()
    const scrape = async () =>
      (await fetch(`${gateway?.url}/metrics`, { headers: { authorization: `Bearer ${gateway?.admin.token}` } })).text()
    const chat = { model: 'echo', messages }
    await (await gateway.post('/v1/chat/completions', chat)).text()
    await until(async () => valueIn(await scrape(), 'sluice_requests_total', { model: 'echo' }) === 1)
    const set = async (enabled: boolean) =>
      expect((await gateway?.asAdmin('PATCH /api/config/server/telemetry', { metrics: { enabled } }))?.status).to.equal(
        200,
      )
    const slow = await gateway.post('/v1/chat/completions', { ...chat, stream: true })
    await set(false)
    await slow.text()
    await (await gateway.post('/v1/chat/completions', chat)).text()
    await set(true)
    await (await gateway.post('/v1/chat/completions', chat)).text()
    // The stream may have ended before nobody listened.
    const counted = async () => valueIn(await scrape(), 'sluice_requests_total', { model: 'echo' }) ?? 0
    await until(async () => (await counted()) >= 2)
    await until(async () => valueIn(await scrape(), 'sluice_in_flight') === 0)
    expect(await counted()).to.be.at.most(3)
  })
})
