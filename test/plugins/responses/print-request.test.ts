import { expect } from 'chai'
import type { GenerateRequest, Item } from '../../../engine/index.ts'
import { print } from '../../../plugins/responses/print-request.ts'
import { origin, request, target } from './exchange.ts'

const hello: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }
const printedHello = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
const native = { id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'AbC+/=' }

function printed(fields: Partial<GenerateRequest>, traits = {}) {
  return print(request({ items: [hello], ...fields }), target(traits))
}

describe('responses: print', () => {
  it('prints the least a request can be', () => {
    expect(printed({})).to.deep.equal({
      body: { model: 'think-2', input: [printedHello], store: false },
      losses: [],
      restore: { tools: new Map() },
    })
  })

  it('joins leading system texts to instructions and keeps later ones in their place', () => {
    const items: Item[] = [
      {
        type: 'message',
        role: 'system',
        content: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
      },
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'C' }] },
      hello,
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'Late' }] },
    ]
    const { body } = print(request({ items }), target())
    expect(body['instructions']).to.equal('A\n\nB\n\nC')
    expect(body['input']).to.deep.equal([
      printedHello,
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Late' }] },
    ])
  })

  it('never leaves the input empty', () => {
    const items: Item[] = [{ type: 'message', role: 'system', content: [{ type: 'text', text: 'A' }] }]
    expect(print(request({ items }), target()).body).to.deep.include({
      input: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'A' }] }],
    })
  })

  it('prints every kind of content', () => {
    const items: Item[] = [
      {
        type: 'message',
        role: 'user',
        name: 'ann',
        content: [
          { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' }, detail: 'high' },
          { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } },
          { type: 'image', source: { kind: 'id', id: 'file-1', api: 'responses' } },
          { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'AAAA' } },
          { type: 'file', source: { kind: 'url', url: 'https://x/y.pdf' }, filename: 'y.pdf' },
          { type: 'file', source: { kind: 'text', mediaType: 'text/plain', text: 'Body' }, title: 'Title' },
          { type: 'audio', source: { kind: 'data', mediaType: 'audio/mp3', data: 'AAAA' } },
          { type: 'opaque', protocol: 'responses', value: { type: 'input_video', video_url: 'https://x/y.mp4' } },
          { type: 'opaque', protocol: 'messages', value: { type: 'container_upload' } },
          { type: 'text', text: 'cached', cache: { ttl: '1h' } },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        id: 'msg_1',
        content: [
          {
            type: 'text',
            text: 'See x',
            annotations: [
              { type: 'url', url: 'https://x', title: 'X', start: 4, end: 5 },
              { type: 'opaque', protocol: 'messages', value: { type: 'char_location' } },
            ],
          },
          { type: 'refusal', text: 'No' },
        ],
      },
    ]
    const { body, losses } = print(request({ items }), target())
    expect(body['input']).to.deep.equal([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
          { type: 'input_image', image_url: 'https://x/y.png' },
          { type: 'input_image', file_id: 'file-1' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'document.pdf' },
          { type: 'input_file', file_url: 'https://x/y.pdf', filename: 'y.pdf' },
          { type: 'input_text', text: 'Title\n\nBody' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
          { type: 'input_video', video_url: 'https://x/y.mp4' },
          { type: 'input_text', text: 'cached' },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'See x',
            annotations: [{ type: 'url_citation', url: 'https://x', title: 'X', start_index: 4, end_index: 5 }],
          },
          { type: 'refusal', refusal: 'No' },
        ],
        phase: 'commentary',
      },
    ])
    expect(losses.map(({ field }) => field)).to.deep.equal(['messages[].name', 'messages[].content', 'cache_control'])
  })

  it('puts a text in the place of a file address that the provider cannot fetch', () => {
    const file: Item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'file', source: { kind: 'url', url: 'https://x/y.pdf' } }],
    }
    const { body, losses } = print(request({ items: [file] }), target({ file_url: false }))
    expect(body['input']).to.deep.equal([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '[File: https://x/y.pdf]' }] },
    ])
    expect(losses).to.deep.equal([{ field: 'file_url', because: 'the provider does not fetch files' }])
  })

  it('keeps reasoning, calls, results and opaque items in their order', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const items: Item[] = [
      hello,
      { type: 'reasoning', parts: [], seal: { origin, kind: 'encrypted', data: JSON.stringify(native) } },
      { type: 'call', kind: 'function', callId: 'call 1', name: 'look', input: '' },
      { type: 'opaque', protocol: 'responses', value: search },
      { type: 'call', kind: 'custom', callId: 'call_2', name: 'patch', namespace: 'edit', input: '*** Begin' },
      { type: 'result', kind: 'custom', callId: 'call_2', content: [{ type: 'text', text: 'gone' }], error: true },
      {
        type: 'result',
        kind: 'function',
        callId: 'call 1',
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } },
        ],
      },
      { type: 'result', kind: 'function', callId: 'call_3', content: [] },
      { type: 'opaque', protocol: 'messages', value: { type: 'server_tool_use' } },
    ]
    const { body, losses } = print(request({ items }), target())
    const hashed = (body['input'] as { call_id?: string }[])[2]?.call_id
    expect(hashed).to.match(/^call_[0-9a-f]{24}$/)
    expect(body['input']).to.deep.equal([
      printedHello,
      { type: 'reasoning', summary: native.summary, encrypted_content: 'AbC+/=' },
      { type: 'function_call', call_id: hashed, name: 'look', arguments: '{}' },
      search,
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', namespace: 'edit', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Error: gone' },
      {
        type: 'function_call_output',
        call_id: hashed,
        output: [
          { type: 'input_text', text: 'seen' },
          { type: 'input_image', image_url: 'https://x/y.png' },
        ],
      },
      { type: 'function_call_output', call_id: 'call_3', output: '' },
    ])
    expect(body['include']).to.deep.equal(['reasoning.encrypted_content'])
    expect(losses).to.deep.equal([
      { field: 'messages[].server_tool_use', because: 'only another protocol has this item' },
    ])
  })

  it('gives reasoning its id back only where the upstream stores', () => {
    const seal = { origin, kind: 'encrypted', data: JSON.stringify(native) } as const
    const { body } = printed({ items: [hello, { type: 'reasoning', parts: [], seal }], store: true })
    expect(body).to.deep.include({ store: true })
    expect(body).not.to.have.property('include')
    expect((body['input'] as object[])[1]).to.deep.equal({ type: 'reasoning', ...native })
  })

  it('drops reasoning of any other origin, of none, and of a form that is not its own', () => {
    const data = JSON.stringify(native)
    for (const seal of [
      { origin: 'other/think', kind: 'encrypted', data },
      { kind: 'encrypted', data },
      { origin, kind: 'signature', data },
      { origin, kind: 'encrypted', data: 'not json' },
    ] as const) {
      const { body, losses } = printed({ items: [hello, { type: 'reasoning', parts: [], seal }] })
      expect(body['input']).to.deep.equal([printedHello])
      expect(losses.map(({ field }) => field)).to.deep.equal(['reasoning'])
    }
  })

  it('says strict outright, groups namespaces and restores names that had to change', () => {
    const long = 'n'.repeat(70)
    const rest = { protocol: 'responses', fields: { defer_loading: true, 'namespace.description': 'Agents' } }
    const { body, restore, losses } = printed({
      tools: [
        { type: 'function', name: 'look', description: 'Looks' },
        { type: 'function', name: 'spawn', namespace: 'agents', parameters: { type: 'object' }, strict: true, rest },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        { type: 'custom', name: 'talk', namespace: 'agents' },
        { type: 'opaque', protocol: 'responses', value: { type: 'web_search' } },
        { type: 'opaque', protocol: 'messages', value: { type: 'bash_20250124', name: 'bash' } },
        { type: 'function', name: long, rest: { protocol: 'messages', fields: { eager: true } }, cache: {} },
      ],
    })
    const [short] = restore?.tools.keys() ?? []
    expect(short).to.have.length(64)
    expect(body['tools']).to.deep.equal([
      {
        type: 'function',
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
      {
        type: 'namespace',
        name: 'agents',
        description: 'Agents',
        tools: [
          { type: 'function', name: 'spawn', parameters: { type: 'object' }, strict: true, defer_loading: true },
          { type: 'custom', name: 'talk' },
        ],
      },
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
      { type: 'web_search' },
      { type: 'function', name: short, parameters: { type: 'object', properties: {} }, strict: false },
    ])
    expect([...(restore?.tools ?? [])]).to.deep.equal([[short, { name: long, kind: 'function' }]])
    expect(losses.map(({ field }) => field)).to.deep.equal(['tools[].bash_20250124', 'cache_control', 'tools[].eager'])
  })

  it('sends custom tools as functions where there are none', () => {
    const { body, restore } = printed(
      {
        tools: [
          {
            type: 'custom',
            name: 'patch',
            namespace: 'edit',
            description: 'Edits',
            format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
          },
        ],
        toolChoice: { type: 'tool', kind: 'custom', name: 'patch' },
        items: [
          hello,
          { type: 'call', kind: 'custom', callId: 'call_1', name: 'patch', namespace: 'edit', input: 'a"b' },
        ],
      },
      { custom_tools: false },
    )
    expect(body['tools']).to.deep.equal([
      {
        type: 'function',
        name: 'edit__patch',
        description: 'Edits\n\nThe input must follow this lark grammar:\nstart: "a"',
        parameters: {
          type: 'object',
          properties: { input: { type: 'string' } },
          required: ['input'],
          additionalProperties: false,
        },
        strict: false,
      },
    ])
    expect(body['tool_choice']).to.deep.equal({ type: 'function', name: 'edit__patch' })
    expect((body['input'] as object[])[1]).to.deep.equal({
      type: 'function_call',
      call_id: 'call_1',
      name: 'edit__patch',
      arguments: '{"input":"a\\"b"}',
    })
    expect(restore?.tools.get('edit__patch')).to.deep.equal({ name: 'patch', namespace: 'edit', kind: 'custom' })
  })

  it('prints every tool choice', () => {
    const tools = [
      { type: 'function', name: 'a' },
      { type: 'custom', name: 'b' },
    ] as const
    const choice = (toolChoice: NonNullable<GenerateRequest['toolChoice']>, traits = {}) =>
      printed({ tools, toolChoice, parallelTools: false }, traits).body
    expect(choice({ type: 'required' })).to.deep.include({ tool_choice: 'required', parallel_tool_calls: false })
    expect(choice({ type: 'tool', kind: 'custom', name: 'b' })['tool_choice']).to.deep.equal({
      type: 'custom',
      name: 'b',
    })
    const allowed = { type: 'allowed', mode: 'required', tools: [{ kind: 'function', name: 'a' }] } as const
    expect(choice(allowed)['tool_choice']).to.deep.equal({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'a' }],
    })
    const subset = choice(allowed, { allowed_tools: false })
    expect(subset['tool_choice']).to.equal('required')
    expect((subset['tools'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['a'])
    const hosted = { type: 'opaque', protocol: 'responses', value: { type: 'file_search' } } as const
    expect(choice(hosted)['tool_choice']).to.deep.equal({ type: 'file_search' })
    expect(choice({ ...hosted, protocol: 'messages' })).not.to.have.property('tool_choice')
  })

  it('sends neither a choice nor parallelism without tools', () => {
    const { body, losses } = printed({
      toolChoice: { type: 'tool', kind: 'function', name: 'a' },
      parallelTools: false,
    })
    expect(body).to.deep.equal({ model: 'think-2', input: [printedHello], store: false })
    expect(losses).to.deep.equal([{ field: 'tool_choice', because: 'the chosen tool is not among those sent' }])
  })

  it('prints settings, and reports those it has no field for', () => {
    const { body, losses, cuts } = printed({
      maxOutputTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      logprobs: 3,
      reasoning: { budget: 31_999, summary: 'none' },
      format: { type: 'schema', schema: { type: 'object' } },
      verbosity: 'low',
      user: 'u'.repeat(65),
      serviceTier: 'standard_only',
      metadata: { a: 'b' },
      stream: true,
      stop: ['x'],
      topK: 4,
      seed: 1,
      frequencyPenalty: 1,
      presencePenalty: 1,
      rest: { protocol: 'chat', fields: { n: 2, logit_bias: {} } },
    })
    expect(cuts).to.deep.equal(['x'])
    const hash = (body['safety_identifier'] as string) ?? ''
    expect(hash).to.match(/^[0-9a-f]{64}$/)
    expect(body).to.deep.equal({
      model: 'think-2',
      input: [printedHello],
      max_output_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      top_logprobs: 3,
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } }, verbosity: 'low' },
      safety_identifier: hash,
      prompt_cache_key: hash,
      metadata: { a: 'b' },
      store: false,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      stream: true,
    })
    expect(losses.map(({ field }) => field)).to.have.members([
      'n',
      'logit_bias',
      'top_k',
      'seed',
      'frequency_penalty',
      'presence_penalty',
      'service_tier',
    ])
  })

  it('asks for ciphertext only where there is reasoning that the upstream can seal', () => {
    expect(printed({ reasoning: { effort: 'none' } }).body).not.to.have.property('include')
    expect(printed({ reasoning: { effort: 'low' } }).body['include']).to.deep.equal(['reasoning.encrypted_content'])
    expect(printed({ reasoning: { effort: 'low' }, store: true }).body).not.to.have.property('include')
    expect(printed({ reasoning: { effort: 'low' } }, { encrypted_reasoning: false }).body).not.to.have.property(
      'include',
    )
  })

  it('turns a budget into an effort by thresholds', () => {
    const effort = (budget: number) => printed({ reasoning: { budget } }).body['reasoning']
    expect([0, 1024, 4095, 4096, 16_383, 16_384].map(effort)).to.deep.equal(
      ['none', 'low', 'low', 'medium', 'medium', 'high'].map((word) => ({ effort: word })),
    )
  })

  it('withholds names that are no words from what it reports', () => {
    const fields = { 'x\r\ny': 1, container: 2 }
    const { losses } = printed({
      rest: { protocol: 'chat', fields },
      tools: [{ type: 'opaque', protocol: 'chat', value: { type: 'a secret sentence' } }],
    })
    expect(losses.map(({ field }) => field)).to.deep.equal(['unknown', 'container', 'tools[].unknown'])
  })

  it('puts back what only this protocol knows', () => {
    const fields = {
      truncation: 'auto',
      include: ['web_search_call.results', 'reasoning.encrypted_content'],
      'reasoning.context': 'all_turns',
      'text.format': { type: 'grammar' },
      user: 'ann',
    }
    const { body, losses } = printed({
      reasoning: { effort: 'low' },
      user: 'hash',
      rest: { protocol: 'responses', fields },
    })
    expect(body).to.deep.equal({
      truncation: 'auto',
      model: 'think-2',
      input: [printedHello],
      reasoning: { context: 'all_turns', effort: 'low' },
      text: { format: { type: 'grammar' } },
      user: 'ann',
      safety_identifier: 'hash',
      prompt_cache_key: 'hash',
      store: false,
      include: ['web_search_call.results', 'reasoning.encrypted_content'],
    })
    expect(losses).to.deep.equal([])
  })
})
