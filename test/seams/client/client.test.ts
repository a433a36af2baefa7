import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const here = import.meta.dirname
const lines = [
  { who: 'user', say: 'Good day.' },
  { who: 'model', say: 'Hello.' },
  { who: 'user', say: 'How is the weather?' },
]
const chatUsage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const messagesUsage = { input_tokens: 7, output_tokens: 3 }

/** The same answer of a provider that speaks chat completions, and of one that speaks messages. */
const whole: Record<string, Json> = {
  chat: {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'large',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'It is sunny.' } }],
    usage: chatUsage,
  },
  messages: {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'large',
    content: [{ type: 'text', text: 'It is sunny.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: messagesUsage,
  },
}
const chunk = (fields: JsonObject) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'large',
  ...fields,
})
const streamed: Record<string, { event?: string; data: Json }[]> = {
  chat: [
    { data: chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'It is ' } }] }) },
    { data: chunk({ choices: [{ index: 0, delta: { content: 'sunny.' } }] }) },
    { data: chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) },
    { data: chunk({ choices: [], usage: chatUsage }) },
    { data: '[DONE]' },
  ],
  messages: [
    {
      event: 'message_start',
      data: {
        type: 'message_start',
        message: { ...(whole['messages'] as JsonObject), content: [], stop_reason: null },
      },
    },
    {
      event: 'content_block_start',
      data: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    },
    {
      event: 'content_block_delta',
      data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is ' } },
    },
    {
      event: 'content_block_delta',
      data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'sunny.' } },
    },
    { event: 'content_block_stop', data: { type: 'content_block_stop', index: 0 } },
    {
      event: 'message_delta',
      data: {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 3 },
      },
    },
    { event: 'message_stop', data: { type: 'message_stop' } },
  ],
}

/** The events of a stream, as its client reads them. */
const eventsOf = (text: string) =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data = '']) => [event, JSON.parse(data) as Json])

describe('seams/client', () => {
  let upstream: ScriptedUpstream
  let pipelines: Pipelines
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    pipelines = await copyPipelines()
    await copyFile(join(here, 'ask.yaml'), join(pipelines.folder, 'ask.yaml'))
    gateway = await startGateway({
      plugins: [join(here, 'plugin.ts')],
      pipelines: pipelines.folder,
      providers: [
        { name: 'chat', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'chat-key' },
        { name: 'messages', type: 'messages', base_url: upstream.url, api_key: 'messages-key' },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'chat', provider: 'chat', upstream_model: 'large' },
        { name: 'messages', provider: 'messages', upstream_model: 'large', max_output_tokens: 100 },
        { name: 'echo', provider: 'echo' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await pipelines.remove()
  })

  const sent = () => JSON.parse(upstream.requests.at(-1)?.body.toString() ?? 'null') as JsonObject

  for (const to of ['chat', 'messages']) {
    it(`is answered whole by a provider of ${to}, which is asked in its own protocol`, async () => {
      upstream.answer({ body: whole[to] ?? null })
      const reply = await gateway.post('/ask', { to, lines, limit: 9, mood: 'glad' })
      expect([reply.status, await reply.json()]).to.deep.equal([
        200,
        { by: to, said: 'It is sunny.', why: 'end', spent: { in: 7, out: 3 } },
      ])
      expect(reply.headers.get('x-gateway-losses')).to.equal('mood')
      expect(sent()).to.deep.include({ model: 'large', max_tokens: 9 }).and.not.to.have.property('mood')
      expect((sent()['messages'] as JsonObject[]).map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user'])
    })

    it(`is answered by a provider of ${to} as it speaks`, async () => {
      upstream.answer({ frames: streamed[to] ?? [] })
      const reply = await gateway.post('/ask', { to, lines, live: true })
      expect(reply.headers.get('content-type')).to.match(/^text\/event-stream/)
      expect(eventsOf(await reply.text())).to.deep.equal([
        ['say', { text: 'It is ' }],
        ['say', { text: 'sunny.' }],
        ['over', { why: 'end', spent: { in: 7, out: 3 } }],
      ])
      expect(sent()).to.include({ stream: true })
    })
  }

  it('is answered by a provider that speaks no protocol', async () => {
    const reply = (await (await gateway.post('/ask', { to: 'echo', lines })).json()) as JsonObject
    expect(reply).to.include({ by: 'echo', why: 'end' })
    expect(reply['said']).to.include('How is the weather?')
  })

  it('tells its clients what is wrong in their own words, at the status that they expect', async () => {
    const asked = async (body: object) => {
      const reply = await gateway.post('/ask', body)
      const { id, ...wrong } = (await reply.json()) as JsonObject
      expect(id).to.equal(reply.headers.get('x-request-id'))
      return [reply.status, wrong]
    }
    expect(await asked({ to: 'echo' })).to.deep.equal([
      422,
      { wrong: 'missing_required_parameter', why: 'Missing required parameter: lines.', at: 'lines' },
    ])
    expect(await asked({ to: 'echo', lines: lines.slice(0, 2) })).to.deep.equal([
      422,
      { wrong: 'invalid_value', why: 'Invalid value at lines: the user has the last word.', at: 'lines' },
    ])
    expect(await asked({ to: 'ecko', lines })).to.deep.equal([
      404,
      { wrong: 'model_not_found', why: 'The model "ecko" does not exist; did you mean "echo"?', at: 'model' },
    ])
    upstream.answer({
      status: 400,
      body: { error: { message: 'It is too long.', type: 'x', code: 'too_long', param: null } },
    })
    expect(await asked({ to: 'chat', lines })).to.deep.equal([
      422,
      { wrong: 'too_long', why: 'It is too long.', at: null },
    ])
  })

  it('is told within a stream that it broke', async () => {
    const broken = { data: { error: { message: 'It fell over.', type: 'x', code: 'fallen', param: null } } }
    upstream.answer({ frames: [...(streamed['chat'] ?? []).slice(0, 1), broken] })
    const events = eventsOf(await (await gateway.post('/ask', { to: 'chat', lines, live: true })).text())
    expect(events).to.deep.equal([
      ['say', { text: 'It is ' }],
      ['wrong', { wrong: 'upstream_error', why: 'The provider of "chat" failed: It fell over.', at: null }],
    ])
  })

  it('has a request that a stage changed written as its client would have', async () => {
    const reply = await gateway.post('/ask/shorter', { to: 'echo', lines, limit: 9, live: true, mood: 'glad' })
    expect(await reply.json()).to.deep.equal({ to: 'echo', lines, limit: 3, live: true, mood: 'glad' })
  })

  it('is logged as any other exchange', async () => {
    const row = await gateway.row(({ type, model }) => type === 'ask' && model === 'echo')
    expect(row).to.include({ status: 200 })
  })
})
