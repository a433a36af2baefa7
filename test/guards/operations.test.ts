import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { Rig, streamOf, wholeOf } from './rig.ts'

const guards = [
  { name: 'pii', kind: 'pii', action: 'mask', entities: ['email'] },
  { name: 'list', kind: 'words', words: ['forbidden'] },
  { name: 'own', kind: 'words', words: ['sugar'], default: false },
  { name: 'sweet', kind: 'words', words: ['honey'], action: 'mask', default: false },
  { name: 'sticky', kind: 'words', words: ['honey'], action: 'mask', default: false },
  { name: 'tokens', kind: 'words', words: ['pepper'], action: 'mask', mask: 'token', side: ['input'], default: false },
  { name: 'looks', kind: 'words', words: ['pepper'], shadow: true, default: false },
  { name: 'notes', kind: 'words', words: ['salt'], action: 'flag', default: false },
  { name: 'holds', kind: 'words', words: ['salt'], action: 'flag', stream: 'full', default: false },
  { name: 'half', kind: 'words', words: ['salt'], action: 'flag', stream: 'full', sample: 0.5, default: false },
]

const unguarded = 'sk-123456789abcdef0123456789abcdef0'
const free = 'sk-0123456789abcdef0123456789abcdef'

describe('guards: who and what is judged', () => {
  const rig = new Rig(() => ({
    records: { guards },
    api_keys: [
      { name: 'free', key: free, guards_off: ['own'] },
      { name: 'unguarded', key: unguarded, guards_off: ['pii', 'list'] },
    ],
    models: [
      { name: 'guarded', provider: 'chat', guards: ['own'] },
      { name: 'masked', provider: 'chat', guards: ['sticky', 'sweet'] },
      { name: 'wild-*', provider: 'chat', upstream_model: '*', guards: ['own'] },
      { name: 'counted', provider: 'messages', guards: ['own'] },
      { name: 'native', provider: 'responses', guards: ['own'] },
      { name: 'google', provider: 'gemini', guards: ['own'] },
      { name: 'vectors', provider: 'responses' },
      { name: 'watched', provider: 'chat', guards: ['looks'] },
    ],
  }))

  it('a model is judged by its own guards, too, which end the exchange', async () => {
    const before = rig.upstream.requests.length
    const denied = await rig.ask('chat', 'guarded', { text: 'some sugar' })
    expect(denied.status, denied.body).to.equal(400)
    expect(rig.upstream.requests.length).to.equal(before)
    rig.upstream.answer({ body: wholeOf.chat({ text: ['sugar'] }) })
    expect((await rig.ask('chat', 'guarded')).text).to.equal('The content was blocked.')
    rig.upstream.answer({ body: wholeOf.chat({ text: ['sugar'] }) })
    expect((await rig.ask('chat', 'chat', { text: 'some sugar' })).text).to.equal('sugar')
  })

  it('a key is judged by no guard that is off for it, whoever names that', async () => {
    const headers = { authorization: `Bearer ${free}` }
    rig.upstream.answer({ body: wholeOf.chat({ text: ['sugar'] }) })
    const got = await rig.ask('chat', 'guarded', { text: 'some sugar', headers })
    expect(got.status, got.body).to.equal(200)
    expect(got.text).to.equal('sugar')
    expect(rig.asked()).to.contain('some sugar')
    expect((await rig.ask('chat', 'guarded', { text: 'forbidden', headers })).status).to.equal(400)
  })

  it('guards of a model mask in the order of their declaration', async () => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['honey'] }) })
    expect((await rig.ask('chat', 'masked', { text: 'some honey' })).text).to.equal('[SWEET]')
    expect(rig.asked()).to.contain('some [SWEET]')
  })

  it('a share of the requests is judged with their answers, and the others not at all', async () => {
    const judged: number[] = []
    for (let count = 0; count < 40; count++) {
      rig.upstream.answer({ body: wholeOf.chat({ text: ['salt'] }) })
      const { headers } = await rig.ask('chat', 'chat', { text: 'salt', headers: { 'x-gateway-guards': 'half' } })
      const row = await rig.gateway.row(({ id }) => id === headers.get('x-request-id'))
      const { guards: told = [] } = JSON.parse(row.metadata) as { guards?: readonly { readonly name: string }[] }
      judged.push(told.filter(({ name }) => name === 'half').length)
    }
    expect(new Set(judged)).to.deep.equal(new Set([0, 2]))
  })

  it('a model of a pattern is judged by the guards of its record', async () => {
    const before = rig.upstream.requests.length
    const denied = await rig.ask('chat', 'wild-one', { text: 'some sugar' })
    expect(denied.status, denied.body).to.equal(400)
    expect(rig.upstream.requests.length).to.equal(before)
    rig.upstream.answer({ body: wholeOf.chat({ text: ['sugar'] }) })
    expect((await rig.ask('chat', 'wild-one')).text).to.equal('The content was blocked.')
  })

  it('a provider that counts tokens or compacts gets nothing that a guard of the model denies', async () => {
    const messages = [{ role: 'user', content: 'some sugar' }]
    const asked: Readonly<Record<string, object>> = {
      '/v1/messages/count_tokens': { model: 'counted', messages },
      '/v1/responses/input_tokens': { model: 'native', input: 'some sugar' },
      '/v1/responses/compact': { model: 'native', input: 'some sugar' },
      '/v1beta/models/google:countTokens': { contents: [{ role: 'user', parts: [{ text: 'some sugar' }] }] },
    }
    for (const [path, body] of Object.entries(asked)) {
      const before = rig.upstream.requests.length
      const response = await rig.gateway.post(path, body)
      expect(response.status, `${path} ${await response.text()}`).to.equal(400)
      expect(response.headers.get('x-gateway-guards'), path).to.equal('own=denied')
      expect(rig.upstream.requests.length, path).to.equal(before)
    }
  })

  it('texts of embeddings, images, speech and counts are judged', async () => {
    const embedded = {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }
    rig.upstream.answer({ body: embedded })
    const response = await rig.gateway.post('/v1/embeddings', { model: 'vectors', input: ['ann@example.com', 'b'] })
    expect(response.status, await response.text()).to.equal(200)
    expect(JSON.parse(rig.asked())).to.deep.include({ input: ['[EMAIL]', 'b'] })
    const bodies: Readonly<Record<string, object>> = {
      '/v1/embeddings': { model: 'vectors', input: 'forbidden' },
      '/v1/images/generations': { model: 'vectors', prompt: 'forbidden' },
      '/v1/audio/speech': { model: 'vectors', input: 'forbidden', voice: 'v' },
      '/v1/messages/count_tokens': { model: 'messages', messages: [{ role: 'user', content: 'forbidden' }] },
    }
    for (const [path, body] of Object.entries(bodies)) {
      const response = await rig.gateway.post(path, body)
      expect(response.status, path).to.equal(400)
      expect(response.headers.get('x-gateway-guards')).to.equal('list=denied')
      expect(await response.text()).to.contain('The content was blocked.')
    }
  })

  it('arguments and results of tools are masked as JSON, numbers and escapes too', async () => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"to":"ann\\u0040example.com"}' } }
    const response = await rig.gateway.post('/v1/chat/completions', {
      model: 'chat',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Mail ann@example.com' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: '{"from":"bob@example.com"}' },
      ],
    })
    expect(response.status).to.equal(200)
    const { messages } = JSON.parse(rig.asked()) as {
      messages: [{ content: object }, { tool_calls: [typeof call] }, { content: string }]
    }
    expect(messages[0].content).to.deep.equal([{ type: 'text', text: 'Mail [EMAIL]' }])
    expect(messages[1].tool_calls[0].function).to.deep.equal({ name: 'f', arguments: '{"to":"[EMAIL]"}' })
    expect(messages[2].content).to.equal('{"from":"[EMAIL]"}')
  })

  it('a request for several answers is refused before anybody is asked, unless its guards only watch answers', async () => {
    const several = [
      ['chat', 'n', { n: 2 }],
      ...['generationConfig', 'generation_config'].flatMap((config) =>
        ['candidateCount', 'candidate_count'].map(
          (field) => ['gemini', `${config}.${field}`, { generationConfig: null, [config]: { [field]: 2 } }] as const,
        ),
      ),
    ] as const
    for (const [client, field, asked] of several) {
      const before = rig.upstream.requests.length
      for (const stream of [false, true]) {
        const { status, body } = await rig.ask(client, client, { stream, body: asked })
        expect(status, body).to.equal(400)
        expect(body).to.contain(`${field} is not supported: guards judge one answer`)
      }
      expect(rig.upstream.requests.length).to.equal(before)
    }
    const whole = wholeOf.chat({ text: ['One.'] })
    const [choice] = whole['choices'] as [JsonObject]
    const both = { ...whole, choices: [choice, { ...choice, index: 1 }] }
    const ask = (model: string, more: Record<string, string> = {}) => {
      rig.upstream.answer({ body: both })
      const headers = { authorization: `Bearer ${unguarded}`, ...more }
      return rig.ask('chat', model, { text: 'some pepper', body: { n: 2 }, headers })
    }
    for (const got of [await ask('chat'), await ask('watched')]) {
      expect(got.status, got.body).to.equal(200)
      expect(JSON.parse(got.body)).to.deep.equal(both)
    }
    expect((await ask('guarded')).status).to.equal(400)
    expect((await ask('chat', { 'x-gateway-guards': 'tokens' })).status).to.equal(400)
  })

  it('a request for several answers is refused where a flag would hold the answer, and not where it looks after a stream', async () => {
    const frames = streamOf.chat({ text: ['Some salt.'] })
    const second = frames.map((frame) => ({ ...frame, data: frame.data.replace('"index":0', '"index":1') }))
    const ask = (stream: boolean, guard: string) => {
      rig.upstream.answer({ frames: [...frames.slice(0, -1), ...second.slice(0, -2), ...frames.slice(-1)] })
      const headers = { authorization: `Bearer ${unguarded}`, 'x-gateway-guards': guard }
      return rig.ask('chat', 'chat', { stream, body: { n: 2 }, headers })
    }
    expect((await ask(false, 'notes')).status).to.equal(400)
    expect((await ask(true, 'holds')).status).to.equal(400)
    const passed = await ask(true, 'notes')
    expect(passed.status, passed.body).to.equal(200)
    expect(passed.body).to.contain('"index":0').and.to.contain('"index":1')
    expect(passed.text).to.equal('Some salt.Some salt.')
    const verdict = (await rig.verdictsOf(passed)).find(({ side }) => side === 'output')
    expect(verdict).to.include({ name: 'notes', outcome: 'flagged' })
  })
})
