import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { startRig } from '../realtime/rig.ts'
import { says, startBackground } from '../service/background.ts'
import { chatAnswer, chatFrames, messagesAnswer } from '../service/streams.ts'
import { startCollector } from './collector.ts'
import type { Collector, SeenSpan } from './collector.ts'

const secret = 'sk-hidden-0123456789abcdef0123456789abcdef'
const picture = 'data:image/png;base64,iVBORw0KGgo='
const client = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${client}-00f067aa0ba902b7-01`

describe('spans', () => {
  let upstream: ScriptedUpstream
  let collector: Collector
  let closing: (() => Promise<void>)[]
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    collector = await startCollector()
    closing = []
  })
  afterEach(async () => {
    for (const close of closing) await close()
    await collector.close()
    await upstream.close()
  })

  const environment = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' })
  const start = async (traces: object = {}, more: GatewaySettings = {}) => {
    const gateway = await startGateway({
      environment: environment(),
      server_config: { telemetry: { traces } },
      providers: [
        { name: 'far', type: 'compatible', base_url: upstream.url, api_key: secret },
        { name: 'other', type: 'messages', base_url: upstream.url, api_key: secret },
        { name: 'known', type: 'compatible', preset: 'mistral', base_url: upstream.url, api_key: secret },
        { name: 'own', type: 'echo' },
      ],
      models: [
        { name: 'm', provider: 'far', upstream_model: 'm-2026', pricing: { input: 1, output: 2 } },
        { name: 'c', provider: 'other', upstream_model: 'c-2026', pricing: { input: 1, output: 2, cache_read: 0.1 } },
        { name: 'k', provider: 'known' },
        { name: 'e', provider: 'own' },
      ],
      ...more,
    })
    closing.push(() => gateway.close())
    return gateway
  }
  const ask = async (gateway: RunningGateway, body: object, path = '/v1/chat/completions', headers = {}) => {
    const answer = await gateway.post(path, body, headers)
    const text = await answer.text()
    expect(answer.status, text).to.equal(200)
    return answer.headers.get('x-request-id') ?? ''
  }
  const of = (id: string) => collector.trace((span) => span.attributes['sluice.request.id'] === id)
  const callOf = async (id: string) => {
    const call = (await of(id)).find(({ kind }) => kind === 'client')
    return call as SeenSpan
  }
  const json = (span: SeenSpan, name: string) => JSON.parse(String(span.attributes[name])) as unknown
  const messages = [{ role: 'user', content: 'Hello' }]

  it('count tokens as the conventions do, each under one name', async () => {
    const gateway = await start()
    const usage = { input_tokens: 5, cache_read_input_tokens: 70, cache_creation_input_tokens: 11, output_tokens: 9 }
    upstream.answer({ body: { ...messagesAnswer, usage } })
    const id = await ask(gateway, { model: 'c', messages, max_tokens: 5 }, '/v1/messages')
    const { attributes } = await callOf(id)
    const counts = Object.entries(attributes).filter(
      ([name]) => name.startsWith('gen_ai.usage.') && !name.endsWith('cost'),
    )
    expect(Object.fromEntries(counts)).to.deep.equal({
      'gen_ai.usage.input_tokens': 86,
      'gen_ai.usage.cache_read.input_tokens': 70,
      'gen_ai.usage.cache_write.input_tokens': 11,
      'gen_ai.usage.output_tokens': 9,
    })
  })

  it('name providers as the conventions do', async () => {
    const gateway = await start()
    upstream.answer({ body: chatAnswer }, { body: chatAnswer })
    const named = async (model: string) =>
      (await callOf(await ask(gateway, { model, messages }))).attributes['gen_ai.provider.name']
    expect([await named('m'), await named('k'), await named('e')]).to.deep.equal(['far', 'mistral_ai', 'own'])
  })

  it('have no content unless it is wanted', async () => {
    const gateway = await start()
    upstream.answer({ body: chatAnswer })
    const { attributes } = await callOf(await ask(gateway, { model: 'm', messages }))
    expect(JSON.stringify(attributes)).to.not.match(/Hello/)
  })

  it('have an answer as guards have let it pass, streamed and whole, with tokens', async () => {
    const list = { name: 'list', kind: 'words', words: ['cherry'], side: ['output'] }
    const tokens = { name: 'pii', kind: 'pii', action: 'mask', mask: 'token', entities: ['email'] }
    const cases = [
      [{ ...list, action: 'mask' }, ['A che', 'rry.'], 'A [LIST].', 'stop'],
      [{ ...list, action: 'deny' }, ['Che', 'rry.'], 'The content was blocked.', 'content_filter'],
      [{ ...list, action: 'deny' }, ['An apple', ' and', ' a plum.'], 'An apple and a plum.', 'stop'],
      [tokens, ['Mail <EM', 'AIL_1>.'], 'Mail <EMAIL_1>.', 'stop'],
    ] as const
    const asked = [{ role: 'user', content: 'I am ann@example.com.' }]
    for (const [guard, pieces, content, reason] of cases) {
      const gateway = await start({ content: 'span' }, { records: { guards: [guard] } })
      upstream.answer({ frames: chatFrames(...pieces) }, says('chat', pieces.join('')))
      for (const stream of [true, false]) {
        const call = await callOf(await ask(gateway, { model: 'm', stream, messages: asked }))
        const told = json(call, 'gen_ai.output.messages') as [{ parts: { content: string }[]; finish_reason: string }]
        const text = told[0].parts.map((part) => part.content).join('')
        expect([told.length, text, told[0].finish_reason], JSON.stringify(guard)).to.deep.equal([1, content, reason])
        const input = String(call.attributes['gen_ai.input.messages'])
        expect(input).to.contain(guard === tokens ? 'I am <EMAIL_1>.' : 'I am ann@example.com.')
      }
    }
  })

  it('have nothing of what the model of a guard is asked and answers', async () => {
    const guard = { name: 'fruit', kind: 'model', model: 'm', question: 'Is it about fruit?', side: ['input'] }
    const gateway = await start({ content: 'span' }, { records: { guards: [guard] } })
    upstream.answer(says('chat', '{"hit":true,"score":0.875}'))
    const asked = [{ role: 'user', content: 'A cherry.' }]
    const denied = await gateway.post('/v1/chat/completions', { model: 'k', messages: asked })
    expect([denied.status, await denied.text()].join(' ')).to.match(/^400 .*content_filter/)
    const spans = await of(denied.headers.get('x-request-id') ?? '')
    const calls = spans.filter(({ kind }) => kind === 'client')
    expect(calls.map(({ attributes }) => attributes['gen_ai.request.model'])).to.deep.equal(['m-2026'])
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.to.match(
      /cherry|0\.875|gen_ai\.(input|output)\.messages/,
    )
  })

  it('have what the provider was asked and what it answered, if that is wanted', async () => {
    const gateway = await start({ content: 'span' })
    const tool = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }
    upstream.answer({ frames: chatFrames('Hel', 'lo there') })
    const asked = {
      model: 'm',
      stream: true,
      tools: [tool],
      messages: [
        { role: 'system', content: `Never say ${secret}.` },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: picture } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      ],
    }
    const call = await callOf(await ask(gateway, asked))
    expect(call.attributes['gen_ai.system_instructions']).to.equal(undefined)
    expect(json(call, 'gen_ai.input.messages')).to.deep.equal([
      { role: 'system', parts: [{ type: 'text', content: 'Never say [redacted].' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'What is it?' },
          { type: 'blob', modality: 'image', mime_type: 'image/png', size: 8 },
        ],
      },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: { at: 1 } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'a cat' }] },
    ])
    expect(json(call, 'gen_ai.output.messages')).to.deep.equal([
      { role: 'assistant', parts: [{ type: 'text', content: 'Hello there' }], finish_reason: 'stop' },
    ])
    expect(json(call, 'gen_ai.tool.definitions')).to.deep.equal([
      { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' } },
    ])
    expect(call.attributes['sluice.lane']).to.equal('bytes')
  })

  it('have what was asked for, also where the content has no neutral form', async () => {
    const gateway = await start({ content: 'span' })
    upstream.answer({ body: chatAnswer })
    const { attributes } = await callOf(await ask(gateway, { model: 'm', messages, n: 3, temperature: 0.5 }))
    expect(attributes).to.deep.include({ 'gen_ai.request.choice.count': 3, 'gen_ai.request.temperature': 0.5 })
  })

  it('have the numbers that were asked for in a format which only the provider knows', async () => {
    const providers = [{ name: 'own', type: 'native', base_url: upstream.url, api_key: secret }]
    const gateway = await start({}, { providers, models: [{ name: 'm', provider: 'own' }] })
    upstream.answer(says('responses', 'Well.'))
    const text = { format: { type: 'grammar', grammar: 'root ::= "yes"' } }
    const asked = { model: 'm', input: 'Hello?', store: false, text, max_output_tokens: 50, top_p: 0.5 }
    const { attributes } = await callOf(await ask(gateway, asked, '/v1/responses'))
    expect(attributes).to.deep.include({ 'gen_ai.request.max_tokens': 50, 'gen_ai.request.top_p': 0.5 })
    expect(attributes['sluice.lane']).to.equal('bytes')
  })

  it('have system text apart where the protocol has it so, and cut at a character what is too long', async () => {
    const gateway = await start({ content: 'span', content_max_bytes: 256 })
    upstream.answer({ body: messagesAnswer })
    const long = 'ü'.repeat(300)
    const asked = { model: 'c', max_tokens: 5, system: 'Be kind.', messages: [{ role: 'user', content: long }] }
    const call = await callOf(await ask(gateway, asked, '/v1/messages'))
    expect(json(call, 'gen_ai.system_instructions')).to.deep.equal([{ type: 'text', content: 'Be kind.' }])
    const text = String(call.attributes['gen_ai.input.messages'])
    expect(Buffer.byteLength(text)).to.be.within(254, 256)
    expect(text.endsWith('ü')).to.equal(true)
    expect(call.attributes['sluice.content.truncated']).to.equal(true)
  })

  it('have the words of developers apart where no message can be theirs, and among the messages of responses', async () => {
    const providers = [
      { name: 'own', type: 'native', base_url: upstream.url, api_key: secret },
      { name: 'other', type: 'messages', base_url: upstream.url, api_key: secret },
    ]
    const models = ['own', 'other'].map((provider) => ({ name: provider, provider }))
    const gateway = await start({ content: 'span' }, { providers, models })
    const said = (call: SeenSpan) => [
      json(call, 'gen_ai.system_instructions'),
      (json(call, 'gen_ai.input.messages') as { role: string }[]).map(({ role }) => role),
    ]
    upstream.answer({ body: messagesAnswer })
    const chat = { model: 'other', messages: [{ role: 'developer', content: 'Be kind.' }, ...messages] }
    expect(said(await callOf(await ask(gateway, chat)))).to.deep.equal([
      [{ type: 'text', content: 'Be kind.' }],
      ['user'],
    ])
    upstream.answer(says('responses', 'Well.'))
    const input = [{ role: 'developer', content: 'Be kind.' }, ...messages, { role: 'system', content: 'Be brief.' }]
    const asked = { model: 'own', instructions: 'Be here.', input, store: false }
    expect(said(await callOf(await ask(gateway, asked, '/v1/responses')))).to.deep.equal([
      [{ type: 'text', content: 'Be here.' }],
      ['developer', 'user', 'system'],
    ])
  })

  it('have system text where the responses API was sent it: of its own clients unchanged, of others as it is printed', async () => {
    const providers = [{ name: 'own', type: 'native', base_url: upstream.url, api_key: secret }]
    const models = [{ name: 'own', provider: 'own', protocols: ['responses'] }]
    const gateway = await start({ content: 'span' }, { providers, models })
    upstream.answer(says('responses', 'Well.'))
    const told = async (path: string, body: object) => {
      const call = await callOf(await ask(gateway, { model: 'own', ...body }, path))
      const { instructions, input } = JSON.parse(String(upstream.requests.at(-1)?.body)) as JsonObject
      const { 'gen_ai.system_instructions': apart = '[]' } = call.attributes
      const texts = (JSON.parse(String(apart)) as { content: string }[]).map(({ content }) => content)
      // It was sent so.
      expect(texts.join('\n\n')).to.equal(instructions ?? '')
      const inputMessages = json(call, 'gen_ai.input.messages') as { role: string }[]
      expect(inputMessages).to.have.length(Array.isArray(input) ? input.length : 1)
      return [call.attributes['sluice.lane'], texts.length, inputMessages.map(({ role }) => role)]
    }
    const kind = { role: 'system', content: 'Be kind.' }
    const brief = { role: 'system', content: 'Be brief.' }
    const shows = {
      role: 'system',
      content: [
        { type: 'text', text: 'It is this:' },
        { type: 'image_url', image_url: { url: picture } },
      ],
    }
    const own = async (body: object) => told('/v1/responses', { store: false, ...body })
    expect(await own({ input: [kind, ...messages] })).to.deep.equal(['bytes', 0, ['system', 'user']])
    expect(await own({ input: [kind] })).to.deep.equal(['bytes', 0, ['system']])
    expect(await own({ instructions: 'Be here.', input: [kind, ...messages] })).to.deep.equal([
      'bytes',
      1,
      ['system', 'user'],
    ])
    expect(await own({ instructions: 'Be here.', input: 'Hello' })).to.deep.equal(['bytes', 1, ['user']])
    const chat = async (...said: readonly object[]) => told('/v1/chat/completions', { messages: said })
    expect(await chat(kind, brief, ...messages, kind)).to.deep.equal(['translated', 2, ['user', 'system']])
    expect(await chat(kind, brief)).to.deep.equal(['translated', 0, ['system', 'system']])
    expect(await chat(kind, shows, brief, ...messages)).to.deep.equal(['translated', 1, ['system', 'system', 'user']])
  })

  it('have one per stage if that is wanted', async () => {
    const gateway = await start({ stages: 'all' })
    upstream.answer({ body: chatAnswer })
    const spans = await of(await ask(gateway, { model: 'm', messages }))
    const [server] = spans.filter(({ kind }) => kind === 'server')
    const stages = spans.filter(({ kind }) => kind === 'internal')
    expect(stages.map(({ name }) => name)).to.include.members(['auth', 'parse', 'translate', 'call', 'price', 'log'])
    for (const { parentSpanId, start: begun, end } of stages) {
      expect(parentSpanId).to.equal(server?.spanId)
      expect(begun >= (server?.start ?? 0n) && end <= (server?.end ?? 0n)).to.equal(true)
    }
  })

  it('begin a trace that links to the client, where clients are strangers', async () => {
    const gateway = await start({ parent: 'never' })
    upstream.answer({ body: chatAnswer })
    const headers = { traceparent, tracestate: 'theirs=1' }
    const spans = await of(await ask(gateway, { model: 'm', messages }, undefined, headers))
    const [server] = spans.filter(({ kind }) => kind === 'server')
    expect(server?.traceId).to.not.equal(client)
    expect([server?.parentSpanId, server?.links]).to.deep.equal(['', [{ traceId: client, spanId: '00f067aa0ba902b7' }]])
    expect(upstream.requests.at(-1)?.headers['tracestate']).to.equal(undefined)
  })

  it('have an exchange that another one began below it, with its own call', async () => {
    const judge = join(import.meta.dirname, '..', 'seams', 'judge')
    const pipelines = await copyPipelines(join(judge, 'pipelines'))
    closing.push(() => pipelines.remove())
    const models = ['m', 'judge'].map((name) => ({ name, provider: 'far', upstream_model: `${name}-2026` }))
    const gateway = await start({}, { plugins: [join(judge, 'plugin.ts')], pipelines: pipelines.folder, models })
    upstream.answer(says('chat', 'yes'), { body: chatAnswer })
    const spans = await of(await ask(gateway, { model: 'm', messages }, '/judged'))
    const [server] = spans.filter(({ kind }) => kind === 'server')
    const [inner] = spans.filter(({ kind }) => kind === 'internal')
    const calls = spans.filter(({ kind }) => kind === 'client')
    expect(inner?.name).to.equal('pipeline acme-jury')
    expect(inner?.parentSpanId).to.equal(server?.spanId)
    expect(calls.map(({ parentSpanId }) => parentSpanId)).to.have.members([server?.spanId, inner?.spanId])
  })

  it('have those of other rooms below them, and none where there are no traces', async () => {
    const pipelines = await copyPipelines()
    closing.push(() => pipelines.remove())
    await pipelines.edit('chat-completions.yaml', '  - parse\n', '  - parse\n  - acme-work\n')
    const more = {
      plugins: [join(import.meta.dirname, 'working', 'plugin.ts')],
      pipelines: pipelines.folder,
      models: [{ name: 'm', provider: 'far' }],
    }
    const gateway = await start({}, more)
    const answered = { body: chatAnswer }
    upstream.answer(answered, answered, answered)
    const spans = await of(await ask(gateway, { model: 'm', messages }))
    const [server] = spans.filter(({ kind }) => kind === 'server')
    const [own] = spans.filter(({ name }) => name === 'acme work')
    expect([own?.kind, own?.parentSpanId, own?.isError]).to.deep.equal(['client', server?.spanId, true])
    const { attributes = {} } = own ?? {}
    const few = Object.entries(attributes).filter(([name]) => !name.startsWith('acme.many.'))
    expect(Object.fromEntries(few)).to.deep.equal({
      'acme.size': 3,
      'acme.done': true,
      'acme.words': ['one', 'three'],
      'error.type': 'acme_tired',
    })
    // Of what the other room gives, no more than 128.
    expect(Object.keys(attributes)).to.have.length(129)
    const limit = { OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '3' }
    const short = await start({}, { ...more, environment: { ...environment(), ...limit } })
    const [cut] = (await of(await ask(short, { model: 'm', messages }))).filter(({ name }) => name === 'acme work')
    expect(cut?.attributes).to.deep.include({ 'acme.words': ['one', 'thr'], 'error.type': 'acm' })
    const works = () => collector.spans.filter(({ name }) => name === 'acme work').length
    const silent = await start({ enabled: false }, more)
    await ask(silent, { model: 'm', messages })
    // Whoever ends has sent what there is.
    for (const close of closing.splice(0)) await close()
    expect(works()).to.equal(2)
  })

  for (const propagators of ['tracecontext', 'none'])
    it(`have a job below the request that began it, with ${propagators} for clients and providers`, async function () {
      const store = await redis(this)
      closing.push(() => store.stop())
      const variables = { ...environment(), OTEL_PROPAGATORS: propagators }
      const gateway = await startBackground(upstream, store.url, { environment: variables })
      closing.unshift(() => gateway.close())
      upstream.answer(says('chat', 'Well.'))
      const asked = { model: 'chat', input: 'Hello?', background: true }
      const id = await ask(gateway, asked, '/v1/responses', { traceparent })
      await until(() => collector.spans.some(({ kind }) => kind === 'client'))
      const spans = await of(id)
      await until(() => collector.spans.length >= 3)
      const all = collector.spans.filter(({ traceId }) => traceId === spans[0]?.traceId)
      const [server, job, call] = (['server', 'internal', 'client'] as const).map((kind) =>
        all.find((one) => one.kind === kind),
      )
      expect([server?.name, job?.name, call?.name]).to.deep.equal([
        'POST /v1/responses',
        'pipeline responses-background',
        'chat chat-2026',
      ])
      expect([job?.parentSpanId, call?.parentSpanId]).to.deep.equal([server?.spanId, job?.spanId])
      const propagates = propagators !== 'none'
      expect(server?.traceId === client).to.equal(propagates)
      expect(upstream.requests.at(-1)?.headers['traceparent'] !== undefined).to.equal(propagates)
    })

  it('have a session of sounds as one call, with what all of it used', async () => {
    const rig = await startRig({ environment: environment() })
    closing.push(() => rig.close())
    const talk = await rig.talk()
    const usage = { total_tokens: 15, input_tokens: 10, output_tokens: 5, input_token_details: { audio_tokens: 4 } }
    const done = { type: 'response.done', event_id: 'e', response: { id: 'r', status: 'completed', usage } }
    talk.client.send({ type: 'response.create' })
    await talk.say({ type: 'session.created' })
    await talk.say(done)
    await talk.say(done)
    talk.client.socket.close(1000)
    await talk.client.closed
    const row = await rig.gateway.row(({ type }) => type === 'realtime')
    const spans = await of(row.id)
    const [server, call] = (['server', 'client'] as const).map((kind) => spans.find((one) => one.kind === kind))
    expect([server?.name, call?.name, call?.parentSpanId]).to.deep.equal([
      'GET /v1/realtime',
      'realtime rt-2026',
      server?.spanId,
    ])
    expect(call?.attributes).to.deep.include({
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.audio.input_tokens': 8,
    })
    expect(call?.attributes['gen_ai.usage.cost']).to.be.closeTo(Number(row.cost_micros) / 1e6, 1e-9)
  })
})
