import type Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema'
import { expect } from 'chai'
import { anthropic } from '../support/clients.ts'
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

const says = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({ role: 'user', content })
const weatherTool: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The temperature of a city.',
  input_schema: { ...place, required: [...place.required] },
}

describe('the anthropic client', () => {
  let conversation: Conversation
  let client: Anthropic
  before(async () => {
    conversation = await startConversation()
    client = anthropic(conversation.gateway)
  })
  after(() => conversation.close())

  const asked = () => conversation.mock.lastBody()

  describe('with the model echo', () => {
    const request = { model: 'echo', max_tokens: 100, messages: [says('Good morning to you')] }

    it('reads a whole answer', async () => {
      const { id, ...message } = await client.messages.create(request)
      expect(id).to.match(/^msg_[0-9a-f]{32}$/)
      expect(plain(message)).to.deep.equal({
        type: 'message',
        role: 'assistant',
        model: 'echo',
        content: [{ type: 'text', text: 'Good morning to you' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
      })
    })

    it('reads a stream word by word', async () => {
      const pieces: string[] = []
      const message = await client.messages
        .stream(request)
        .on('text', (piece) => pieces.push(piece))
        .finalMessage()
      expect(pieces).to.deep.equal(['Good ', 'morning ', 'to ', 'you'])
      expect(message.content).to.have.length(1)
      expect(message.content[0]).to.include({ type: 'text', text: 'Good morning to you' })
      expect(message.stop_reason).to.equal('end_turn')
      expect(message.usage).to.include({ input_tokens: 5, output_tokens: 5 })
    })

    it('gets the call of a tool that it insists on', async () => {
      const { content, stop_reason: reason } = await client.messages
        .stream({ ...request, tools: [weatherTool], tool_choice: { type: 'any' } })
        .finalMessage()
      expect(content).to.have.length(1)
      expect(content[0]).to.deep.include({ type: 'tool_use', name: 'get_weather', input: { city: '' } })
      expect(reason).to.equal('tool_use')
    })
  })

  for (const kind of kinds) describe(`with a provider: ${kind}`, () => conversationWith(kind))

  function conversationWith(model: Kind): void {
    const own = model === 'messages'
    const request = (content: string) => ({ model, max_tokens: 4000, messages: [says(content)] })

    it('reads a whole answer', async () => {
      const { data, response } = await client.messages.create(request('hello')).withResponse()
      expect(data).to.deep.include({
        type: 'message',
        role: 'assistant',
        model: upstreamModel(model),
        content: [{ type: 'text', text: 'Hello there, dear user.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
      })
      expect(data.usage).to.include({ input_tokens: 11, output_tokens: 7 })
      expect(response.headers.get('request-id')).to.equal(response.headers.get('x-request-id'))
      expect(asked().model).to.equal(upstreamModel(model))
      // Who speaks the vendor's own protocol says which version of it; a translation is of one version.
      const version = conversation.mock.asked.at(-1)?.headers['anthropic-version']
      expect(version).to.equal(own ? '2026-10-21' : undefined)
    })

    it('reads a stream', async () => {
      const pieces: string[] = []
      const message = await client.messages
        .stream(request('hello'))
        .on('text', (piece) => pieces.push(piece))
        .finalMessage()
      expect(message.content).to.have.length(1)
      expect(message.content[0]).to.include({ type: 'text', text: 'Hello there, dear user.' })
      expect(message.stop_reason).to.equal('end_turn')
      expect(message.usage).to.include({ input_tokens: 11, output_tokens: 7 })
      expect(pieces).to.have.length(5)
    })

    for (const streamed of [false, true]) {
      it(`runs tools, two at a time, ${streamed ? 'streamed' : 'whole'}`, async () => {
        const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
          const body = { ...request(''), messages, tools: [weatherTool] }
          return streamed ? client.messages.stream(body).finalMessage() : client.messages.create(body)
        }
        const first = await ask([says('weather')])
        expect(plain(first.content)).to.deep.equal([
          { type: 'tool_use', id: 'call_oslo', name: 'get_weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'call_rome', name: 'get_weather', input: { city: 'Rome' } },
        ])
        expect(first.stop_reason).to.equal('tool_use')
        // Results come back in the order the tools ended, not the one they were called in.
        const results = says([
          { type: 'tool_result', tool_use_id: 'call_rome', content: '18' },
          { type: 'tool_result', tool_use_id: 'call_oslo', content: [{ type: 'text', text: '3' }] },
        ])
        const second = await ask([says('weather'), { role: 'assistant', content: first.content }, results])
        expect(second.content[0]).to.include({ type: 'text', text: 'Oslo 3, Rome 18.' })
        expect(second.stop_reason).to.equal('end_turn')
        const sent = [
          ['call_rome', '18'],
          ['call_oslo', '3'],
        ]
        // Servers of chat completions want them in the order of the calls.
        const ordered = model === 'native-chat' || model === 'compatible' ? sent.toReversed() : sent
        expect(resultsIn(model, asked())).to.deep.equal(ordered)
      })
    }

    it('runs tools by the loop of the client', async () => {
      const cities: string[] = []
      const tool = betaTool({
        name: 'get_weather',
        description: 'The temperature of a city.',
        inputSchema: place,
        run: ({ city }) => {
          cities.push(city)
          return city === 'Oslo' ? '3' : '18'
        },
      })
      const final = await client.beta.messages.toolRunner({
        ...request('weather'),
        tools: [tool],
        // A thread is held by the vendor alone; elsewhere the client is to learn that and send the whole history.
        ...(own ? { thread: false } : {}),
      })
      expect(final.content[0]).to.include({ type: 'text', text: 'Oslo 3, Rome 18.' })
      expect(cities.toSorted()).to.deep.equal(['Oslo', 'Rome'])
    })

    it('sends a picture', async () => {
      const { content } = await client.messages.create({
        ...request(''),
        messages: [
          says([
            { type: 'text', text: 'What is in the picture?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          ]),
        ],
      })
      expect(content[0]).to.include({ text: 'One pixel.' })
      expect(pictureIn(model, asked())).to.deep.equal(pictures[model])
    })

    it('gets an object by its schema', async () => {
      const message = await client.messages.parse({
        ...request('describe'),
        output_config: { format: jsonSchemaOutputFormat(person) },
      })
      expect(message.parsed_output).to.deep.equal({ name: 'Ada', age: 36 })
      expect(schemaIn(asked())).to.deep.include({ type: 'object', properties: person.properties })
    })

    it('hears that an answer was cut off', async () => {
      expect((await client.messages.create(request('essay'))).stop_reason).to.equal('max_tokens')
      expect((await client.messages.stream(request('essay')).finalMessage()).stop_reason).to.equal('max_tokens')
    })

    it('gets what the model thought, and gives it back in the next turn', async () => {
      const thinking = { type: 'enabled', budget_tokens: 2000 } as const
      const body = { ...request('think'), thinking }
      for (const message of [await client.messages.create(body), await client.messages.stream(body).finalMessage()]) {
        const [thought, text] = message.content
        expect(thought).to.include({ type: 'thinking', thinking: 'Six by seven.' })
        expect((thought as Anthropic.ThinkingBlock).signature).to.match(own ? /^signed-by-the-vendor$/ : /^gw1\./)
        expect(text).to.include({ type: 'text', text: 'Forty-two.' })
        await client.messages.create({
          ...body,
          messages: [says('think'), { role: 'assistant', content: message.content }, says('sure?')],
        })
        expect(thoughtIn(model, asked())).to.deep.equal(thoughts[model])
      }
    })
  }
})

/** The object as it would be on the wire: without what the client hides in it. */
function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value))
}

function schemaIn(body: Record<string, unknown>): unknown {
  const { response_format: chat, text, output_config: messages } = body as Record<string, Record<string, never>>
  return chat?.json_schema?.['schema'] ?? text?.format?.['schema'] ?? messages?.format?.['schema']
}

/** What a provider was sent of the thinking of the turn before. */
function thoughtIn(kind: Kind, body: Record<string, unknown>): unknown {
  if (kind === 'native-responses') {
    const item = (body.input as Record<string, unknown>[]).find(({ type }) => type === 'reasoning')
    return (
      item && {
        summary: item.summary,
        sealed: typeof item.encrypted_content,
        own: !String(item.encrypted_content).startsWith('gw1.'),
      }
    )
  }
  const turn = (body.messages as Record<string, unknown>[])[1] ?? {}
  return kind === 'messages' ? (turn.content as unknown[])[0] : turn.reasoning_content
}

const thoughts: Record<Kind, unknown> = {
  // The vendor's chat completions take no reasoning back, and of the family only servers that say so.
  'native-chat': undefined,
  compatible: undefined,
  'native-responses': { summary: [{ type: 'summary_text', text: 'Six by seven.' }], sealed: 'string', own: true },
  messages: { type: 'thinking', thinking: 'Six by seven.', signature: 'signed-by-the-vendor' },
}
