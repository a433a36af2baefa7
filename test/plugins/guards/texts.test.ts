import { expect } from 'chai'
import { textsIn, withTexts } from '../../../plugins/guards/texts.ts'
import type { JsonObject } from '../../../engine/index.ts'

/** The texts of a body that guards judge. */
function judged(body: JsonObject, protocol = 'chat'): readonly string[] {
  return textsIn(body, protocol).map(({ text }) => text)
}

const user = (content: string) => ({ messages: [{ role: 'user', content }] })

describe('plugins/guards: texts of a request', () => {
  it('are judged also where they begin as data does', () => {
    const long = 'a forbidden word '.repeat(100)
    for (const text of [
      'data:;base64,forbidden',
      `data:;base64,${long}`,
      `data:image/png;base64,${long}`,
      `data:forbidden;base64,${'A'.repeat(2_000)}`,
      'data:image/png;base64,iVBORw0KGgo=',
    ]) {
      expect(judged(user(text)), text.slice(0, 40)).to.deep.equal([text])
      const call = { type: 'function_call', name: 'f', call_id: 'c', arguments: JSON.stringify({ a: text }) }
      expect(judged({ input: [call] }, 'responses'), text.slice(0, 40)).to.include(text)
    }
  })
  it('are not judged where they are data', () => {
    expect(judged(user(`data:image/png;base64,${'iVBO'.repeat(500)}`))).to.deep.equal([])
  })

  const called = (input: string) => ({
    input: [{ type: 'function_call', name: 'f', call_id: 'c', arguments: input }],
  })
  const mask = (text: string) => text.replaceAll('forbidden', '[X]').replaceAll(/\b4111111111111111\b/g, '[CARD]')
  const masked = (body: JsonObject) => withTexts(body, 'responses', ({ text }) => mask(text))
  const maskedCall = (input: string) =>
    (masked(called(input))['input'] as readonly JsonObject[])[0]?.['arguments'] as string

  it('are all those of the arguments of a tool', () => {
    const inputs: Readonly<Record<string, string>> = {
      '{"forbidden":1}': '{"[X]":1}',
      '{"forb\\u0069dden":1}': '{"[X]":1}',
      '{"a":"forb\\u0069dden","a":"b"}': '{"a":"[X]","a":"b"}',
      '{"a":"b","a":"forbidden"}': '{"a":"b","a":"[X]"}',
      '{"a":"forb\\u0069dden", "b": "for': '{"a":"[X]", "b": "for',
      '{"a":"\\u0066orb\\u0069dden': '{"a":"[X]',
      '{"a":"forbidden","a":"forb\\u0069dden"}': '{"a":"[X]","a":"[X]"}',
      '{"a":"{\\"b\\":\\"forbidden\\"}"}': '{"a":"{\\"b\\":\\"[X]\\"}"}',
      '{"n":12345678901234567890,"m":1.50,"c":4111111111111111}': '{"n":12345678901234567890,"m":1.50,"c":"[CARD]"}',
      '{"c":"4111111111111111"}': '{"c":"[CARD]"}',
    }
    for (const [input, wanted] of Object.entries(inputs)) expect(maskedCall(input), input).to.equal(wanted)
    const same = '{"n":12345678901234567890,"m":1.50,"t":"a\\u0062c"}'
    expect(maskedCall(same)).to.equal(same)
  })
  it('are judged however deep they are', () => {
    const deep = `${'['.repeat(50_000)}"forb\\u0069dden"${']'.repeat(50_000)}`
    expect(maskedCall(deep)).to.equal(deep.replace('forb\\u0069dden', '[X]'))
    expect(maskedCall('{"a":'.repeat(50_000))).to.equal('{"a":'.repeat(50_000))
  })
  it('are those of JSON in what a tool gave', () => {
    const content = '{"a":"forb\\u0069dden","b":"\\n"}'
    const body = { messages: [{ role: 'tool', tool_call_id: 'c', content }] }
    expect(judged(body)).to.include('forbidden')
    expect(withTexts(body, 'chat', ({ text }) => mask(text))['messages']).to.deep.equal([
      { role: 'tool', tool_call_id: 'c', content: '{"a":"[X]","b":"\\n"}' },
    ])
    const output = { type: 'function_call_output', call_id: 'c', output: content }
    expect(judged({ input: [output] }, 'responses')).to.include('forbidden')
  })
  it('are those of variables, whatever they are called', () => {
    const variables = { name: 'forbidden', format: { type: 'input_text', text: 'a text' } }
    expect(judged({ prompt: { id: 'p', variables } }, 'responses')).to.deep.equal(['forbidden', 'a text'])
  })
  it('are those of lists in which numbers stand, too', () => {
    expect(judged({ input: [1, 'forbidden'] }, 'embeddings')).to.deep.equal(['forbidden'])
    expect(judged({ input: [[1, 2], [3]] }, 'embeddings')).to.deep.equal([])
  })

  describe('are those of', () => {
    const found = (body: JsonObject, protocol: string) =>
      textsIn(body, protocol).map(({ role, text }) => `${role}: ${text}`)
    const text = 'said'
    const chat = (message: JsonObject) => ['chat', { messages: [message] }] as const
    const messages = (role: string, part: JsonObject) =>
      ['messages', { messages: [{ role, content: [part] }] }] as const
    const responses = (item: JsonObject) => ['responses', { input: [item] }] as const
    const gemini = (role: string, part: JsonObject) => ['gemini', { contents: [{ role, parts: [part] }] }] as const
    type Case = readonly [protocol: string, body: JsonObject]
    const cases: Readonly<Record<string, readonly Case[]>> = {
      user: [
        chat({ role: 'user', content: [{ type: 'text', role: 'assistant', text }] }),
        chat({ role: 'user', content: [{ type: 'tool_result', content: text }] }),
        chat({ role: 'user', content: [{ functionResponse: { response: text } }] }),
        chat({ role: 'user', tool_calls: [{ function: { arguments: text } }] }),
        ...['x_call', 'reasoning', 'tool_result', 'function_call_output'].map((type) =>
          chat({ role: 'user', type, content: text }),
        ),
        chat({ type: 'function_call_output', output: text }),
        chat({ role: 'model', content: text }),
        messages('user', { type: 'text', role: 'assistant', text }),
        messages('user', { type: 'thinking', thinking: text }),
        messages('user', { type: 'tool_use', input: text }),
        messages('user', { type: 'x_tool_result', content: text }),
        messages('user', { type: 'search_result', content: [{ type: 'text', text }] }),
        responses({ role: 'user', content: [{ type: 'input_text', role: 'assistant', text }] }),
        responses({ role: 'user', content: [{ type: 'tool_result', content: text }] }),
        ...['function_call', 'function_call_output', 'reasoning', 'x'].map((type) =>
          responses({ role: 'user', type, content: text }),
        ),
        responses({ role: 'assistant', type: 'function_call_output', output: text }),
        responses({ role: 'assistant', type: 'agent_message', content: text }),
        responses({ role: 'tool', content: text }),
        responses({ type: 'x_call', output: text }),
        responses({ type: 'x_output', output: text }),
        ['responses', { input: [[{ role: 'assistant', content: text }]] }],
        ['embeddings', { input: [{ role: 'assistant', content: text }] }],
        gemini('user', { role: 'model', text }),
        gemini('user', { text, functionResponse: null }),
        gemini('user', { text, functionResponse: {} }),
        gemini('user', { functionCall: { args: { text } } }),
        ...['assistant', 'function', 'tool', 'system'].map((role) => gemini(role, { text })),
        ['gemini-embedding', { content: { role: 'model', parts: [{ text }] } }],
      ],
      system: [
        chat({ role: 'developer', content: text }),
        ['messages', { system: [{ type: 'text', role: 'assistant', text }] }],
        ['messages', { system: [{ type: 'tool_result', content: text }] }],
        ['gemini', { systemInstruction: { role: 'model', parts: [{ text }] } }],
      ],
      assistant: [
        chat({ role: 'assistant', content: [{ type: 'text', role: 'user', text }] }),
        chat({ role: 'assistant', tool_calls: [{ type: 'function', function: { arguments: text } }] }),
        messages('assistant', { type: 'thinking', thinking: text }),
        messages('assistant', { type: 'tool_use', input: { text } }),
        responses({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
        responses({ type: 'reasoning', summary: [{ type: 'summary_text', text }] }),
        responses({ type: 'function_call', arguments: text }),
        responses({ type: 'code_interpreter_call', code: text }),
        gemini('model', { text }),
        gemini('model', { functionCall: { args: { text } } }),
      ],
      tool: [
        chat({ role: 'tool', content: text }),
        messages('user', { type: 'tool_result', content: text }),
        messages('assistant', { type: 'mcp_tool_result', content: [{ type: 'text', text }] }),
        ['count-tokens', { messages: [{ role: 'user', content: [{ type: 'tool_result', content: text }] }] }],
        responses({ type: 'function_call_output', output: text }),
        responses({ type: 'mcp_call', output: text }),
        responses({ type: 'mcp_call', error: { content: text } }),
        responses({ type: 'file_search_call', results: [{ text }] }),
        responses({ type: 'code_interpreter_call', outputs: [{ logs: text }] }),
        responses({ type: 'web_search_call', results: [{ text }] }),
        gemini('user', { functionResponse: { response: { text } } }),
        gemini('model', { codeExecutionResult: { output: text } }),
      ],
    }
    for (const [role, bodies] of Object.entries(cases))
      it(role, () => {
        for (const [protocol, body] of bodies)
          expect(found(body, protocol), JSON.stringify(body)).to.include(`${role}: said`)
      })
  })

  it("are those of JSON in what a provider's own tool gave", () => {
    const output = '{"a":"forb\\u0069dden"}'
    const bodies: readonly (readonly [protocol: string, body: JsonObject])[] = [
      ['responses', { input: [{ type: 'mcp_call', output }] }],
      ['responses', { input: [{ type: 'file_search_call', results: [{ text: output }] }] }],
      ['responses', { input: [{ type: 'code_interpreter_call', outputs: [{ type: 'logs', logs: output }] }] }],
      ['gemini', { contents: [{ role: 'model', parts: [{ codeExecutionResult: { output } }] }] }],
      // What stands beside the text of an answer.
      ['', { content: [{ type: 'mcp_call', output }] }],
      ['', { content: [{ type: 'response.x', item: { type: 'mcp_call', output } }] }],
      ['', { content: [{ codeExecutionResult: { output } }] }],
    ]
    for (const [protocol, body] of bodies) {
      const changed = withTexts(body, protocol, (one) => mask(one.text))
      expect(JSON.stringify(changed), JSON.stringify(body)).to.equal(
        JSON.stringify(body).replace('forb\\\\u0069dden', '[X]'),
      )
    }
  })

  it('are the numbers that a tool gave', () => {
    for (const content of [[4_111_111_111_111_111], 4_111_111_111_111_111])
      expect(judged({ messages: [{ role: 'tool', tool_call_id: 'c', content }] })).to.include('4111111111111111')
    const result = { type: 'tool_result', content: [4_111_111_111_111_111] }
    expect(judged({ messages: [{ role: 'user', content: [result] }] }, 'messages')).to.include('4111111111111111')
    expect(judged({ prompt: [[4_111_111_111]] }, 'text')).to.deep.equal([])
  })

  describe('are those of data of tools, whose fields are called as those of protocols', () => {
    const names = (
      'type role id model status name call_id tool_call_id server_label detail format data media_type phase namespace ' +
      'index ttl signature file_id file_url encrypted_content image_url input_audio inlineData cache_control text'
    ).split(' ')
    const data = Object.fromEntries(names.map((name) => [name, `a secret ${name}`]))
    const nested = { rows: [data, { status: data, data: [data] }] }
    const secrets = names.map((name) => `a secret ${name}`)
    const bodies: Readonly<Record<string, readonly [protocol: string, body: JsonObject]>> = {
      'arguments of chat': [
        'chat',
        { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: nested } }] }] },
      ],
      'a result of chat that is an object': [
        'chat',
        { messages: [{ role: 'tool', tool_call_id: 'c', content: data }] },
      ],
      'a result of chat that is a list': ['chat', { messages: [{ role: 'tool', tool_call_id: 'c', content: [data] }] }],
      'a result of chat that is called as a part': [
        'chat',
        { messages: [{ role: 'tool', tool_call_id: 'c', content: [{ ...data, type: 'x_result' }] }] },
      ],
      'a result of responses that is called as a part': [
        'responses',
        { input: [{ type: 'function_call_output', call_id: 'c', output: { ...data, type: 'code_execution_result' } }] },
      ],
      'a result of messages that is called as a part': [
        'messages',
        {
          messages: [
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ ...data, type: 'x_error' }] }],
            },
          ],
        },
      ],
      'input of messages': [
        'messages',
        { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: nested }] }] },
      ],
      'a result of messages': [
        'messages',
        { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [data] }] }] },
      ],
      'a result of responses': [
        'responses',
        { input: [{ type: 'function_call_output', call_id: 'c', output: [nested] }] },
      ],
      'the environment of a shell': [
        'responses',
        { input: [{ type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: [], env: data } }] },
      ],
      'attributes of a search': [
        'responses',
        {
          input: [
            { type: 'file_search_call', id: 'c', results: [{ file_id: 'f', attributes: { ...data, content: data } }] },
          ],
        },
      ],
      'arguments of gemini': [
        'gemini',
        { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: nested } }] }] },
      ],
      'a result of gemini': [
        'gemini',
        { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'f', response: nested } }] }] },
      ],
      'a state': ['mapeval', { state: nested, questions: {} }],
    }
    for (const [what, [protocol, body]] of Object.entries(bodies))
      it(what, () => {
        const texts = judged(body, protocol)
        const printed = JSON.stringify(body)
        const there = secrets.filter((secret) => printed.includes(`"${secret}"`))
        expect(there.length).to.be.at.least(secrets.length - 1)
        expect(there.filter((secret) => !texts.includes(secret))).to.deep.equal([])
        const changed = withTexts(body, protocol, ({ text }) => text.replace('secret', 'mask'))
        expect(JSON.stringify(changed)).to.equal(JSON.stringify(body).replaceAll('a secret', 'a mask'))
      })

    it('and of questions, whatever they are called', () => {
      const questions = {
        status: { type: 'noul', instructions: 'a secret' },
        id: { type: 'noul', instructions: 'another' },
      }
      expect(judged({ state: 'a text', questions }, 'mapeval')).to.deep.equal(['a text', 'a secret', 'another'])
    })

    it('but whose it is does not change within them', () => {
      const content = [{ role: 'system', text: 'a text' }]
      const [found] = textsIn({ messages: [{ role: 'tool', tool_call_id: 'c', content }] }, 'chat').filter(
        ({ text }) => text === 'a text',
      )
      expect(found).to.deep.include({ role: 'tool', turn: 1 })
    })
  })

  it('are not judged where the protocol has names and settings', () => {
    const marks = { id: 'x', status: 'x', index: 'x', cache_control: { type: 'x' } }
    const text = { type: 'text', text: 'said', ...marks }
    const call = { id: 'x', type: 'function', function: { name: 'x', arguments: '{}' } }
    const bodies: Readonly<Record<string, JsonObject>> = {
      chat: {
        messages: [
          { role: 'user', name: 'x', content: [text, { type: 'image_url', image_url: { url: 'x', detail: 'x' } }] },
          { role: 'assistant', content: null, audio: { id: 'x' }, tool_calls: [call, { ...call, type: 'x' }] },
          {
            role: 'tool',
            tool_call_id: 'x',
            content: [text, { type: 'file', file: { file_id: 'x', file_data: 'x' } }],
          },
        ],
      },
      messages: {
        system: [text],
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'x', input: {} }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'x',
                content: [text, { type: 'image', source: { type: 'base64', media_type: 'x', data: 'x' } }],
              },
            ],
          },
        ],
      },
      responses: {
        prompt: { id: 'x', version: 1, variables: { name: 'said' } },
        input: [
          { type: 'reasoning', ...marks, encrypted_content: 'x', summary: [{ type: 'summary_text', text: 'said' }] },
          { type: 'function_call', ...marks, call_id: 'x', name: 'x', arguments: '{}' },
          { type: 'function_call_output', ...marks, call_id: 'x', output: [{ ...text, type: 'input_text' }] },
          { type: 'progress', item: { type: 'mcp_call', ...marks, name: 'x', arguments: '{}', output: 'said' } },
          { type: 'computer_call_output', call_id: 'x', output: { type: 'computer_screenshot', image_url: 'x' } },
        ],
      },
      gemini: {
        systemInstruction: { role: 'x', parts: [{ text: 'said' }] },
        contents: [
          { parts: [{ text: 'said', thoughtSignature: 'x' }, { fileData: { fileUri: 'x', mimeType: 'x' } }] },
          { role: 'model', parts: [{ functionCall: { id: 'x', name: 'x', args: {} } }] },
          {
            parts: [
              { functionResponse: { id: 'x', name: 'x', response: {}, parts: [{ inlineData: { data: 'x' } }] } },
              { inlineData: { mimeType: 'x', data: 'x' } },
            ],
          },
        ],
      },
    }
    for (const [protocol, body] of Object.entries(bodies))
      expect(new Set(judged(body, protocol).filter((one) => one !== '{}')), protocol).to.deep.equal(new Set(['said']))
  })
})
