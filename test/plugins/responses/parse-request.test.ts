import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import { packSeal } from '../../../engine/kit.ts'
import type { JsonObject } from '../../../engine/index.ts'
import { print } from '../../../plugins/responses/print-request.ts'
import { target } from './exchange.ts'
import { parse } from '../../../plugins/responses/parse-request.ts'

const base = { model: 'think', input: 'Hi' }
const hello = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }

describe('responses: parse', () => {
  it('reads the least a body can be', () => {
    expect(parse(base)).to.deep.equal({ items: [hello], tools: [], stream: false, streamUsage: true })
  })

  it('takes null for absent', () => {
    const empty = Object.fromEntries(
      'instructions metadata reasoning text tools tool_choice temperature top_logprobs store stream include user'
        .split(' ')
        .map((field) => [field, null]),
    )
    expect(parse({ ...base, ...empty })).to.deep.equal({ items: [hello], tools: [], stream: false, streamUsage: true })
  })

  it('reads items of every kind, typed or not, and keeps what it does not know', () => {
    const unknown = { type: 'program', id: 'p_1', code: 'x' }
    const input = [
      { role: 'developer', content: 'Be' },
      { type: 'message', role: 'critic', content: [{ type: 'input_text', text: 'Hm' }] },
      { type: 'reasoning', summary: [], content: null, encrypted_content: null },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'So', annotations: [] },
          { type: 'refusal', refusal: 'No' },
        ],
      },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'look',
        namespace: 'eyes',
        arguments: '{}',
        status: 'completed',
      },
      {
        type: 'function_call_output',
        id: 'fco_1',
        call_id: 'call_1',
        output: [{ type: 'input_image', image_url: 'data:image/PNG;base64,AAAA', detail: 'low' }],
      },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '***' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
      { type: null, id: 'msg_0' },
      unknown,
    ]
    expect(parse({ ...base, instructions: 'Sys', input }).items).to.deep.equal([
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'Sys' }] },
      { type: 'message', role: 'developer', content: [{ type: 'text', text: 'Be' }] },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hm' }] },
      { type: 'reasoning', parts: [] },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'So' },
          { type: 'refusal', text: 'No' },
        ],
        id: 'msg_1',
        phase: 'commentary',
      },
      { type: 'call', kind: 'function', callId: 'call_1', name: 'look', namespace: 'eyes', input: '{}' },
      {
        type: 'result',
        kind: 'function',
        callId: 'call_1',
        content: [{ type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' }],
        id: 'fco_1',
      },
      { type: 'call', kind: 'custom', callId: 'call_2', name: 'patch', input: '***' },
      { type: 'result', kind: 'custom', callId: 'call_2', content: [{ type: 'text', text: 'done' }] },
      { type: 'opaque', protocol: 'responses', value: { type: null, id: 'msg_0' } },
      { type: 'opaque', protocol: 'responses', value: unknown },
    ])
  })

  const broken: [JsonObject, string][] = [
    [{ role: 'user', content: 5 }, 'content'],
    [{ type: 'message', role: 'user', content: { type: 'input_text', text: 'x' } }, 'content'],
    [{ type: 'function_call', name: 'lost', arguments: '' }, 'call_id'],
    [{ type: 'custom_tool_call', call_id: '', name: 'lost', input: '' }, 'call_id'],
    [{ type: 'function_call', call_id: 'c', arguments: '' }, 'name'],
    [{ type: 'function_call_output', output: 'x' }, 'call_id'],
    [{ type: 'custom_tool_call_output', call_id: 'c', output: true }, 'output'],
  ]
  for (const [item, field] of broken)
    it(`refuses ${JSON.stringify(item)} by the place`, () => {
      expect(() => parse({ ...base, input: [{ role: 'user', content: null }, item] }))
        .to.throw(GatewayError)
        .with.nested.property('failure.param', `input[1].${field}`)
    })

  it('refuses a format of the answer that does not exist', () => {
    expect(() => parse({ ...base, text: { format: { type: 'xml' } } }))
      .to.throw(GatewayError)
      .with.nested.property('failure.param', 'text.format.type')
  })

  it('refuses the choice of a tool that does not exist', () => {
    const named = { type: 'function', name: 'gone' }
    const choose =
      (tool_choice: JsonObject, ...tools: JsonObject[]) =>
      () =>
        parse({ ...base, tools, tool_choice })
    for (const choice of [named, { type: 'allowed_tools', mode: 'auto', tools: [named] }])
      expect(choose(choice, { type: 'function', name: 'a' }))
        .to.throw(GatewayError)
        .with.nested.property('failure.param', 'tool_choice')
    // A server of tools may bring one of this name; a search brings none.
    expect(choose(named, { type: 'mcp', server_label: 's' })).to.not.throw()
    expect(choose(named, { type: 'web_search' })).to.throw(GatewayError)
  })

  it('reads files and audio in each of their forms', () => {
    const content = [
      { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      { type: 'input_file', file_data: 'AAAA' },
      { type: 'input_file', file_url: 'https://x/a.pdf' },
      { type: 'input_file', file_url: 'data:application/pdf;base64,AAAA' },
      { type: 'input_file', file_id: 'file-1' },
      { type: 'input_image', file_id: 'file-2' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'input_audio', audio_data: 'AAAA', format: 'wav' },
      { type: 'input_audio', audio_url: 'https://x/a.wav', format: 'wav' },
      { type: 'input_text', text: 'End', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
      { type: 'input_video', video_url: 'https://x/a.mp4' },
    ]
    const [message] = parse({ ...base, input: [{ role: 'user', content }] }).items
    expect(message?.type === 'message' && message.content).to.deep.equal([
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'AAAA' }, filename: 'a.pdf' },
      { type: 'file', source: { kind: 'data', mediaType: 'application/octet-stream', data: 'AAAA' } },
      { type: 'file', source: { kind: 'url', url: 'https://x/a.pdf' } },
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'AAAA' } },
      { type: 'file', source: { kind: 'id', id: 'file-1', api: 'responses' } },
      { type: 'image', source: { kind: 'id', id: 'file-2', api: 'responses' } },
      { type: 'audio', source: { kind: 'data', mediaType: 'audio/mp3', data: 'AAAA' }, format: 'mp3' },
      { type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data: 'AAAA' }, format: 'wav' },
      { type: 'audio', source: { kind: 'url', url: 'https://x/a.wav' }, format: 'wav' },
      { type: 'text', text: 'End', cache: { ttl: '12h' } },
      { type: 'opaque', protocol: 'responses', value: { type: 'input_video', video_url: 'https://x/a.mp4' } },
    ])
  })

  it('reads tools, those of namespaces and those that come in the input', () => {
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const tools = [
      {
        type: 'function',
        name: 'open',
        description: null,
        parameters: { type: 'object', properties: {} },
        strict: null,
      },
      { type: 'function', name: 'closed', parameters: closed, defer_loading: true },
      {
        type: 'function',
        name: 'nested',
        parameters: { ...closed, properties: { a: { type: 'array', items: { type: 'object' } } } },
      },
      { type: 'function', name: 'bare', parameters: null, strict: true },
      {
        type: 'namespace',
        name: 'agents',
        description: 'Agents',
        tools: [
          { type: 'function', name: 'spawn', strict: false },
          { type: 'custom', name: 'talk' },
        ],
      },
      {
        type: 'custom',
        name: 'patch',
        description: 'Edits',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      },
      { type: 'web_search', external_web_access: true },
    ]
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late', strict: false }] },
      { role: 'user', content: 'Hi' },
    ]
    const read = parse({ ...base, tools, input })
    expect(read.items).to.deep.equal([hello])
    expect(read.tools).to.deep.equal([
      { type: 'function', name: 'open', parameters: { type: 'object', properties: {} }, strict: false },
      {
        type: 'function',
        name: 'closed',
        parameters: closed,
        strict: true,
        rest: { protocol: 'responses', fields: { defer_loading: true } },
      },
      { type: 'function', name: 'nested', parameters: tools[2]?.parameters, strict: false },
      { type: 'function', name: 'bare', strict: true },
      {
        type: 'function',
        name: 'spawn',
        namespace: 'agents',
        strict: false,
        rest: { protocol: 'responses', fields: { 'namespace.description': 'Agents' } },
      },
      {
        type: 'custom',
        name: 'talk',
        namespace: 'agents',
        rest: { protocol: 'responses', fields: { 'namespace.description': 'Agents' } },
      },
      {
        type: 'custom',
        name: 'patch',
        description: 'Edits',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      },
      { type: 'opaque', protocol: 'responses', value: { type: 'web_search', external_web_access: true }, search: {} },
      { type: 'function', name: 'late', strict: false },
    ])
  })

  it('keeps what a vendor runs in a namespace there, and a namespace of nothing', () => {
    const look = { type: 'function', name: 'look', strict: true }
    const space = { type: 'namespace', name: 'web', description: 'Web', scope: 'all' }
    const empty = { type: 'namespace', name: 'none', description: 'None', tools: [] }
    const search = { type: 'web_search' }
    const request = parse({ ...base, tools: [{ ...space, tools: [search, look] }, empty] })
    const fields = { 'namespace.description': 'Web' }
    expect(request.tools).to.deep.equal([
      { type: 'function', name: 'look', namespace: 'web', strict: true, rest: { protocol: 'responses', fields } },
      { type: 'opaque', protocol: 'responses', value: { ...space, tools: [search] } },
      { type: 'opaque', protocol: 'responses', value: empty },
    ])
    const parameters = { type: 'object', properties: {} }
    const [child] = [{ type: 'function', name: 'look', parameters, strict: true }]
    const printed = (traits: JsonObject) => print(request, target(traits)).body['tools']
    expect(printed({})).to.deep.equal([
      { type: 'namespace', name: 'web', description: 'Web', tools: [child, search] },
      empty,
    ])
    expect(printed({ namespaces: false })).to.deep.equal([{ ...child, name: 'web__look' }, search])
  })

  it('reads every tool choice', () => {
    const tools = ['function', 'custom'].map((type) => ({ type, name: 'a' }))
    const choice = (tool_choice: JsonObject | string) => parse({ ...base, tools, tool_choice }).toolChoice
    expect(choice('required')).to.deep.equal({ type: 'required' })
    expect(choice({ type: 'custom', name: 'a' })).to.deep.equal({ type: 'tool', kind: 'custom', name: 'a' })
    expect(choice({ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'a' }] })).to.deep.equal(
      {
        type: 'allowed',
        mode: 'required',
        tools: [{ kind: 'function', name: 'a' }],
      },
    )
    const mixed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] }
    expect(choice(mixed)).to.deep.equal({
      type: 'allowed',
      mode: 'auto',
      tools: [],
      own: { protocol: 'responses', tools: [{ type: 'web_search' }] },
      search: true,
    })
    expect(choice({ type: 'web_search' })).to.deep.equal({
      type: 'opaque',
      protocol: 'responses',
      value: { type: 'web_search' },
      search: true,
    })
  })

  it('reads settings and keeps the rest for its own protocol', () => {
    const {
      items: _,
      tools: __,
      ...read
    } = parse({
      ...base,
      stream: true,
      max_output_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      top_logprobs: 2,
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content', 'web_search_call.results'],
      reasoning: { effort: 'low', summary: 'auto', context: 'auto' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true }, verbosity: 'low' },
      safety_identifier: 's',
      user: 'u',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      metadata: { a: 'b' },
      store: false,
      parallel_tool_calls: false,
      previous_response_id: 'resp_0',
      background: false,
      routing: { max_cost: 1 },
      generate: false,
      client_metadata: { x: 1 },
    })
    expect(read).to.deep.equal({
      parallelTools: false,
      maxOutputTokens: 9,
      temperature: 0,
      topP: 0.5,
      logprobs: 2,
      reasoning: { effort: 'low', summary: 'auto' },
      format: { type: 'schema', name: 'n', schema: {}, strict: true },
      verbosity: 'low',
      user: 's',
      cacheKey: 'k',
      serviceTier: 'flex',
      metadata: { a: 'b' },
      store: false,
      stream: true,
      streamUsage: true,
      rest: {
        protocol: 'responses',
        fields: {
          previous_response_id: 'resp_0',
          client_metadata: { x: 1 },
          'reasoning.context': 'auto',
          include: ['web_search_call.results'],
          user: 'u',
        },
      },
    })
  })

  it('refuses what has no meaning, and says where', () => {
    const param = (body: JsonObject) => {
      try {
        parse({ ...base, ...body })
      } catch (error) {
        return error instanceof GatewayError ? [error.code, error.failure.param] : error
      }
      return undefined
    }
    expect(param({ tools: [{ type: 'web_search' }, { type: 'function' }] })).to.deep.equal([
      'invalid_value',
      'tools[1].name',
    ])
    expect(param({ tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'custom' }] }] })).to.deep.equal([
      'invalid_value',
      'tools[0].tools[0].name',
    ])
    expect(param({ tool_choice: 'maybe' })).to.deep.equal(['invalid_value', 'tool_choice'])
    expect(param({ text: { format: { type: 'json_schema', name: 'n' } } })).to.deep.equal([
      'invalid_value',
      'text.format.schema',
    ])
  })

  it('unpacks reasoning with its origin, and knows none for other ciphertext', () => {
    const parts = [{ kind: 'text', text: 'Hm' }]
    const packed = packSeal('acme/think', { kind: 'signature', data: 'c2ln', parts })
    const summary = [{ type: 'summary_text', text: 'changed by the client' }]
    const read = (encrypted_content: string) =>
      parse({ ...base, input: [{ type: 'reasoning', id: 'rs_1', summary, encrypted_content }] }).items
    expect(read(packed)).to.deep.equal([
      { type: 'reasoning', id: 'rs_1', parts, seal: { origin: 'acme/think', kind: 'signature', data: 'c2ln' } },
    ])
    for (const foreign of ['AbC', packSeal('acme/think', 'other'), packSeal('acme/think', { kind: 'signature' })]) {
      expect(read(foreign)).to.deep.equal([
        {
          type: 'reasoning',
          id: 'rs_1',
          parts: [{ kind: 'summary', text: 'changed by the client' }],
          seal: { kind: 'encrypted', data: JSON.stringify({ id: 'rs_1', summary, encrypted_content: foreign }) },
        },
      ])
    }
  })
})
