import { APIError } from 'openai'
import { expect } from 'chai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

const otherKey = 'sk-other-0123456789abcdef0123456789abcdef'

const native = {
  id: 'resp_upstream',
  object: 'response.compaction',
  created_at: 1,
  output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA-of-the-vendor' }],
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 20, cache_write_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  },
}
const zeros = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}
const chatAnswer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Three.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

const conversation: ResponseInputItem[] = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'One?' },
  { type: 'function_call', call_id: 'call_1', name: 'count', arguments: '{"to":1}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'one' },
  {
    type: 'message',
    id: 'msg_said',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'One.', annotations: [] }],
  },
  { role: 'user', content: [{ type: 'input_text', text: 'Two?' }] },
]

/** What a chat upstream is sent for the conversation. */
const asChat = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'One?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'count', arguments: '{"to":1}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'one' },
  { role: 'assistant', content: 'One.' },
  { role: 'user', content: 'Two?' },
]

describe('compacting a conversation', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [
        { name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'key-of-the-vendor' },
        {
          name: 'hasty',
          type: 'native',
          base_url: upstream.url,
          api_key: 'key-of-the-vendor',
          timeouts: { first_byte: '60ms' },
        },
        { name: 'gone', type: 'native', base_url: 'http://127.0.0.1:9', api_key: 'key-of-the-vendor' },
        {
          name: 'local',
          type: 'compatible',
          base_url: upstream.url,
          traits: { system_role: 'developer' },
        },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'large', provider: 'vendor', upstream_model: 'large-2026' },
        { name: 'slow', provider: 'hasty' },
        { name: 'gone', provider: 'gone' },
        { name: 'chat', provider: 'local' },
        { name: 'echo', provider: 'echo' },
      ],
      api_keys: [{ name: 'other', key: otherKey }],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const asked = () => upstream.requests.at(-1)
  const lastRow = async () => (await gateway.rows()).at(-1)
  const compact = (model: string, input: ResponseInputItem[] = conversation) =>
    openai(gateway).responses.compact({ model, input })

  it('goes to a provider that can, byte for byte but for the model', async () => {
    upstream.answer({ body: native })
    const sent = '{"input":[{"role":"user","content":"One?"}],  "unknown":1.50,"model":"large"}'
    for (const path of [
      '/v1/responses/compact',
      '/responses/compact',
      '/v1/v1/responses/compact',
      '/v1/responses/compact/',
    ]) {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        body: sent,
      })
      expect(response.status).to.equal(200)
      expect(await response.text()).to.equal(JSON.stringify(native))
      expect(response.headers.get('x-gateway-provider')).to.equal('vendor')
      expect(asked()?.path).to.equal('/v1/responses/compact')
      expect(asked()?.body.toString()).to.equal(sent.replace('"large"', '"large-2026"'))
      expect(asked()?.headers['authorization']).to.equal('Bearer key-of-the-vendor')
    }
    expect(await lastRow()).to.include({
      type: 'compact',
      status: 200,
      result: 'completed',
      requested: 'large',
      model: 'large',
      provider: 'vendor',
      protocol: 'compact',
      upstream_protocol: 'compact',
      input_tokens: 80,
      cache_read_tokens: 20,
      output_tokens: 10,
      attempts: 1,
    })
  })

  it('keeps the user messages readable and packs the rest, where the provider cannot', async () => {
    const before = upstream.requests.length
    const began = Math.floor(Date.now() / 1000)
    const answer = await compact('chat')
    expect(upstream.requests.length).to.equal(before)
    expect(Object.keys(answer)).to.have.members(['id', 'object', 'created_at', 'output', 'usage'])
    expect(answer.id).to.match(/^resp_[0-9a-f]{32}$/)
    expect(answer.object).to.equal('response.compaction')
    expect(answer.usage).to.deep.equal(zeros)
    expect(answer.created_at).to.be.within(began, Date.now() / 1000)
    const [one, two, compaction] = answer.output
    expect(answer.output).to.have.length(3)
    const text = (text: string) => [{ type: 'input_text', text }]
    const message = { type: 'message', role: 'user', status: 'completed' }
    expect(one).to.deep.equal({ ...message, id: one?.id, content: text('One?') })
    expect(two).to.deep.equal({ ...message, id: two?.id, content: text('Two?') })
    expect(one?.id).to.match(/^msg_[0-9a-f]{36}$/)
    expect(two?.id)
      .to.match(/^msg_[0-9a-f]{36}$/)
      .and.not.equal(one?.id)
    if (compaction?.type !== 'compaction') throw new Error('there is no compaction at the end')
    expect(compaction.id).to.match(/^cmp_[0-9a-f]{36}$/)
    const hidden = Buffer.from(compaction.encrypted_content.slice(5), 'base64url').toString('latin1')
    expect(hidden).to.not.include('Be brief')
    const row = await lastRow()
    expect(row).to.include({
      type: 'compact',
      status: 200,
      model: null,
      attempts: 0,
      input_tokens: 0,
      output_tokens: 0,
    })
    expect(JSON.parse(row?.metadata ?? '')).to.include({ compaction: 'local' })
  })

  const failures: Record<string, readonly [model: string, script: Script]> = {
    'has no such route': ['large', { status: 404, body: { error: { message: 'no route' } } }],
    'does not take the method': ['large', { status: 405, body: 'no' }],
    'is busy': ['large', { status: 429, body: { error: { message: 'busy' } }, headers: { 'retry-after': '60' } }],
    fails: ['large', { status: 500, body: { error: { message: 'oh' } } }],
    'answers unreadably': ['large', { body: '<html>' }],
    'hangs up': ['large', { raw: '', ending: 'close' }],
    'does not answer in time': ['slow', { silent: true }],
    'cannot be reached': ['gone', {}],
  }
  for (const [what, [model, script]] of Object.entries(failures))
    it(`packs here when the provider ${what}`, async () => {
      upstream.answer(script)
      const { output, usage } = await compact(model)
      expect(output.map(({ type }) => type)).to.deep.equal(['message', 'message', 'compaction'])
      expect(usage).to.deep.equal(zeros)
      const row = await lastRow()
      expect(row).to.include({ status: 200, result: 'completed', model, attempts: 1 })
      expect((JSON.parse(row?.metadata ?? '') as { tries: unknown[] }).tries).to.have.length(1)
    })

  it('answers what the provider refuses', async () => {
    upstream.answer({
      status: 400,
      body: { error: { message: 'bad item', type: 'invalid_request_error', param: 'input[0]', code: null } },
    })
    const error = await compact('large').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(APIError).that.includes({ status: 400, param: 'input[0]' })
  })

  it('goes on from the compacted base with the very conversation', async () => {
    const { output } = await compact('chat')
    upstream.answer({ body: chatAnswer })
    const input = [...output, { role: 'user', content: 'Three?' }] as ResponseInputItem[]
    for (const base of [input, input.slice(1), input.slice(2)]) {
      const answer = await openai(gateway).responses.create({ model: 'chat', input: base, store: false })
      expect(answer.output_text).to.equal('Three.')
      const { messages } = JSON.parse(asked()?.body.toString() ?? '') as { messages: unknown }
      expect(messages).to.deep.equal([...asChat, { role: 'user', content: 'Three?' }])
    }
  })

  it('is taken again by a provider that speaks the protocol, as what it holds', async () => {
    upstream.answer({ status: 404 })
    const { output } = await compact('large')
    upstream.answer({ body: { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] } })
    const input = [...output, { role: 'user', content: 'Three?' }] as ResponseInputItem[]
    await openai(gateway).responses.create({ model: 'large', input, store: false })
    const body = asked()?.body.toString() ?? ''
    expect(body).to.not.include('gw1c.')
    const sent = JSON.parse(body) as { input: { type?: string; role?: string }[] }
    expect(sent.input.map(({ type, role }) => role ?? type)).to.deep.equal([
      'developer',
      'user',
      'function_call',
      'function_call_output',
      'assistant',
      'user',
      'user',
    ])
  })

  it('packs no wish for a compaction, so that nothing asks the provider for another one', async () => {
    upstream.answer({ status: 404 })
    const update = { type: 'configuration_update', reasoning: { effort: 'low' } }
    const { output } = await compact('large', [
      ...conversation,
      update,
      { type: 'compaction_trigger' },
    ] as ResponseInputItem[])
    upstream.answer({ body: { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] } })
    await openai(gateway).responses.create({ model: 'large', input: output as never, store: false })
    const { input } = JSON.parse(asked()?.body.toString() ?? '') as { input: { type?: string }[] }
    expect(input).to.have.length(conversation.length + 1)
    expect(input.at(-1)).to.deep.equal(update)
  })

  it('compacts what was compacted before, once and again', async () => {
    let base = conversation
    for (const text of ['Three?', 'Four?', 'Five?']) {
      const { output } = await compact('chat', base)
      expect(output.filter(({ type }) => type === 'compaction')).to.have.length(1)
      base = [...output, { role: 'user', content: text }] as ResponseInputItem[]
    }
    upstream.answer({ body: chatAnswer })
    await openai(gateway).responses.create({ model: 'chat', input: base, store: false })
    const { messages } = JSON.parse(asked()?.body.toString() ?? '') as { messages: unknown }
    const more = ['Three?', 'Four?', 'Five?'].map((content) => ({ role: 'user', content }))
    expect(messages).to.deep.equal([...asChat, ...more])
  })

  it('compacts the conversation of a stored response', async () => {
    upstream.answer({ body: chatAnswer })
    const first = await openai(gateway).responses.create({ model: 'chat', input: 'One?' })
    const { output } = await openai(gateway).responses.compact({ model: 'chat', previous_response_id: first.id })
    expect(output.map(({ type }) => type)).to.deep.equal(['message', 'compaction'])
    await openai(gateway).responses.create({
      model: 'chat',
      input: [...output, { role: 'user', content: 'Two?' }] as never,
    })
    const { messages } = JSON.parse(asked()?.body.toString() ?? '') as { messages: unknown }
    expect(messages).to.deep.equal([
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'Three.' },
      { role: 'user', content: 'Two?' },
    ])
  })

  it('takes a text, and nothing at all', async () => {
    const text = await openai(gateway).responses.compact({ model: 'echo', input: 'One?' })
    expect(text.output.map(({ type }) => type)).to.deep.equal(['message', 'compaction'])
    const nothing = await openai(gateway).responses.compact({ model: 'echo' })
    expect(nothing.output.map(({ type }) => type)).to.deep.equal(['compaction'])
    const given = await gateway.post('/v1/responses', { model: 'echo', input: nothing.output })
    expect(given.status).to.equal(200)
  })

  describe('refuses', () => {
    const refusal = async (body: object, key = gateway.key, path = '/v1/responses') => {
      const response = await gateway.post(path, body, { authorization: `Bearer ${key}` })
      const { error } = (await response.json()) as { error: { code: string; param: string } }
      return [response.status, error.code, error.param]
    }
    const unreadable = (index: number) => [400, 'invalid_encrypted_content', `input[${index}].encrypted_content`]

    it('what another API key was given, and what was tampered with', async () => {
      const { output } = await compact('chat')
      expect(await refusal({ model: 'chat', input: output }, otherKey)).to.deep.equal(unreadable(2))
      expect(await refusal({ model: 'chat', input: output }, otherKey, '/v1/responses/compact')).to.deep.equal(
        unreadable(2),
      )
      const spoiled = output.map((item) =>
        item.type === 'compaction'
          ? { ...item, encrypted_content: `${item.encrypted_content.slice(0, -12)}AAAAAAAAAAAA` }
          : item,
      )
      expect(await refusal({ model: 'chat', input: spoiled })).to.deep.equal(unreadable(2))
      expect(await refusal({ model: 'large', input: spoiled })).to.deep.equal(unreadable(2))
    })

    it('what a vendor made, toward anyone else', async () => {
      const input = [{ role: 'user', content: 'One?' }, ...native.output]
      for (const model of ['chat', 'echo']) expect(await refusal({ model, input })).to.deep.equal(unreadable(1))
      expect(await refusal({ model: 'chat', input }, gateway.key, '/v1/responses/compact')).to.deep.equal(unreadable(1))
      upstream.answer({ body: { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] } })
      const given = await gateway.post('/v1/responses', { model: 'large', input, store: false })
      expect(given.status).to.equal(200)
      expect((JSON.parse(asked()?.body.toString() ?? '') as { input: unknown }).input).to.deep.equal(input)
    })

    it('what a vendor made inside of what was packed here', async () => {
      upstream.answer({ status: 503, body: {} })
      const { output } = await compact('large', [{ role: 'user', content: 'One?' }, ...native.output] as never)
      expect(await refusal({ model: 'chat', input: output })).to.deep.equal([400, 'invalid_encrypted_content', 'input'])
      upstream.answer({ body: { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [] } })
      const given = await gateway.post('/v1/responses', { model: 'large', input: output, store: false })
      expect(given.status).to.equal(200)
      expect(asked()?.body.toString()).to.include('gAAAA-of-the-vendor')
    })

    it('a body without a model, and an unknown response', async () => {
      expect(await refusal({ input: 'x' }, gateway.key, '/v1/responses/compact')).to.deep.equal([
        400,
        'missing_required_parameter',
        'model',
      ])
      const body = { model: 'chat', previous_response_id: 'resp_unknown' }
      expect(await refusal(body, gateway.key, '/v1/responses/compact')).to.deep.equal([
        400,
        'previous_response_not_found',
        'previous_response_id',
      ])
    })
  })

  it('leaves a wish for compaction unheard toward other upstreams, and says so', async () => {
    upstream.answer({ body: chatAnswer })
    const response = await gateway.post('/v1/responses', {
      model: 'chat',
      input: [{ role: 'user', content: 'One?' }, { type: 'compaction_trigger' }],
      context_management: [{ type: 'compaction', compact_threshold: 1000 }],
      store: false,
    })
    expect(response.status).to.equal(200)
    expect(response.headers.get('x-gateway-losses')).to.include('context_management').and.include('compaction_trigger')
  })
})
