import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { JsonObject } from '../../engine/index.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

const upstreamModel = 'gemini-3-pro'
const usage = { promptTokenCount: 11, candidatesTokenCount: 3, thoughtsTokenCount: 4, totalTokenCount: 18 }
const meta = { modelVersion: upstreamModel, responseId: 'answer-1' }

/** An answer, or a chunk of one, with these parts. */
function said(parts: readonly object[], more: object = {}): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata: usage,
    ...meta,
  } as never
}

function whole(...parts: readonly object[]): Script {
  return { body: said(parts, { finishReason: 'STOP' }) }
}

/** A stream with a chunk for each part, and a last one that ends the answer. */
function streamed(...parts: readonly object[]): Script {
  const chunks = parts.map((part) => said([part]))
  return { frames: [...chunks, said([{ text: '' }], { finishReason: 'STOP' })].map((data) => ({ data })) }
}

const cities = ['Oslo', 'Rome']
const calls = cities.map((city, at) => ({
  functionCall: { id: `call_${city}`, name: 'get_weather', args: { city } },
  ...(at === 0 ? { thoughtSignature: 'c2lnbmVk' } : {}),
}))
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }

describe('a gemini upstream', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let chat: OpenAI
  let messages: Anthropic
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'google', type: 'gemini', base_url: `${upstream.url}/v1beta`, api_key: 'upstream-key' }],
      models: [
        { name: 'm', provider: 'google', upstream_model: upstreamModel },
        { name: 'tuned', provider: 'google', upstream_model: 'models/a:b/c' },
      ],
    })
    chat = openai(gateway)
    messages = anthropic(gateway)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const hello = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] }
  const asked = (at = -1) => {
    const request = upstream.requests.at(at)
    return { path: request?.path, headers: request?.headers, body: JSON.parse(String(request?.body)) as JsonObject }
  }

  it('answers the openai client, asked at the address of its model with the key in its own header', async () => {
    upstream.answer(whole({ text: 'Hello' }, { text: ' there.' }))
    const answer = await chat.chat.completions.create({ ...hello, max_tokens: 50 })
    expect(answer.choices[0]?.message.content).to.equal('Hello there.')
    expect(answer.choices[0]?.finish_reason).to.equal('stop')
    expect(answer.model).to.equal(upstreamModel)
    expect(answer.usage).to.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
    const { path, headers, body } = asked()
    expect(path).to.equal(`/v1beta/models/${upstreamModel}:generateContent`)
    expect(headers?.['x-goog-api-key']).to.equal('upstream-key')
    expect(headers).to.not.have.any.keys('authorization', 'x-api-key')
    expect(body).to.deep.equal({
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      generationConfig: { maxOutputTokens: 50 },
    })
  })

  it('streams to both clients', async () => {
    upstream.answer(streamed({ text: 'Hel' }, { text: 'lo.' }))
    const pieces: string[] = []
    for await (const chunk of await chat.chat.completions.create({ ...hello, stream: true }))
      pieces.push(chunk.choices[0]?.delta.content ?? '')
    expect(pieces.filter((piece) => piece !== '')).to.deep.equal(['Hel', 'lo.'])
    expect(asked().path).to.equal(`/v1beta/models/${upstreamModel}:streamGenerateContent?alt=sse`)
    const message = await messages.messages.stream({ ...hello, max_tokens: 50 }).finalMessage()
    expect(message.content).to.have.length(1)
    expect(message.content[0]).to.include({ type: 'text', text: 'Hello.' })
    expect(message.usage).to.include({ input_tokens: 11, output_tokens: 7 })
    expect(message.stop_reason).to.equal('end_turn')
  })

  it('encodes the name of the model, without the prefix that the address has', async () => {
    upstream.answer(whole({ text: 'Hi' }))
    await chat.chat.completions.create({ ...hello, model: 'tuned' })
    expect(asked().path).to.equal('/v1beta/models/a%3Ab%2Fc:generateContent')
  })

  for (const stream of [false, true]) {
    const answer = stream ? streamed : whole
    const tools = [{ name: 'get_weather', input_schema: parameters }]

    it(`gives the openai client its calls, and the vendor its signature, ${stream ? 'streamed' : 'whole'}`, async () => {
      const ask = (more: OpenAI.ChatCompletionMessageParam[]) => {
        const body = {
          model: 'm',
          messages: [{ role: 'user' as const, content: 'weather' }, ...more],
          tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters } }],
        }
        if (!stream) return chat.chat.completions.create(body)
        return chat.chat.completions.stream(body).finalChatCompletion()
      }
      upstream.answer(answer(...calls))
      const [choice] = (await ask([])).choices
      expect(choice?.finish_reason).to.equal('tool_calls')
      expect(choice?.message.tool_calls?.map((call) => call.id)).to.deep.equal(['call_Oslo', 'call_Rome'])
      const results = (choice?.message.tool_calls ?? []).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: id.slice(5),
      }))
      await ask([
        JSON.parse(JSON.stringify(choice?.message)) as OpenAI.ChatCompletionMessageParam,
        ...results.toReversed(),
      ])
      expectReplayed(asked().body)
    })

    it(`gives the anthropic client its calls, and the vendor its signature, ${stream ? 'streamed' : 'whole'}`, async () => {
      const ask = (more: Anthropic.MessageParam[]) => {
        const body = {
          model: 'm',
          max_tokens: 99,
          messages: [{ role: 'user' as const, content: 'weather' }, ...more],
          tools,
        }
        return stream ? messages.messages.stream(body).finalMessage() : messages.messages.create(body)
      }
      upstream.answer(answer(...calls))
      const { content, stop_reason: reason } = await ask([])
      expect(reason).to.equal('tool_use')
      const results = content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: block.id.slice(5) }]
          : [],
      )
      await ask([
        { role: 'assistant', content },
        { role: 'user', content: results },
      ])
      expectReplayed(asked().body)
    })
  }

  function expectReplayed({ contents }: JsonObject): void {
    expect(contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'weather' }] },
      { role: 'model', parts: calls },
      {
        role: 'user',
        parts: cities.map((city) => ({
          functionResponse: { id: `call_${city}`, name: 'get_weather', response: { result: city } },
        })),
      },
    ])
  }

  for (const stream of [false, true]) {
    it(`shows thoughts and pictures to the openai client, and takes the pictures back, ${stream ? 'streamed' : 'whole'}`, async () => {
      const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
      const answer = stream ? streamed : whole
      upstream.answer(answer({ text: 'A fox it is.', thought: true }, { text: 'Here:' }, picture))
      const body = { ...hello, reasoning_effort: 'low' as const }
      const { choices } = await (stream
        ? chat.chat.completions.stream(body).finalChatCompletion()
        : chat.chat.completions.create(body))
      expect(asked().body['generationConfig']).to.deep.equal({
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
      })
      const message = JSON.parse(JSON.stringify(choices[0]?.message)) as OpenAI.ChatCompletionMessageParam
      const url = 'data:image/png;base64,iVBORw0KGgo='
      expect(message).to.deep.include({ images: [{ type: 'image_url', image_url: { url }, index: 0 }] })
      if (!stream) expect(message).to.include({ content: 'Here:', reasoning_content: 'A fox it is.' })
      await chat.chat.completions.create({ ...hello, messages: [...hello.messages, message, ...hello.messages] })
      expect((asked().body['contents'] as JsonObject[])[1]).to.deep.equal({
        role: 'model',
        parts: [{ text: 'Here:' }, picture],
      })
    })
  }

  it('hides thoughts from clients that want none', async () => {
    upstream.answer(whole({ text: 'Hi' }))
    await chat.chat.completions.create({ ...hello, reasoning_effort: 'none' })
    expect(JSON.stringify(asked().body)).to.not.contain('includeThoughts')
    const thinking = { type: 'enabled' as const, budget_tokens: 1024, display: 'omitted' as const }
    await messages.messages.create({ ...hello, max_tokens: 2000, thinking })
    expect(asked().body).to.have.nested.property('generationConfig.thinkingConfig.includeThoughts', false)
  })

  it('says that files lose their names', async () => {
    upstream.answer(whole({ text: 'Hi' }))
    const data = 'JVBERi0xLjc='
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } }
    const document = { type: 'document', title: 'A', source: { type: 'base64', media_type: 'application/pdf', data } }
    for (const [path, part, lost] of [
      ['/v1/chat/completions', file, 'contents[].parts.filename'],
      ['/v1/messages', document, 'contents[].parts.title'],
    ] as const) {
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [part] }] }
      const answer = await gateway.post(path, body)
      expect(answer.headers.get('x-gateway-losses')).to.equal(lost)
    }
  })

  it('makes ids for calls that have none, each of its own', async () => {
    upstream.answer(whole(...cities.map((city) => ({ functionCall: { name: 'get_weather', args: { city } } }))))
    const { choices } = await chat.chat.completions.create(hello)
    expect(choices[0]?.message.tool_calls?.map(({ id }) => id)).to.deep.equal(['call_answer-1_0', 'call_answer-1_1'])
  })

  it('keeps the digits of numbers in arguments', async () => {
    const args = '{"n":12345678901234567890,"x":1.0}'
    const body = JSON.stringify(said([{ functionCall: { name: 'f', args: {} } }], { finishReason: 'STOP' }))
    upstream.answer({
      headers: { 'content-type': 'application/json' },
      chunks: [body.replace('"args":{}', `"args":${args}`)],
    })
    const { choices } = await chat.chat.completions.create(hello)
    const [call] = choices[0]?.message.tool_calls ?? []
    expect(call?.type === 'function' && call.function.arguments).to.equal(args)
  })

  it('refuses a prompt as content filter', async () => {
    upstream.answer({ body: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: usage, ...meta } })
    expect((await chat.chat.completions.create(hello)).choices[0]?.finish_reason).to.equal('content_filter')
    expect((await messages.messages.create({ ...hello, max_tokens: 9 })).stop_reason).to.equal('refusal')
  })

  it('fails where the model broke off a call', async () => {
    upstream.answer({ body: said([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(x' }) })
    const error = await failure(chat.chat.completions.create(hello))
    expect(error.status).to.equal(502)
  })

  describe('errors', () => {
    const told = (code: number, status: string, details: object[] = []): Script => ({
      status: code,
      body: { error: { code, message: 'No, with upstream-key.', status, details } } as never,
    })

    it('keeps the status and the message of a bad request, without our key', async () => {
      upstream.answer(told(400, 'INVALID_ARGUMENT'))
      const error = await failure(chat.chat.completions.create(hello))
      expect(error.status).to.equal(400)
      expect(error.message).to.contain('No, with').and.not.to.contain('upstream-key')
    })

    it('says when to come back', async () => {
      upstream.answer(
        told(429, 'RESOURCE_EXHAUSTED', [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7.2s' }]),
      )
      const error = await failure(chat.chat.completions.create(hello))
      expect(error.status).to.equal(429)
      expect(error.headers?.get('retry-after')).to.equal('8')
    })

    it('does not blame the client for a wrong key of ours, which the vendor calls a bad request', async () => {
      upstream.answer(told(400, 'INVALID_ARGUMENT', [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]))
      expect((await failure(chat.chat.completions.create(hello))).status).to.equal(502)
    })

    it('ends a stream with the error that stands in it', async () => {
      const frames = [
        { data: said([{ text: 'Hel' }]) },
        { data: { error: { code: 503, message: 'Busy.', status: 'UNAVAILABLE' } } },
      ]
      upstream.answer({ frames })
      const stream = await chat.chat.completions.create({ ...hello, stream: true })
      const error = await failure(Array.fromAsync(stream))
      expect(error.message).to.contain('Busy.')
    })

    it('ends a stream that never finished as broken', async () => {
      upstream.answer({ frames: [{ data: said([{ text: 'Hel' }]) }] })
      const error = await failure(messages.messages.stream({ ...hello, max_tokens: 9 }).finalMessage())
      expect(error.message).to.contain('ended before it was complete')
    })
  })
})

interface Told {
  readonly status?: number
  readonly message: string
  readonly headers?: Headers
}

async function failure(promise: Promise<unknown>): Promise<Told> {
  return promise.then(
    () => expect.fail('it was answered'),
    (error: Told) => error,
  )
}
