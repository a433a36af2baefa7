import { expect } from 'chai'
import type OpenAI from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import { openai } from '../support/clients.ts'
import {
  kinds,
  person,
  pictureIn,
  pictures,
  pixel,
  place,
  resultsIn,
  startConversation,
  upstreamModel,
} from './conversation.ts'
import type { Conversation, Kind } from './conversation.ts'

const says = (content: string) => [{ role: 'user', content }] as const satisfies object[]

describe('the openai client', () => {
  let conversation: Conversation
  let client: OpenAI
  before(async () => {
    conversation = await startConversation()
    client = openai(conversation.gateway)
  })
  after(() => conversation.close())

  const asked = () => conversation.mock.lastBody()

  describe('with the model echo', () => {
    it('reads a whole answer', async () => {
      const { id, choices, usage, ...rest } = await client.chat.completions.create({
        model: 'echo',
        messages: says('Good morning to you'),
      })
      expect(rest).to.include({ object: 'chat.completion', model: 'echo' })
      expect(id).to.match(/^chatcmpl-[0-9a-f-]{36}$/)
      expect(choices).to.deep.equal([
        {
          index: 0,
          message: { role: 'assistant', content: 'Good morning to you', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ])
      expect(usage).to.deep.include({ prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 })
    })

    it('reads a stream word by word', async () => {
      const pieces: string[] = []
      const stream = client.chat.completions
        .stream({ model: 'echo', messages: says('Good morning to you'), stream_options: { include_usage: true } })
        .on('content', (piece) => pieces.push(piece))
      const { choices, usage } = await stream.finalChatCompletion()
      expect(pieces.filter((piece) => piece !== '')).to.deep.equal(['Good ', 'morning ', 'to ', 'you'])
      expect(choices[0]?.message.content).to.equal('Good morning to you')
      expect(choices[0]?.finish_reason).to.equal('stop')
      expect(usage?.total_tokens).to.equal(10)
    })

    it('gets the call of a tool that it insists on', async () => {
      const { choices } = await client.chat.completions.create({
        model: 'echo',
        messages: says('weather'),
        tools: [{ type: 'function', function: { name: 'get_weather', parameters: place } }],
        tool_choice: 'required',
      })
      const [call] = choices[0]?.message.tool_calls ?? []
      expect(call?.type === 'function' && call.function).to.deep.equal({
        name: 'get_weather',
        arguments: '{"city":""}',
      })
      expect(choices[0]?.finish_reason).to.equal('tool_calls')
    })

    it('gets an answer of several choices from nobody who cannot give them', async () => {
      const asking = client.chat.completions.create({ model: 'echo', messages: says('hello'), n: 2 })
      const error = await asking.catch((reason: unknown) => reason)
      expect(error).to.include({ status: 400, type: 'invalid_request_error', param: 'n' })
    })
  })

  for (const kind of kinds) describe(`with a provider: ${kind}`, () => conversationWith(kind))

  function conversationWith(model: Kind): void {
    it('reads a whole answer', async () => {
      const { data, response } = await client.chat.completions.create({ model, messages: says('hello') }).withResponse()
      expect(data.choices).to.have.length(1)
      expect(data.choices[0]).to.deep.include({ index: 0, finish_reason: 'stop' })
      expect(data.choices[0]?.message).to.include({ role: 'assistant', content: 'Hello there, dear user.' })
      expect(data.usage).to.deep.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
      expect(data.model).to.equal(upstreamModel(model))
      expect(response.headers.get('x-gateway-model')).to.equal(model)
      expect(asked().model).to.equal(upstreamModel(model))
      const version = conversation.mock.asked.at(-1)?.headers['anthropic-version']
      expect(version).to.equal(model === 'messages' ? '2023-06-01' : undefined)
    })

    it('reads a stream', async () => {
      const pieces: string[] = []
      const completion = await client.chat.completions
        .stream({ model, messages: says('hello'), stream_options: { include_usage: true } })
        .on('content', (piece) => pieces.push(piece))
        .finalChatCompletion()
      expect(completion.choices[0]?.message.content).to.equal('Hello there, dear user.')
      expect(completion.choices[0]?.finish_reason).to.equal('stop')
      expect(completion.usage).to.deep.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
      expect(pieces.filter((piece) => piece !== '')).to.have.length(5)
    })

    it('hears of usage in a stream only when it asks', async () => {
      const stream = await client.chat.completions.create({ model, messages: says('hello'), stream: true })
      const chunks = await Array.fromAsync(stream)
      expect(chunks.filter(({ usage }) => usage !== undefined && usage !== null)).to.deep.equal([])
      expect(chunks.every(({ choices }) => choices.length === 1)).to.equal(true)
    })

    for (const stream of [false, true] as const) {
      it(`runs tools, two at a time, ${stream ? 'streamed' : 'whole'}`, async () => {
        const cities: string[] = []
        const tool: RunnableToolFunctionWithParse<{ city: string }> = {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The temperature of a city.',
            parameters: { ...place, required: [...place.required] },
            parse: (text) => JSON.parse(text) as { city: string },
            function: ({ city }) => {
              cities.push(city)
              return city === 'Oslo' ? '3' : '18'
            },
          },
        }
        const request = { model, messages: [...says('weather')], tools: [tool] as [typeof tool] }
        const runner = stream
          ? client.chat.completions.runTools({ ...request, stream })
          : client.chat.completions.runTools(request)
        expect(await runner.finalContent()).to.equal('Oslo 3, Rome 18.')
        expect(cities).to.deep.equal(['Oslo', 'Rome'])
        expect(resultsIn(model, asked())).to.deep.equal([
          ['call_oslo', '3'],
          ['call_rome', '18'],
        ])
      })
    }

    it('sends a picture', async () => {
      const url = `data:image/png;base64,${pixel}`
      const { choices } = await client.chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is in the picture?' },
              { type: 'image_url', image_url: { url } },
            ],
          },
        ],
      })
      expect(choices[0]?.message.content).to.equal('One pixel.')
      expect(pictureIn(model, asked())).to.deep.equal(pictures[model])
    })

    it('gets an object by its schema', async () => {
      const completion = await client.chat.completions.parse({
        model,
        messages: says('describe'),
        response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } },
      })
      expect(completion.choices[0]?.message.parsed).to.deep.equal({ name: 'Ada', age: 36 })
      expect(formatIn(asked())).to.deep.equal(formats[model])
    })

    it('hears that an answer was cut off', async () => {
      const request = { model, messages: says('essay'), max_completion_tokens: 2 }
      const { choices } = await client.chat.completions.create(request)
      expect(choices[0]?.finish_reason).to.equal('length')
      const streamed = await client.chat.completions.stream(request).finalChatCompletion()
      expect(streamed.choices[0]?.finish_reason).to.equal('length')
    })

    it('gets what the model thought, and gives it back in the next turn', async () => {
      const request = { model, messages: says('think'), reasoning_effort: 'low' as const }
      const whole = (await client.chat.completions.create(request)).choices[0]?.message
      expect(whole).to.include({ content: 'Forty-two.', reasoning_content: 'Six by seven.' })
      const thought: string[] = []
      const streamed = await client.chat.completions
        .stream(request)
        .on('chunk', ({ choices: [choice] }) => thought.push(thinking(choice?.delta)))
        .finalMessage()
      expect(streamed.content).to.equal('Forty-two.')
      expect(thought.join('')).to.equal('Six by seven.')
      for (const message of [whole, streamed]) {
        await client.chat.completions.create({
          model,
          messages: [...says('think'), message as OpenAI.ChatCompletionMessage, ...says('sure?')],
          reasoning_effort: 'low',
        })
        if (model === 'messages')
          expect((asked().messages as { content: unknown }[])[1]?.content).to.deep.equal([
            { type: 'thinking', thinking: 'Six by seven.', signature: 'signed-by-the-vendor' },
            { type: 'text', text: 'Forty-two.' },
          ])
        if (model === 'native-responses') {
          const [, reasoning, answer] = asked().input as Record<string, unknown>[]
          expect(reasoning).to.include({ type: 'reasoning' })
          expect(reasoning?.encrypted_content)
            .to.be.a('string')
            .and.not.match(/^gw1\./)
          expect(reasoning?.summary).to.deep.equal([{ type: 'summary_text', text: 'Six by seven.' }])
          expect(answer).to.include({ type: 'message', role: 'assistant' })
        }
      }
    })
  }
})

/** Reasoning as a field of its own, which the client's types do not know. */
function thinking(delta: object | undefined): string {
  return delta && 'reasoning_content' in delta ? String(delta.reasoning_content) : ''
}

function formatIn({ response_format: chat, text, output_config: messages }: Record<string, unknown>): unknown {
  return chat ?? text ?? messages
}

const formats: Record<Kind, object> = {
  'native-chat': { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } },
  compatible: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } },
  'native-responses': { format: { type: 'json_schema', name: 'person', schema: person, strict: true } },
  messages: { format: { type: 'json_schema', schema: person } },
}
