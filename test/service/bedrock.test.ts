import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import type { ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { JsonObject } from '../../engine/index.ts'
import { anthropic, openai } from '../support/clients.ts'
import { converseMessages, converseReply, converseStream, ended, said, wrongSignature } from '../support/converse.ts'
import type { ConverseEvent } from '../support/converse.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { RecordedRequest, ScriptedUpstream } from '../support/upstream.ts'

const region = 'eu-central-1'
const credentials = {
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'secret/of+the/gateway',
  sessionToken: 'token-of-the-session',
}
const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const arnOf = (resource: string) => `arn:aws:bedrock:eu-central-1:123456789012:${resource}`
const arn = arnOf('application-inference-profile/a1b2c3')
const messages = [{ role: 'user' as const, content: 'Hello' }]
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } }

const thinking: readonly ConverseEvent[] = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Two ' } } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'cities.' } } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'c2lnbmVk' } } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { reasoningContent: { redactedContent: 'AAEC' } } }],
  ['contentBlockStop', { contentBlockIndex: 1 }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'Let me look.' } }],
  ['contentBlockStop', { contentBlockIndex: 2 }],
  ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'tooluse_1', name: 'weather' } } }],
  ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '{"city":' } } }],
  ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '"Rome"}' } } }],
  ['contentBlockStop', { contentBlockIndex: 3 }],
  ['contentBlockStart', { contentBlockIndex: 4, start: { toolUse: { toolUseId: 'tooluse_2', name: 'now' } } }],
  ['contentBlockStop', { contentBlockIndex: 4 }],
  ...ended('tool_use', { cacheReadInputTokens: 100, cacheWriteInputTokens: 20 }),
]
/** The same as a whole answer. */
const thought = converseReply(
  [
    { reasoningContent: { reasoningText: { text: 'Two cities.', signature: 'c2lnbmVk' } } },
    { reasoningContent: { redactedContent: 'AAEC' } },
    { text: 'Let me look.' },
    { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Rome' } } },
    { toolUse: { toolUseId: 'tooluse_2', name: 'now', input: {} } },
  ],
  'tool_use',
  { cacheReadInputTokens: 100, cacheWriteInputTokens: 20 },
)
const text = converseReply([{ text: 'Hi there' }])

describe('bedrock', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { type: 'bedrock', base_url: upstream.url, region }
    const keys = { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey }
    gateway = await startGateway({
      server_config: {
        security: { file_urls: { allow_private: true } },
        request_policy: { lost_content: 'describe' },
      },
      providers: [
        { ...at, ...keys, name: 'signed', session_token: credentials.sessionToken },
        { ...at, ...keys, name: 'lasting', session_token: '' },
        { ...at, name: 'bearer', api_key: 'bedrock-api-key-1' },
        {
          ...at,
          name: 'guarded',
          api_key: 'bedrock-api-key-1',
          guardrail: { guardrailIdentifier: 'g1', guardrailVersion: '2' },
          model_fields: { anthropic_beta: ['context-1m-2025-08-07'] },
          traits: { json_schema: true, effort: true },
        },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'claude', provider: 'signed', upstream_model: claude },
        { name: 'profile', provider: 'lasting', upstream_model: arn },
        { name: 'key', provider: 'bearer', upstream_model: claude },
        { name: 'american', provider: 'bearer', upstream_model: claude.replace('eu.', 'us.') },
        { name: 'nova', provider: 'bearer', upstream_model: 'us.amazon.nova-2-lite-v1:0' },
        { name: 'llama', provider: 'bearer', upstream_model: 'us.meta.llama3-3-70b-instruct-v1:0' },
        { name: 'gpt', provider: 'bearer', upstream_model: 'openai.gpt-oss-120b-1:0' },
        ...[
          ['claude-arn', arnOf(`inference-profile/${claude}`)],
          ['nova-arn', 'arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0'],
          ['own-profile', arn],
          ['another-profile', arnOf('application-inference-profile/a9z8y7')],
          ['bought', arnOf('provisioned-model/a1b2c3')],
        ].map(([name, upstream_model]) => ({ name, provider: 'bearer', upstream_model })),
        { name: 'guarded', provider: 'guarded', upstream_model: claude },
        { name: 'safe', provider: 'bearer', upstream_model: claude, fallbacks: ['echo'] },
        { name: 'echo', provider: 'echo' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const last = () => upstream.requests.at(-1) as RecordedRequest
  const sent = () => JSON.parse(last().body.toString()) as JsonObject
  const vendor = (config: object) =>
    new BedrockRuntimeClient({
      region,
      endpoint: upstream.url,
      requestHandler: new NodeHttpHandler(),
      maxAttempts: 1,
      ...config,
    })
  const refusal = async (ask: Promise<unknown>) =>
    (await ask.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as InstanceType<typeof OpenAI.APIError>

  describe('is asked as its own client asks', () => {
    const input = (modelId: string): ConverseCommandInput => ({
      modelId,
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
    })

    for (const [name, modelId, given] of [
      ['claude', claude, credentials],
      ['profile', arn, { ...credentials, sessionToken: undefined }],
    ] as const)
      it(`at the address of ${name}, with a signature over it and the body`, async () => {
        upstream.answer(text)
        await vendor({ credentials: given }).send(new ConverseCommand(input(modelId)))
        const theirs = last()
        expect(wrongSignature(theirs, credentials.secretAccessKey)).to.equal(undefined)
        await openai(gateway).chat.completions.create({ model: name, messages })
        const ours = last()
        expect(wrongSignature(ours, credentials.secretAccessKey)).to.equal(undefined)
        expect([ours.method, ours.path]).to.deep.equal([theirs.method, theirs.path])
        expect(ours.headers['x-amz-security-token']).to.equal(theirs.headers['x-amz-security-token'])
        expect(ours.headers['content-type']).to.equal('application/json')
        expect(sent()).to.deep.equal(JSON.parse(theirs.body.toString()))
        // The check would notice another body and another path.
        expect(wrongSignature({ ...ours, body: Buffer.from('{}') }, credentials.secretAccessKey)).to.be.a('string')
        expect(wrongSignature({ ...ours, path: decodeURIComponent(ours.path) }, credentials.secretAccessKey)).to.be.a(
          'string',
        )
      })

    it('for a stream, which both read', async () => {
      upstream.answer(converseStream(said('Hi ', 'there')))
      const answer = await vendor({ credentials }).send(new ConverseStreamCommand(input(claude)))
      let theirs = ''
      for await (const event of answer.stream ?? []) theirs += event.contentBlockDelta?.delta?.text ?? ''
      const { path } = last()
      const stream = openai(gateway).chat.completions.stream({ model: 'claude', messages })
      expect((await stream.finalMessage()).content).to.equal(theirs)
      expect(theirs).to.equal('Hi there')
      expect(last().path).to.equal(path)
      expect(wrongSignature(last(), credentials.secretAccessKey)).to.equal(undefined)
    })

    it('with an API key as a bearer token', async () => {
      upstream.answer(text)
      await vendor({ token: { token: 'bedrock-api-key-1' }, authSchemePreference: ['httpBearerAuth'] }).send(
        new ConverseCommand(input(claude)),
      )
      const { authorization } = last().headers
      await openai(gateway).chat.completions.create({ model: 'key', messages })
      expect(last().headers.authorization).to.equal(authorization)
      expect(last().headers['x-amz-date']).to.equal(undefined)
    })

    it('again for each try, with a signature of its own', async () => {
      const before = upstream.requests.length
      upstream.answer({ status: 503, body: { message: 'busy' } }, text)
      await openai(gateway).chat.completions.create({ model: 'claude', messages })
      const tries = upstream.requests.slice(before)
      expect(tries).to.have.length(2)
      for (const one of tries) expect(wrongSignature(one, credentials.secretAccessKey)).to.equal(undefined)
    })
  })

  it('answers clients of every protocol, whole and streamed', async () => {
    const reply = converseReply([{ text: 'Hi there' }], 'max_tokens')
    const stream = converseStream([...said('Hi ', 'there').slice(0, -2), ...ended('max_tokens')])
    upstream.answer(reply, reply, reply, stream, stream, stream)
    const client = openai(gateway)
    const chat = await client.chat.completions.create({ model: 'claude', messages, max_tokens: 9 })
    expect(chat.choices[0]).to.deep.include({ finish_reason: 'length' })
    expect(chat.usage).to.include({ prompt_tokens: 7, completion_tokens: 3 })
    const response = await client.responses.create({ model: 'claude', input: 'Hello', store: false })
    expect([response.output_text, response.status]).to.deep.equal(['Hi there', 'incomplete'])
    const own = await anthropic(gateway).messages.create({ model: 'claude', messages, max_tokens: 9 })
    expect(own).to.deep.include({ content: [{ type: 'text', text: 'Hi there' }], stop_reason: 'max_tokens' })
    expect(sent()).to.deep.equal({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { maxTokens: 9 },
    })
    const live = await client.chat.completions.stream({ model: 'claude', messages }).finalChatCompletion()
    expect(live.choices[0]).to.deep.include({ finish_reason: 'length' })
    expect(live.choices[0]?.message.content).to.equal('Hi there')
    const responses = await client.responses.stream({ model: 'claude', input: 'Hello', store: false }).finalResponse()
    expect(responses.output_text).to.equal('Hi there')
    expect(responses.usage).to.include({ input_tokens: 7, output_tokens: 3 })
    const message = await anthropic(gateway)
      .messages.stream({ model: 'claude', messages, max_tokens: 9 })
      .finalMessage()
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hi there' }])
  })

  for (const how of ['whole', 'streamed'] as const)
    it(`keeps reasoning, calls and caches through a conversation of a messages client, ${how}`, async () => {
      const client = anthropic(gateway)
      const tools: Anthropic.Tool[] = [
        { name: 'weather', description: 'Tells it.', input_schema: parameters },
        { name: 'now', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
      ]
      const asked = {
        model: 'claude',
        max_tokens: 4000,
        thinking: { type: 'enabled' as const, budget_tokens: 2000 },
        system: [
          {
            type: 'text' as const,
            text: 'Be brief.',
            cache_control: { type: 'ephemeral' as const, ttl: '1h' as const },
          },
        ],
        tools,
      }
      upstream.answer(how === 'whole' ? thought : converseStream(thinking))
      const first =
        how === 'whole'
          ? await client.messages.create({ ...asked, messages })
          : await client.messages.stream({ ...asked, messages }).finalMessage()
      expect(first.content.map(({ type }) => type)).to.deep.equal([
        'thinking',
        'redacted_thinking',
        'text',
        'tool_use',
        'tool_use',
      ])
      expect(first.content[0]).to.include({ thinking: 'Two cities.' })
      expect(first.content[3]).to.deep.include({ id: 'tooluse_1', name: 'weather', input: { city: 'Rome' } })
      expect(first.content[4]).to.deep.include({ id: 'tooluse_2', name: 'now', input: {} })
      expect(first.stop_reason).to.equal('tool_use')
      expect(first.usage).to.include({
        input_tokens: 7,
        output_tokens: 3,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
      })
      upstream.answer(text)
      const results: Anthropic.ToolResultBlockParam[] = [
        { type: 'tool_result', tool_use_id: 'tooluse_2', content: 'noon', cache_control: { type: 'ephemeral' } },
        { type: 'tool_result', tool_use_id: 'tooluse_1', content: 'unknown city', is_error: true },
      ]
      const turns: Anthropic.MessageParam[] = [
        ...messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [...results, { type: 'text', text: 'And?' }] },
      ]
      await client.messages.create({ ...asked, messages: turns })
      expect(sent()).to.deep.equal({
        system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
        messages: [
          { role: 'user', content: [{ text: 'Hello' }] },
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'Two cities.', signature: 'c2lnbmVk' } } },
              { reasoningContent: { redactedContent: 'AAEC' } },
              { text: 'Let me look.' },
              { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Rome' } } },
              { toolUse: { toolUseId: 'tooluse_2', name: 'now', input: {} } },
            ],
          },
          {
            role: 'user',
            content: [
              { toolResult: { toolUseId: 'tooluse_2', content: [{ text: 'noon' }] } },
              { cachePoint: { type: 'default' } },
              { toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'unknown city' }], status: 'error' } },
              { text: 'And?' },
            ],
          },
        ],
        toolConfig: {
          tools: [
            { toolSpec: { name: 'weather', description: 'Tells it.', inputSchema: { json: parameters } } },
            { toolSpec: { name: 'now', inputSchema: { json: { type: 'object' } } } },
            { cachePoint: { type: 'default' } },
          ],
        },
        inferenceConfig: { maxTokens: 4000 },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      })
    })

  for (const [maker, asked, goes] of [
    ['key', 'american', true],
    ['american', 'nova', false],
    ['nova', 'american', false],
    ['key', 'claude-arn', true],
    ['claude-arn', 'nova-arn', false],
    ['own-profile', 'own-profile', true],
    ['own-profile', 'another-profile', false],
    ['own-profile', 'bought', false],
  ] as const)
    it(`${goes ? 'sends' : 'does not send'} the reasoning of ${maker} to ${asked}`, async () => {
      const ask = (model: string, more: readonly Anthropic.MessageParam[] = []) =>
        anthropic(gateway).messages.create({ model, max_tokens: 9, messages: [...messages, ...more] })
      upstream.answer(converseReply([{ reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } }]))
      const { content } = await ask(maker)
      upstream.answer(text)
      await ask(asked, [
        { role: 'assistant', content: [...content, { type: 'text', text: 'Hi' }] },
        { role: 'user', content: 'And?' },
      ])
      expect(JSON.stringify(sent()).includes('"signature":"c2ln"')).to.equal(goes)
    })

  it('takes images, documents and URLs as bytes, under names that the API takes', async () => {
    const png = 'iVBORw0KGgo='
    const pdf = Buffer.from('%PDF-1.7').toString('base64')
    const files = await scriptedUpstream()
    files.answer({ body: Buffer.from('GIF89a'), headers: { 'content-type': 'image/gif' } })
    upstream.answer(text)
    const { response } = await openai(gateway)
      .responses.create({
        model: 'claude',
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${png}` },
              { type: 'input_image', detail: 'auto', image_url: `${files.url}/a.gif` },
              { type: 'input_image', detail: 'auto', image_url: 's3://bucket/a.webp' },
              { type: 'input_file', filename: 'été_2026 (v.1).pdf', file_data: `data:application/pdf;base64,${pdf}` },
              { type: 'input_file', filename: 'été_2026 (v.1).pdf', file_data: `data:application/pdf;base64,${pdf}` },
              { type: 'input_file', filename: 'a.zip', file_data: `data:application/zip;base64,${pdf}` },
            ],
          },
        ],
      })
      .withResponse()
    await files.close()
    const document = (name: string) => ({ document: { format: 'pdf', source: { bytes: pdf }, name } })
    expect(sent()['messages']).to.deep.equal([
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: png } } },
          { image: { format: 'gif', source: { bytes: Buffer.from('GIF89a').toString('base64') } } },
          { image: { format: 'webp', source: { s3Location: { uri: 's3://bucket/a.webp' } } } },
          document('t 2026 (v 1)'),
          document('t 2026 (v 1) (2)'),
          { text: '[file omitted: a.zip]' },
        ],
      },
    ])
    expect(response.headers.get('x-gateway-losses')).to.equal('messages[].content.file')
  })

  it('sends a text beside a document, which the API requires', async () => {
    upstream.answer(text)
    const source = { type: 'text' as const, media_type: 'text/plain' as const, data: 'notes' }
    const content = [{ type: 'document' as const, source, cache_control: { type: 'ephemeral' as const } }]
    await anthropic(gateway).messages.create({ model: 'claude', max_tokens: 9, messages: [{ role: 'user', content }] })
    expect(sent()['messages']).to.deep.equal([
      {
        role: 'user',
        content: [
          { text: 'See the document.' },
          // No cache point follows: the API takes one after PDFs alone.
          { document: { format: 'txt', source: { bytes: Buffer.from('notes').toString('base64') }, name: 'document' } },
        ],
      },
    ])
  })

  it('maps options, and names those that it cannot say', async () => {
    upstream.answer(text)
    const { response } = await openai(gateway)
      .chat.completions.create({
        model: 'claude',
        messages,
        temperature: 1.5,
        top_p: 0.5,
        stop: ['END', ' '],
        seed: 4,
        user: 'u',
        metadata: { team: 'a b' },
        service_tier: 'flex',
        parallel_tool_calls: false,
        tools: [{ type: 'function', function: { name: 'weather', parameters } }],
        tool_choice: { type: 'function', function: { name: 'weather' } },
        response_format: { type: 'json_object' },
      })
      .withResponse()
    expect(sent()).to.deep.equal({
      system: [{ text: 'Answer with one JSON object and nothing else.' }],
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      toolConfig: {
        tools: [{ toolSpec: { name: 'weather', inputSchema: { json: parameters } } }],
        toolChoice: { tool: { name: 'weather' } },
      },
      inferenceConfig: { temperature: 1, stopSequences: ['END'] },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      requestMetadata: { team: 'a b' },
      serviceTier: { type: 'flex' },
    })
    expect((response.headers.get('x-gateway-losses') ?? '').split(', ')).to.have.members([
      'parallel_tool_calls',
      'temperature',
      'top_p',
      'response_format',
      'seed',
      'user',
    ])
  })

  it('declares tools where the conversation has calls, and no tool may be called', async () => {
    const call = { id: 'c1', type: 'function' as const, function: { name: 'weather', arguments: '{"city":"Rome"}' } }
    const turns: OpenAI.ChatCompletionMessageParam[] = [
      ...messages,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ]
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'weather', parameters } }]
    const create = (body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) =>
      openai(gateway).chat.completions.create({ model: 'claude', messages: turns, ...body })
    upstream.answer(text)
    await create({})
    const spec = (json: object) => ({ tools: [{ toolSpec: { name: 'weather', inputSchema: { json } } }] })
    expect(sent()['toolConfig']).to.deep.equal(spec({ type: 'object', properties: {} }))
    expect((sent()['messages'] as JsonObject[])[2]).to.deep.equal({
      role: 'user',
      content: [{ toolResult: { toolUseId: 'c1', content: [] } }],
    })
    await create({ tools, tool_choice: 'none' })
    expect(sent()['toolConfig']).to.deep.equal(spec(parameters))
    await create({ messages, tools, tool_choice: 'none' })
    expect(sent()).to.not.have.property('toolConfig')
    await create({ messages, tools, tool_choice: 'required' })
    expect(sent()['toolConfig']).to.deep.equal({ ...spec(parameters), toolChoice: { any: {} } })
  })

  it("puts each family's reasoning in its own fields", async () => {
    upstream.answer(text)
    const fields = async (model: string, reasoning_effort: 'none' | 'low' | 'xhigh') => {
      await openai(gateway).chat.completions.create({ model, messages, reasoning_effort })
      const { inferenceConfig, outputConfig, additionalModelRequestFields } = sent()
      return { inferenceConfig, outputConfig, additionalModelRequestFields }
    }
    const none = { inferenceConfig: undefined, outputConfig: undefined, additionalModelRequestFields: undefined }
    expect(await fields('claude', 'low')).to.deep.equal({
      ...none,
      inferenceConfig: { maxTokens: 32_000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } },
    })
    expect(await fields('claude', 'none')).to.deep.equal(none)
    expect(await fields('nova', 'xhigh')).to.deep.equal({
      ...none,
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    })
    expect(await fields('gpt', 'low')).to.deep.equal({
      ...none,
      additionalModelRequestFields: { reasoning_effort: 'low' },
    })
    expect(await fields('llama', 'low')).to.deep.equal(none)
    expect(await fields('guarded', 'low')).to.deep.equal({
      ...none,
      outputConfig: { effort: 'low' },
      additionalModelRequestFields: { anthropic_beta: ['context-1m-2025-08-07'], thinking: { type: 'adaptive' } },
    })
  })

  it('sends the guardrail and the fields of its settings, and a schema to a model that takes one', async () => {
    upstream.answer(converseReply([{ text: '{}' }], 'guardrail_intervened'))
    const chat = await openai(gateway).chat.completions.create({
      model: 'guarded',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema: parameters } },
    })
    expect(chat.choices[0]?.finish_reason).to.equal('content_filter')
    expect(sent()).to.deep.equal({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: {
            jsonSchema: { schema: JSON.stringify({ ...parameters, additionalProperties: false }), name: 'place' },
          },
        },
      },
      additionalModelRequestFields: { anthropic_beta: ['context-1m-2025-08-07'] },
      guardrailConfig: { guardrailIdentifier: 'g1', guardrailVersion: '2' },
    })
    upstream.answer(converseStream([...said('No.').slice(0, -2), ...ended('guardrail_intervened')]))
    const message = await anthropic(gateway)
      .messages.stream({ model: 'guarded', messages, max_tokens: 9 })
      .finalMessage()
    expect([message.stop_reason, message.content]).to.deep.equal(['refusal', [{ type: 'text', text: 'No.' }]])
  })

  it('tells the stop sequence that ended an answer', async () => {
    const more = { additionalModelResponseFields: { stop_sequence: 'END' } }
    upstream.answer({ body: { ...(converseReply([{ text: 'Hi' }], 'stop_sequence').body as JsonObject), ...more } })
    const asked = { model: 'claude', messages, max_tokens: 9, stop_sequences: ['END'] }
    const whole = await anthropic(gateway).messages.create(asked)
    expect([whole.stop_reason, whole.stop_sequence]).to.deep.equal(['stop_sequence', 'END'])
    const events = said('Hi').slice(0, -2)
    upstream.answer(
      converseStream([...events, ['messageStop', { stopReason: 'stop_sequence', ...more }], ...ended('').slice(1)]),
    )
    const live = await anthropic(gateway).messages.stream(asked).finalMessage()
    expect([live.stop_reason, live.stop_sequence]).to.deep.equal(['stop_sequence', 'END'])
  })

  describe("tells its errors in the client's words", () => {
    const chat = (model = 'key') => openai(gateway).chat.completions.create({ model, messages })
    const typed = (status: number, type: string, message: string) => ({
      status,
      headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
      body: { message },
    })

    for (const [status, type, seen] of [
      [400, 'ValidationException', 400],
      [400, 'ServiceQuotaExceededException', 429],
      [400, 'ThrottlingException', 429],
      [400, 'RequestExpired', 502],
      [400, 'com.amazon.coral.service#IncompleteSignature', 502],
      [403, 'AccessDeniedException', 502],
      [404, 'ResourceNotFoundException', 404],
      [408, 'ModelTimeoutException', 504],
      [424, 'ModelErrorException', 502],
      [429, 'ThrottlingException', 429],
      [500, 'InternalServerException', 502],
    ] as const)
      it(`${status} ${type}: ${seen}`, async () => {
        upstream.answer(typed(status, type, 'it is as it is'))
        const error = await refusal(chat())
        expect(error.status).to.equal(seen)
        if (seen < 500) expect(error.message).to.contain('it is as it is')
      })

    it('a conversation that is too long, in the words that agents know', async () => {
      upstream.answer(typed(400, 'ValidationException', 'Input is too long for requested model.'))
      expect(await refusal(chat())).to.include({ status: 400, code: 'context_length_exceeded' })
      const own = await refusal(anthropic(gateway).messages.create({ model: 'key', messages, max_tokens: 9 }))
      expect(own.message).to.contain('prompt is too long')
    })

    it('keeps its credentials to itself', async () => {
      const { secretAccessKey, sessionToken } = credentials
      upstream.answer(typed(400, 'ValidationException', `bad ${secretAccessKey} and ${sessionToken}`))
      const error = await refusal(chat('claude'))
      expect(error.status).to.equal(400)
      expect(error.message).not.to.contain(secretAccessKey)
      expect(error.message).not.to.contain(sessionToken)
      expect(gateway.lines.join('\n')).not.to.contain(secretAccessKey)
    })

    it('an exception as the first message of a stream: another model answers', async () => {
      const ask = { messages, stream: true } as const
      for (const exception of ['throttlingException', 'modelTimeoutException']) {
        upstream.answer(converseStream([[exception, { message: 'slow down' }]]))
        const stream = await openai(gateway).chat.completions.create({ ...ask, model: 'safe' })
        const chunks = await Array.fromAsync(stream)
        expect(chunks.length).to.be.above(1)
      }
      upstream.answer(converseStream([['throttlingException', { message: 'slow down' }]]))
      const error = await refusal(openai(gateway).chat.completions.create({ ...ask, model: 'key' }))
      expect([error.status, error.message]).to.deep.equal([429, '429 slow down'])
    })

    it('a model that takes too long: another model answers', async () => {
      upstream.answer(typed(408, 'ModelTimeoutException', 'too slow'))
      expect((await chat('safe')).model).to.equal('echo')
    })

    for (const name of [
      'modelStreamErrorException',
      'internalServerException',
      'validationException',
      'somethingNewException',
    ])
      it(`${name} in the middle of a stream`, async () => {
        upstream.answer(converseStream([...said('Hi').slice(0, 2), [name, { message: 'it broke' }]]))
        const stream = await openai(gateway).chat.completions.create({ model: 'key', messages, stream: true })
        const error = await refusal(Array.fromAsync(stream))
        expect(error.message).to.contain('it broke')
      })

    it('an answer that the model could not write', async () => {
      upstream.answer(converseReply([], 'malformed_tool_use'))
      expect(await refusal(chat())).to.include({ status: 502 })
      upstream.answer(converseStream([...said('Hi').slice(0, -2), ...ended('malformed_model_output')]))
      const stream = await openai(gateway).chat.completions.create({ model: 'key', messages, stream: true })
      expect((await refusal(Array.fromAsync(stream))).message).to.contain(
        'the model wrote what its provider could not read',
      )
    })

    it('a stream that ends too early, and one without usage', async () => {
      upstream.answer(converseStream(said('Hi').slice(0, 2)))
      const stream = await openai(gateway).chat.completions.create({ model: 'key', messages, stream: true })
      expect((await refusal(Array.fromAsync(stream))).message).to.contain('ended before it was complete')
      const { headers = {} } = converseStream([])
      upstream.answer({ headers, chunks: [converseMessages(said('Hi')).subarray(0, -20)] })
      const cut = await openai(gateway).chat.completions.create({ model: 'key', messages, stream: true })
      expect((await refusal(Array.fromAsync(cut))).message).to.contain('a message of its event stream is damaged')
      const { metadata } = await gateway.row((row) => row.metadata.includes('event stream is damaged'))
      expect(JSON.parse(metadata)).to.include({ usage: 'estimated' })
      upstream.answer(converseStream(said('Hi').slice(0, -1)))
      const live = await openai(gateway).chat.completions.stream({ model: 'key', messages }).finalChatCompletion()
      expect(live.choices[0]?.finish_reason).to.equal('stop')
    })
  })
})
