import { expect } from 'chai'
import OpenAI, { AzureOpenAI, toFile } from 'openai'
import type { JsonObject } from '../../engine/index.ts'
import azure from '../../plugins/providers/azure.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { openProvider, testHost } from '../support/host.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { RecordedRequest, Script, ScriptedUpstream } from '../support/upstream.ts'

const version = '2025-04-01-preview'
const model = 'my-gpt/4'
const messages = [{ role: 'user' as const, content: 'Hello' }]
const completion = (content: string): JsonObject => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})
const response: JsonObject = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt',
  status: 'completed',
  output: [],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
}
/** What the service says of a prompt that its filter stops (learn.microsoft.com/azure/foundry/openai/concepts/content-filter). */
const filtered: Script = {
  status: 400,
  body: {
    error: {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: {
        code: 'ResponsibleAIPolicyViolation',
        content_filter_result: {
          violence: { filtered: true, severity: 'high' },
          hate: { filtered: false, severity: 'safe' },
        },
      },
    },
  },
}

type Client = Pick<OpenAI, 'chat' | 'responses' | 'embeddings' | 'images' | 'audio'>
const file = () => toFile(Buffer.from('abc'), 'a.mp3', { type: 'audio/mpeg' })
const picture = () => toFile(Buffer.from('abc'), 'a.png', { type: 'image/png' })

/** Each operation, asked by an official client, and what the service answers. */
const operations: Readonly<Record<string, readonly [ask: (client: Client) => Promise<unknown>, answer: Script]>> = {
  chat: [(client) => client.chat.completions.create({ model, messages }), { body: completion('Hi') }],
  responses: [(client) => client.responses.create({ model, input: 'Hello', store: false }), { body: response }],
  embeddings: [
    (client) => client.embeddings.create({ model, input: 'a', encoding_format: 'float' }),
    { body: { object: 'list', model, data: [{ object: 'embedding', index: 0, embedding: [1] }] } },
  ],
  images: [(client) => client.images.generate({ model, prompt: 'a' }), { body: { created: 1, data: [] } }],
  edits: [
    async (client) => client.images.edit({ model, prompt: 'a', image: await picture() }),
    { body: { created: 1, data: [] } },
  ],
  speech: [
    (client) => client.audio.speech.create({ model, voice: 'alloy', input: 'a' }),
    { body: Buffer.from([1, 255]), headers: { 'content-type': 'audio/mpeg' } },
  ],
  transcriptions: [
    async (client) => client.audio.transcriptions.create({ model, file: await file() }),
    { body: { text: 'a' } },
  ],
  translations: [
    async (client) => client.audio.translations.create({ model, file: await file() }),
    { body: { text: 'a' } },
  ],
}

describe('azure', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const common = { type: 'azure', base_url: `${upstream.url}/openai`, api_key: 'azure-key-of-the-gateway' }
    const on = (provider: string, more: object = {}) => ({ name: provider, provider, upstream_model: model, ...more })
    gateway = await startGateway({
      providers: [
        { ...common, name: 'dated', api_version: version },
        { ...common, name: 'plain', base_url: `${upstream.url}/openai/v1/` },
        { ...common, name: 'bare', base_url: upstream.url, auth: 'bearer' },
        { ...common, name: 'old', api_version: '2024-10-21', traits: { service_tier: true } },
      ],
      models: [on('dated'), on('plain'), on('bare'), on('old')],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })
  beforeEach(() => {
    asked = upstream.requests.length
  })
  let asked = 0
  const last = () => upstream.requests.at(-1) as RecordedRequest
  const sent = () => JSON.parse(last().body.toString()) as JsonObject
  /** The official client, whose model is one of the gateway's in place of the deployment. */
  const client = (name: string): Client => {
    const rename: typeof fetch = async (url, init) => {
      const { body } = init ?? {}
      if (body instanceof FormData) body.set('model', name)
      return fetch(url, {
        ...init,
        body: typeof body === 'string' ? body.replace(JSON.stringify(model), `"${name}"`) : body,
      } as RequestInit)
    }
    return openai(gateway, { fetch: rename })
  }
  const refusal = async (ask: Promise<unknown>) =>
    (await ask.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as InstanceType<typeof OpenAI.APIError>

  for (const [name, [ask, answer]] of Object.entries(operations)) {
    it(`is asked for ${name} as its own client asks`, async () => {
      upstream.answer(answer)
      const own = new AzureOpenAI({
        endpoint: upstream.url,
        apiVersion: version,
        apiKey: 'azure-key-of-the-gateway',
        maxRetries: 0,
      })
      await ask(own)
      const theirs = last()
      await ask(client('dated'))
      const ours = last()
      expect(upstream.requests.length - asked).to.equal(2)
      expect([ours.method, ours.path]).to.deep.equal([theirs.method, theirs.path])
      expect(ours.headers['api-key']).to.equal(theirs.headers['api-key'])
      expect(ours.headers.authorization).to.equal(undefined)
      if (ours.headers['content-type'] === 'application/json')
        expect(sent()).to.deep.equal(JSON.parse(theirs.body.toString()))
    })

    it(`has an address without a version for ${name}`, async () => {
      upstream.answer(answer)
      const own = new OpenAI({ baseURL: `${upstream.url}/openai/v1`, apiKey: 'k', maxRetries: 0 })
      await ask(own)
      const { path } = last()
      await ask(client('plain'))
      expect(last().path).to.equal(path)
      expect(last().headers['api-key']).to.equal('azure-key-of-the-gateway')
    })
  }

  it('takes a bearer token, and an address without a path', async () => {
    upstream.answer({ body: completion('Hi') })
    await client('bare').chat.completions.create({ model, messages })
    expect(last().path).to.equal('/openai/v1/chat/completions')
    expect(last().headers.authorization).to.equal('Bearer azure-key-of-the-gateway')
    expect(last().headers['api-key']).to.equal(undefined)
  })

  it('has no responses before the version that brought them, and is asked for chat completions then', async () => {
    upstream.answer({ body: completion('Hi there') })
    const { output_text } = await client('old').responses.create({
      model,
      input: 'Hello',
      store: false,
      safety_identifier: 'u1',
      service_tier: 'flex',
    })
    expect(output_text).to.equal('Hi there')
    expect(last().path).to.equal('/openai/deployments/my-gpt%2F4/chat/completions?api-version=2024-10-21')
    // Fields that this version refuses are left out, and those of `traits` are not.
    expect(sent()).to.deep.equal({ model, messages, user: 'u1', service_tier: 'flex' })
  })

  it("tells of its content filter in the client's form", async () => {
    upstream.answer(filtered)
    const { message } = (filtered.body as { error: { message: string } }).error
    const chat = await refusal(client('dated').chat.completions.create({ model, messages }))
    expect([chat.status, chat.error]).to.deep.equal([
      400,
      { message, type: 'invalid_request_error', param: 'prompt', code: 'content_filter' },
    ])
    const responses = await refusal(client('dated').responses.create({ model, input: 'Hello' }))
    expect(responses.code).to.equal('content_filter')
    const spoken = await refusal(client('dated').audio.speech.create({ model, voice: 'alloy', input: 'a' }))
    expect(spoken.code).to.equal('content_filter')
    const own = await refusal(anthropic(gateway).messages.create({ model: 'old', messages, max_tokens: 9 }))
    expect(own.status).to.equal(400)
    expect(own.error).to.deep.include({
      type: 'error',
      error: { type: 'invalid_request_error', message },
    })
  })

  it('streams through its filter: chunks without choices, and an answer that is cut', async () => {
    const chunk = (more: JsonObject) => ({
      data: { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt', ...more },
    })
    const frames: Script['frames'] = [
      chunk({ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }),
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'I ' }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, content_filter_offsets: { check_offset: 2 }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter', content_filter_results: {} }] }),
      '[DONE]',
    ]
    upstream.answer({ frames })
    const chat = await client('dated').chat.completions.create({ model, messages, stream: true })
    const chunks = await Array.fromAsync(chat)
    expect(chunks[0]).to.have.property('prompt_filter_results')
    expect(chunks.at(-1)?.choices[0]?.finish_reason).to.equal('content_filter')
    const message = await anthropic(gateway).messages.stream({ model: 'old', messages, max_tokens: 9 }).finalMessage()
    expect(message.content).to.deep.equal([{ type: 'text', text: 'I ' }])
    expect(message.stop_reason).to.equal('refusal')
  })

  it('keeps a wrong key to itself', async () => {
    upstream.answer({
      status: 401,
      body: { error: { code: '401', message: 'Access denied: azure-key-of-the-gateway.' } },
    })
    const error = await refusal(client('dated').chat.completions.create({ model, messages }))
    expect(error.status).to.equal(502)
    expect(error.message).not.to.contain('azure-key')
  })

  it('lists its models, with the version and without', async () => {
    const host = testHost()
    const at = { base_url: `${upstream.url}/openai`, api_key: 'k' }
    upstream.answer({ body: { object: 'list', data: [{ id: 'gpt-4o' }] } })
    for (const [settings, path] of [
      [{ ...at, api_version: version }, `/openai/models?api-version=${version}`],
      [at, '/openai/v1/models'],
    ] as const) {
      const listed = await openProvider(azure, settings, host).models?.(AbortSignal.timeout(600_000))
      expect(listed).to.deep.equal(['gpt-4o'])
      expect([last().path, last().headers['api-key']]).to.deep.equal([path, 'k'])
    }
    await host.closeKept()
  })

  it('cannot be opened with the full address of an operation', async () => {
    const host = testHost()
    const open = (base_url: string) => () => openProvider(azure, { base_url, api_key: 'k' }, host)
    const at = 'https://name.openai.azure.com/openai'
    const refused = (word: string) => `base_url must be what comes before "/${word}"`
    expect(open(`${at}/deployments/m/chat/completions?api-version=1`)).to.throw(refused('deployments'))
    expect(open(`${at}/v1/responses`)).to.throw(refused('v1'))
    expect(open('name.openai.azure.com')).to.throw('base_url must be an address that starts with https://')
    await host.closeKept()
  })
})
