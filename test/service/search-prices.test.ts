import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

const chat = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Rain.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, num_search_queries: 3 },
}
const chunk = {
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta: { content: 'Rain.' }, finish_reason: 'stop' }],
}
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'rain' } }
const message = {
  type: 'message',
  id: 'm_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Rain.', annotations: [] }],
}
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [search, { ...search, id: 'ws_2' }, { ...search, id: 'ws_3' }, message],
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
}
const counted = { input_tokens: 100, output_tokens: 10, server_tool_use: { web_search_requests: 3 } }
const start = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 100, output_tokens: 1 },
}
const text = { type: 'text', text: 'Rain.' }
const events = (...all: readonly { readonly type: string; readonly [field: string]: unknown }[]): Script => ({
  frames: all.map((data) => ({ event: data.type, data: data as never })),
})

/** What each upstream answers after three searches: whole, and as a stream. */
const answers: Record<string, { readonly whole: Script; readonly streamed: Script }> = {
  chat: {
    whole: { body: chat },
    streamed: {
      frames: [{ data: chunk }, { data: { ...chunk, choices: [], usage: chat.usage } }, '[DONE]'],
    },
  },
  responses: {
    whole: { body: response },
    streamed: events(
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.completed', sequence_number: 1, response },
    ),
  },
  messages: {
    whole: { body: { ...start, content: [text], stop_reason: 'end_turn', usage: counted } },
    streamed: events(
      { type: 'message_start', message: start },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain.' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 10, server_tool_use: counted.server_tool_use },
      },
      { type: 'message_stop' },
    ),
  },
}

const requests: Record<string, { readonly path: string; readonly body: object }> = {
  chat: { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Rain?' }] } },
  responses: { path: '/v1/responses', body: { input: 'Rain?', store: false } },
  messages: { path: '/v1/messages', body: { max_tokens: 99, messages: [{ role: 'user', content: 'Rain?' }] } },
}

describe('searches of the web that a provider made', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const base_url = upstream.url
    const tokens = { input: 1, output: 5 }
    gateway = await startGateway({
      providers: [
        { name: 'chat', type: 'compatible', base_url },
        { name: 'responses', type: 'compatible', base_url, offers: ['responses'] },
        { name: 'messages', type: 'messages', base_url, api_key: 'key' },
      ],
      models: Object.keys(answers).flatMap((provider) => [
        { name: provider, provider, pricing: { ...tokens, searches: 0.01 } },
        { name: `${provider}-unpriced`, provider, pricing: tokens },
      ]),
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const rowAfter = async (client: string, model: string, stream: boolean) => {
    const { path, body } = requests[client] as { path: string; body: object }
    upstream.answer(answers[model.replace('-unpriced', '')]?.[stream ? 'streamed' : 'whole'] as Script)
    const answer = await gateway.post(path, { ...body, model, stream })
    expect(await answer.text()).to.include('Rain.')
    expect(answer.status).to.equal(200)
    return (await gateway.rows()).at(-1)
  }

  for (const client of Object.keys(requests))
    for (const provider of Object.keys(answers))
      for (const stream of [false, true])
        it(`are billed to ${client} of ${provider}, ${stream ? 'in a stream' : 'in a whole answer'}`, async () => {
          const row = await rowAfter(client, provider, stream)
          // 100 tokens at 1, 10 at 5 and three searches at 10,000 micro-USD.
          expect(row).to.include({ cost_micros: 30_150, input_tokens: 100, output_tokens: 10, result: 'completed' })
          expect(JSON.parse(row?.metadata ?? '')).to.deep.include({ units: { searches: 3 } })
        })

  it('make the cost unknown where they have no price', async () => {
    for (const provider of Object.keys(answers)) {
      const row = await rowAfter('chat', `${provider}-unpriced`, false)
      expect(row).to.include({ cost_micros: null, input_tokens: 100 })
      expect(JSON.parse(row?.metadata ?? '')).to.include({ cost: 'unknown' })
    }
  })
})
