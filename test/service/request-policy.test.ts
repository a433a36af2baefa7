import { expect } from 'chai'
import { ConfigurationError } from '../../engine/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, messagesAnswer, responsesAnswer } from './streams.ts'

const answers = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer }
const paths = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }
const providers = (url: string) => [
  { name: 'chat', type: 'compatible', base_url: url },
  { name: 'messages', type: 'messages', base_url: url, api_key: 'key-of-messages' },
  { name: 'responses', type: 'native', base_url: url, api_key: 'key-of-native' },
]
const models = ['chat', 'messages', 'responses'].map((name) => ({ name, provider: name, supports_mapeval: true }))
const message = { role: 'user', content: 'Hello' }
const asks = {
  chat: { model: 'chat', messages: [message] },
  messages: { model: 'messages', max_tokens: 5, messages: [message] },
  responses: { model: 'responses', input: [message] },
}

type Protocol = keyof typeof answers
type Fields = Record<string, unknown>

describe('the policy for parameters', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: RunningGateway | undefined
  before(async () => {
    upstream = await scriptedUpstream()
  })
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
  })
  after(() => upstream.close())

  const serve = async (policy: Fields): Promise<void> => {
    const server_config = { request_policy: policy }
    gateway = await startGateway({ providers: providers(upstream.url), models, server_config })
  }
  const post = async (protocol: Protocol, fields: Fields): Promise<Response> => {
    const answer = await gateway?.post(paths[protocol], { ...asks[protocol], ...fields })
    return answer ?? expect.fail('no gateway')
  }
  /** What the upstream of the client's own protocol gets, and the losses that the client is told. */
  const sent = async (protocol: Protocol, fields: Fields = {}): Promise<{ body: Fields; losses: string | null }> => {
    upstream.answer({ body: answers[protocol] })
    const answer = await post(protocol, fields)
    expect(answer.status, await answer.text()).to.equal(200)
    const body = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Fields
    return { body, losses: answer.headers.get('x-gateway-losses') }
  }
  const refused = async (protocol: Protocol, fields: Fields): Promise<string> => {
    const asked = upstream.requests.length
    const answer = await post(protocol, fields)
    const { error } = (await answer.json()) as { error: { code?: string; type: string; param?: string } }
    expect(upstream.requests.length, 'the provider was asked').to.equal(asked)
    return `${answer.status} ${error.code ?? error.type} ${error.param}`
  }

  it('changes nothing by default', async () => {
    await serve({})
    const { body, losses } = await sent('chat', { user: 'u', logit_bias: {} })
    expect([body, losses]).to.deep.equal([{ ...asks.chat, user: 'u', logit_bias: {} }, null])
  })

  it('fills in and lowers the maximum of output tokens, in the words of each protocol', async () => {
    await serve({ default_max_output_tokens: 50, max_output_tokens: 80 })
    expect((await sent('chat')).body)
      .to.include({ max_completion_tokens: 50 })
      .and.not.have.property('max_tokens')
    expect((await sent('chat', { max_tokens: 60 })).body)
      .to.include({ max_tokens: 60 })
      .and.not.have.property('max_completion_tokens')
    const high = await sent('chat', { max_tokens: 500 })
    expect([high.body['max_tokens'], high.losses]).to.deep.equal([80, 'max_tokens'])
    expect((await sent('responses', { max_output_tokens: null })).body).to.include({ max_output_tokens: 50 })
    expect((await sent('messages', { max_tokens: 81 })).body).to.include({ max_tokens: 80 })
    // Messages requires the field, which the policy provides before the body is checked.
    expect((await sent('messages', { max_tokens: undefined })).body).to.include({ max_tokens: 50 })
  })

  it('sends its cap for requests that name no maximum, and no more than the model generates', async () => {
    await serve({ max_output_tokens: 80 })
    expect((await sent('chat')).body).to.include({ max_completion_tokens: 80 })
    expect((await sent('responses')).body).to.include({ max_output_tokens: 80 })
    expect((await sent('messages', { max_tokens: undefined })).body).to.include({ max_tokens: 80 })
    await gateway?.close()
    gateway = await startGateway({
      providers: providers(upstream.url),
      models: [
        { name: 'chat', provider: 'chat', fallbacks: ['small'] },
        { name: 'small', provider: 'chat', max_output_tokens: 30 },
      ],
      server_config: { request_policy: { max_output_tokens: 80 } },
    })
    expect((await sent('chat')).body).to.include({ max_completion_tokens: 30 })
  })

  it('keeps the largest of two maxima, whatever is set', async () => {
    await serve({})
    const both = await sent('chat', { max_completion_tokens: 1, max_tokens: 1_000 })
    expect(both.body).to.include({ max_tokens: 1_000 }).and.not.have.property('max_completion_tokens')
    expect(both.losses).to.equal('max_completion_tokens')
    expect((await sent('chat', { max_completion_tokens: 9, max_tokens: 9 })).body)
      .to.include({ max_completion_tokens: 9 })
      .and.not.have.property('max_tokens')
  })

  it('refuses a maximum that would be rounded', async () => {
    await serve({})
    for (const [protocol, field] of [
      ['chat', 'max_tokens'],
      ['messages', 'max_tokens'],
      ['responses', 'max_output_tokens'],
    ] as const) {
      const body = JSON.stringify({ ...asks[protocol], [field]: 0 }).replace(
        `"${field}":0`,
        `"${field}":9007199254740993`,
      )
      const headers = { authorization: `Bearer ${gateway?.key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${gateway?.url}${paths[protocol]}`, { method: 'POST', body, headers })
      expect([answer.status, await answer.text()].join(' '), protocol).to.match(/^400 .*must be/)
    }
  })

  it('drops, fills in and overrides fields', async () => {
    await serve({
      drop_parameters: ['logit_bias'],
      default_parameters: { temperature: 0.5 },
      override_parameters: { seed: 7 },
    })
    const { body, losses } = await sent('chat', { logit_bias: { 5: 1 }, seed: 1 })
    expect(body).to.deep.equal({ ...asks.chat, temperature: 0.5, seed: 7 })
    expect(losses).to.equal('logit_bias')
    expect((await sent('chat', { temperature: 0 })).body).to.deep.equal({ ...asks.chat, temperature: 0, seed: 7 })
  })

  describe('for fields that not every protocol knows', () => {
    const others = {
      embeddings: { model: 'responses', input: 'x' },
      'images/generations': { model: 'responses', prompt: 'x' },
      'images/edits': { model: 'responses', prompt: 'x', image: 'data:,x' },
      'audio/speech': { model: 'responses', input: 'x', voice: 'alloy' },
      decisions: { model: 'responses', input: 'x', questions: [{ type: 'predicate', instructions: 'x' }] },
    }
    /** What the upstream gets beside what the client sent; its answer does not matter. */
    const added = async (route: keyof typeof others, fields: Fields = {}): Promise<Fields> => {
      upstream.answer({ status: 400, body: {} })
      const asked = upstream.requests.length
      await gateway?.post(`/v1/${route}`, { ...others[route], ...fields })
      expect(upstream.requests, route).to.have.length(asked + 1)
      const body = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Fields
      return Object.fromEntries(Object.entries(body).filter(([name]) => !(name in others[route])))
    }

    it('gives them to the protocols that know them alone', async () => {
      const usual = { dimensions: 8, temperature: 0.5, size: '8x8', quality: 'low', speed: 2, logit_bias: { 5: 1 } }
      await serve({ default_parameters: usual })
      expect(await added('embeddings')).to.deep.equal({ dimensions: 8 })
      expect(await added('images/generations')).to.deep.equal({ size: '8x8', quality: 'low' })
      expect(await added('images/edits')).to.deep.equal({ size: '8x8', quality: 'low' })
      expect(await added('audio/speech')).to.deep.equal({ speed: 2 })
      expect(await added('decisions')).to.deep.equal({})
      const vendors = { temperature: 0.5, logit_bias: { 5: 1 } }
      for (const protocol of ['chat', 'messages', 'responses'] as const)
        expect((await sent(protocol)).body).to.deep.equal({
          ...asks[protocol],
          ...vendors,
          // A turn that the gateway keeps has its reasoning.
          ...(protocol === 'responses' ? { include: ['reasoning.encrypted_content'] } : {}),
        })
    })

    it('gives a value that fits the field of one protocol to no other with a field of that name', async () => {
      const format = { response_format: { type: 'json_object' } }
      await serve({ default_parameters: format, override_parameters: { tool_choice: 'auto' } })
      expect((await sent('chat')).body).to.deep.equal({ ...asks.chat, ...format, tool_choice: 'auto' })
      expect(await added('images/generations')).to.deep.equal({})
      expect(await added('audio/speech')).to.deep.equal({})
      const choice = { tool_choice: { type: 'any' } }
      expect((await sent('messages', choice)).body).to.deep.equal({ ...asks.messages, ...choice })
      await gateway?.close()
      await serve({ default_parameters: { response_format: 'b64_json', temperature: 1 } })
      expect(await added('images/generations')).to.deep.equal({ response_format: 'b64_json' })
      expect((await sent('chat')).body).to.deep.equal({ ...asks.chat, temperature: 1 })
    })

    it('tells requests of a value that fits nowhere', async () => {
      await serve({ default_parameters: { top_p: 'hot' } })
      expect(await refused('chat', {})).to.equal('400 invalid_value top_p')
    })

    it('overrides them where they are known, or where the client set them', async () => {
      await serve({ override_parameters: { temperature: 0.5 } })
      expect(await added('embeddings')).to.deep.equal({})
      expect(await added('embeddings', { temperature: 1 })).to.deep.equal({ temperature: 0.5 })
      expect((await sent('chat')).body).to.deep.equal({ ...asks.chat, temperature: 0.5 })
    })
  })

  it('rejects fields, and more tools or messages than allowed, before anybody is asked', async () => {
    await serve({ deny_parameters: ['logprobs'], max_tools: 1, max_messages: 2 })
    expect(await refused('chat', { logprobs: true })).to.equal('400 unsupported_parameter logprobs')
    const tool = { type: 'function', function: { name: 'a' } }
    expect(await refused('chat', { tools: [tool, tool] })).to.equal('400 invalid_request tools')
    expect(await refused('chat', { messages: [message, message, message] })).to.equal('400 invalid_request messages')
    expect(await refused('responses', { input: [message, message, message] })).to.equal('400 invalid_request input')
    expect((await sent('chat', { tools: [tool], messages: [message, message] })).body['tools']).to.have.length(1)
    upstream.answer({ body: { object: 'list', model: 'm', data: [], usage: { prompt_tokens: 3, total_tokens: 3 } } })
    const texts = ['each', 'is embedded', 'for itself']
    expect((await gateway?.post('/v1/embeddings', { model: 'responses', input: texts }))?.status).to.equal(200)
  })

  it('hides the names of end users, or hashes them always in the same way', async () => {
    const named = { user: 'ann', safety_identifier: 'ann' }
    await serve({ end_user: 'drop' })
    expect((await sent('chat', named)).body).to.deep.equal(asks.chat)
    expect((await sent('messages', { metadata: { user_id: 'ann' } })).body['metadata']).to.deep.equal({})
    await gateway?.close()
    await serve({ end_user: 'hash' })
    const { body } = await sent('chat', named)
    expect(body['user']).to.match(/^[0-9a-f]{64}$/)
    expect(body['safety_identifier']).to.equal(body['user'])
    const other = await sent('messages', { metadata: { user_id: 'ann' } })
    expect(other.body['metadata']).to.deep.equal({ user_id: body['user'] })
    expect((await sent('chat', { user: 'bob' })).body['user']).not.to.equal(body['user'])
  })

  it('allows neither background responses nor storage, if it says so', async () => {
    await serve({ allow_background: false, allow_store: false })
    expect(await refused('responses', { background: true })).to.equal('400 unsupported_parameter background')
    upstream.answer({ body: responsesAnswer })
    const answer = (await (await post('responses', { store: true })).json()) as { id: string }
    const got = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Fields
    expect(got['store']).to.equal(false)
    const again = await fetch(`${gateway?.url}/v1/responses/${answer.id}`, {
      headers: { authorization: `Bearer ${gateway?.key}` },
    })
    expect(again.status).to.equal(404)
    expect((await sent('chat', { store: true })).body['store']).to.equal(false)
  })

  it('rejects a form with a field that it would have to remove', async () => {
    await serve({ drop_parameters: ['prompt'] })
    const form = new FormData()
    form.set('model', 'responses')
    form.set('prompt', 'x')
    form.set('file', new Blob(['sound']), 'a.wav')
    const answer = await fetch(`${gateway?.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway?.key}` },
      body: form,
    })
    const { error } = (await answer.json()) as { error: { param: string; code: string } }
    expect([answer.status, error.code, error.param]).to.deep.equal([400, 'unsupported_parameter', 'prompt'])
  })

  it('leaves alone what the gateway itself depends on', async () => {
    for (const policy of [
      { drop_parameters: ['model'] },
      { default_parameters: { stream: true } },
      { override_parameters: { input: 'x' } },
    ]) {
      const error = await serve(policy).then(
        () => expect.fail('it started'),
        (thrown: unknown) => thrown,
      )
      expect(error).to.be.instanceOf(ConfigurationError)
    }
  })
})
