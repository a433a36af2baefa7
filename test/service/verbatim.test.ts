import { expect } from 'chai'
import { startGeneration } from '../support/generation.ts'
import type { Generation } from '../support/generation.ts'
import { startDecisions } from './decisions-conversation.ts'
import { chatAnswer, messagesAnswer, responsesAnswer } from './streams.ts'

/** JSON that a reader of numbers, or of keys, writes otherwise. */
const odd = '{"b":1,"id":1234567890123456789,"10":1.0,"2":[-0,1e3,1e400,0.0000001,{"1":"x","0":1}]}'
/** As text within a JSON text. */
const quoted = JSON.stringify(odd)
const schema = `{"type":"object","properties":{"b":{"maximum":1234567890123456789},"10":{"minimum":1.0},"2":{}}}`

describe('JSON of a client or a model', () => {
  let rig: Generation
  before(async () => (rig = await startGeneration()))
  after(() => rig.close())

  const post = async (path: string, body: string) => {
    const response = await fetch(`${rig.gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json' },
      body,
    })
    const text = await response.text()
    expect(response.status, text).to.equal(200)
    return text
  }
  const answers = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer }
  const calls = `{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted}}}`
  /** Requests with a tool, its schema, a call that is replayed, and numbers that are read. */
  const requests: Record<string, (model: string) => string> = {
    '/v1/chat/completions': (model) =>
      `{"model":"${model}","temperature":1.0,"max_tokens":1e2,"messages":[{"role":"user","content":"hi"},` +
      `{"role":"assistant","content":null,"tool_calls":[${calls}]},{"role":"tool","tool_call_id":"c1","content":"1.0"}],` +
      `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
    '/v1/messages': (model) =>
      `{"model":"${model}","temperature":1.0,"max_tokens":1e2,"messages":[{"role":"user","content":"hi"},` +
      `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${odd}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1.0"}]}],` +
      `"tools":[{"name":"f","input_schema":${schema}}]}`,
    '/v1/responses': (model) =>
      `{"model":"${model}","temperature":1.0,"max_output_tokens":1e2,"input":[{"role":"user","content":"hi"},` +
      `{"type":"function_call","call_id":"c1","name":"f","arguments":${quoted}},` +
      `{"type":"function_call_output","call_id":"c1","output":"1.0"}],` +
      `"tools":[{"type":"function","name":"f","parameters":${schema},"strict":false}]}`,
  }

  for (const [path, request] of Object.entries(requests))
    for (const model of ['chat', 'responses', 'messages'] as const)
      it(`reaches ${model} upstreams from ${path} as it stands`, async () => {
        rig.upstream.answer({ body: answers[model] })
        await post(path, request(model))
        const sent = String(rig.upstream.requests.at(-1)?.body)
        expect(sent).to.include(schema)
        expect(sent).to.include(model === 'messages' ? `"input":${odd}` : quoted)
        expect(JSON.parse(sent)).to.have.property('temperature', 1)
      })

  it('reaches clients from messages upstreams as it stands, whole and streamed', async () => {
    const use = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
    const whole = JSON.stringify({ ...messagesAnswer, content: [use], stop_reason: 'tool_use' })
    const headers = { 'content-type': 'application/json' }
    rig.upstream.answer({ body: whole.replace('"input":{}', `"input":${odd}`), headers })
    expect(await post('/v1/chat/completions', requests['/v1/chat/completions']!('messages'))).to.include(quoted)
    expect(await post('/v1/responses', requests['/v1/responses']!('messages'))).to.include(quoted)
    const frame = (type: string, rest: string) => ({ event: type, data: `{"type":"${type}",${rest}}` })
    rig.upstream.answer({
      frames: [
        frame('message_start', `"message":${JSON.stringify({ ...messagesAnswer, content: [], stop_reason: null })}`),
        frame('content_block_start', `"index":0,"content_block":${JSON.stringify(use).replace('{}', odd)}`),
        frame('content_block_stop', '"index":0'),
        frame('message_delta', '"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}'),
        frame('message_stop', '"x":0'),
      ],
    })
    const streamed = requests['/v1/chat/completions']!('messages').replace('{', '{"stream":true,')
    expect(await post('/v1/chat/completions', streamed)).to.include(quoted)
  })

  it('reaches clients of messages from other upstreams as it stands', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: odd } }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    rig.upstream.answer({ body: { ...chatAnswer, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] } })
    expect(await post('/v1/messages', requests['/v1/messages']!('chat'))).to.include(`"input":${odd}`)
    const output = [
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: odd, status: 'completed' },
    ]
    rig.upstream.answer({ body: { ...responsesAnswer, output } })
    expect(await post('/v1/messages', requests['/v1/messages']!('responses'))).to.include(`"input":${odd}`)
  })

  it('reaches both sides of decisions as it stands: data, choices and questions', async () => {
    const conversation = await startDecisions()
    const { gateway: asked, upstreams } = conversation
    const ask = (path: string, body: string) =>
      fetch(`${asked.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${asked.key}`, 'content-type': 'application/json' },
        body,
      }).then((response) => response.text())
    const state = '{"b":1,"1":1.0,"0":[12345678901234567890,1e3]}'
    const choices = ['true', '10', '2']
    upstreams.native.answer({
      body: {
        model: 'jury-1.14',
        answers: [
          {
            type: 'choice',
            name: 'z',
            choice: '10',
            confidence: 0.6,
            probabilities: [{ value: '10', probability: 1 }],
          },
          { type: 'predicate', name: '1', probability: 0.5 },
        ],
      },
    })
    const told = await ask(
      '/v1/mapeval',
      `{"model":"native","state":${state},"questions":{"z":{"type":"choice","instructions":"Which?","criteria":` +
        '{"true":null,"10":null,"2":null}},"1":{"type":"noul","instructions":"Is it?"}}}',
    )
    const sent = JSON.parse(conversation.last('native').body) as {
      input: string
      questions: { choices?: { value: string }[] }[]
    }
    expect(sent.input).to.equal(state)
    expect(sent.questions[0]?.choices?.map(({ value }) => value)).to.deep.equal(choices)
    expect(told).to.include('"choice":"10"').and.include('"probabilities":{"true":0,"10":1,"2":0}')
    expect(told.indexOf('"z"')).to.be.lessThan(told.indexOf('"1"'))

    upstreams.bridge_a.answer({ status: 400, body: { error: { message: 'no' } } })
    const question = { type: 'choice', name: 'z', instructions: 'Which?', choices: choices.map((value) => ({ value })) }
    await ask('/v1/decisions', JSON.stringify({ model: 'bridge_a', input: 'x', questions: [question] }))
    expect(conversation.last('bridge_a').body).to.include('"criteria":{"true":null,"10":null,"2":null}')
    await conversation.close()
  })
})
