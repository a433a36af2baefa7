import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { packSeal } from '../../../../engine/kit.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { parse } from '../../../../plugins/protocols/messages/parse-request.ts'

const minimal = { model: 'opus', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
const turn = (role: string, ...content: JsonObject[]) => parse({ ...minimal, messages: [{ role, content }] }).items

describe('messages: parsing a request', () => {
  it('reads the least body', () => {
    expect(parse(minimal)).to.deep.equal({
      items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      maxOutputTokens: 100,
      stream: false,
    })
  })

  it('reads every known field, and takes null for absent', () => {
    const parsed = parse({
      ...minimal,
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
      system: null,
      tools: null,
      tool_choice: null,
      thinking: null,
      thread: null,
      inference_geo: null,
    })
    expect(parsed).to.deep.include({
      stream: true,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      user: 'u1',
      serviceTier: 'default',
      reasoning: { effort: 'high' },
      format: { type: 'schema', schema: { type: 'object' } },
      tools: [],
    })
    expect(parsed).to.not.have.any.keys('rest', 'toolChoice', 'parallelTools')
  })

  it('keeps unknown fields in `rest`, but not the routing wishes meant for the gateway', () => {
    const { rest } = parse({
      ...minimal,
      cache_control: { type: 'ephemeral' },
      context_management: { edits: [] },
      routing: { max_cost: 1 },
      thinking: { type: 'between_tools' },
      metadata: { user_id: 'u', other: 1 },
      output_config: { effort: 'low', task_budget: 9, format: { type: 'other' } },
    })
    expect(rest).to.deep.equal({
      protocol: 'messages',
      fields: {
        cache_control: { type: 'ephemeral' },
        context_management: { edits: [] },
        thinking: { type: 'between_tools' },
        metadata: { other: 1 },
        output_config: { task_budget: 9, format: { type: 'other' } },
      },
    })
  })

  it('reads system blocks into one item with cache marks, without the billing line', () => {
    const { items } = parse({
      ...minimal,
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=00000;' },
        { type: 'text', text: 'You code.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'Be brief.', cache_control: null },
      ],
    })
    expect(items[0]).to.deep.equal({
      type: 'message',
      role: 'system',
      content: [
        { type: 'text', text: 'You code.', cache: { ttl: '1h' } },
        { type: 'text', text: 'Be brief.' },
      ],
    })
    expect(parse({ ...minimal, system: '' }).items).to.have.length(1)
  })

  it('keeps the order of thinking, calls and text inside a turn', () => {
    const items = turn(
      'assistant',
      { type: 'thinking', thinking: 'first', signature: 's1' },
      { type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } },
      { type: 'redacted_thinking', data: 'd2' },
      { type: 'tool_use', id: 't2', name: 'look', input: {}, cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    )
    expect(items).to.deep.equal([
      { type: 'reasoning', parts: [{ kind: 'summary', text: 'first' }], seal: { kind: 'signature', data: 's1' } },
      { type: 'call', kind: 'function', callId: 't1', name: 'look', input: '{"a":1}' },
      { type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'd2' } },
      { type: 'call', kind: 'function', callId: 't2', name: 'look', input: '{}', cache: {} },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ])
  })

  it('unpacks seals of the gateway to their origin', () => {
    const signature = packSeal('other/gpt', { kind: 'encrypted', data: 'cipher', id: 'rs_1' })
    expect(turn('assistant', { type: 'thinking', thinking: 'why', signature })).to.deep.equal([
      {
        type: 'reasoning',
        id: 'rs_1',
        parts: [{ kind: 'summary', text: 'why' }],
        seal: { origin: 'other/gpt', kind: 'encrypted', data: 'cipher' },
      },
    ])
  })

  it('reads results with blocks, images, errors and marks, and leaves unknown blocks in their place', () => {
    const items = turn(
      'user',
      {
        type: 'tool_result',
        tool_use_id: 't2',
        is_error: true,
        cache_control: { type: 'ephemeral' },
        content: [
          { type: 'text', text: 'broken' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
          { type: 'tool_reference', tool_name: 'x' },
        ],
      },
      { type: 'tool_result', tool_use_id: 't1', content: 'fine', is_error: false },
      { type: 'tool_result', tool_use_id: 't0' },
      { type: 'container_upload', file_id: 'f' },
      { type: 'text', text: 'go on' },
    )
    expect(items).to.deep.equal([
      {
        type: 'result',
        kind: 'function',
        callId: 't2',
        error: true,
        cache: {},
        content: [
          { type: 'text', text: 'broken' },
          { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AA==' } },
          { type: 'opaque', protocol: 'messages', value: { type: 'tool_reference', tool_name: 'x' } },
        ],
      },
      { type: 'result', kind: 'function', callId: 't1', content: [{ type: 'text', text: 'fine' }] },
      { type: 'result', kind: 'function', callId: 't0', content: [] },
      { type: 'opaque', protocol: 'messages', value: { type: 'container_upload', file_id: 'f' }, role: 'user' },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ])
  })

  it('reads every source of images and documents', () => {
    const document = (source: JsonObject, more: JsonObject = {}) => ({ type: 'document', source, ...more })
    const [message] = turn(
      'user',
      { type: 'image', source: { type: 'url', url: 'https://a/b.png' } },
      { type: 'image', source: { type: 'file', file_id: 'f1' } },
      document(
        { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
        { title: 'T', context: 'C', citations: { enabled: true } },
      ),
      document({ type: 'text', media_type: 'text/plain', data: 'plain' }, { title: null }),
      document({
        type: 'content',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      { type: 'search_result', source: 'https://s', title: 'S', content: [{ type: 'text', text: 'found' }] },
      { type: 'text', text: 'x', citations: [{ type: 'char_location', cited_text: 'y' }] },
    )
    expect(message).to.deep.equal({
      type: 'message',
      role: 'user',
      content: [
        { type: 'image', source: { kind: 'url', url: 'https://a/b.png' } },
        { type: 'image', source: { kind: 'id', id: 'f1', api: 'messages' } },
        {
          type: 'file',
          source: { kind: 'data', mediaType: 'application/pdf', data: 'AA==' },
          title: 'T',
          context: 'C',
          citations: true,
        },
        { type: 'file', source: { kind: 'text', mediaType: 'text/plain', text: 'plain' } },
        { type: 'file', source: { kind: 'text', mediaType: 'text/plain', text: 'a\n\nb' } },
        { type: 'text', text: 'S\nhttps://s\n\nfound' },
        {
          type: 'text',
          text: 'x',
          annotations: [{ type: 'opaque', protocol: 'messages', value: { type: 'char_location', cited_text: 'y' } }],
        },
      ],
    })
  })

  it('reads a document of very many images', () => {
    const image = { type: 'image', source: { type: 'file', file_id: 'f1' } }
    const content = Array.from({ length: 200_000 }, () => image)
    const [message] = turn('user', { type: 'document', source: { type: 'content', content } })
    expect(message?.type === 'message' && message.content).to.have.length(200_001)
  })

  it('refuses a source of an unknown type by its place', () => {
    const wrong = () => turn('user', { type: 'text', text: 'a' }, { type: 'image', source: { type: 'ftp' } })
    expect(wrong).to.throw(GatewayError).with.nested.property('failure.param', 'messages[0].content[1].source.type')
  })

  it('reads tools, with flags of this protocol in `rest` and vendor tools as they are', () => {
    const search = { type: 'web_search_20260318', name: 'web_search', max_uses: 3 }
    const { tools } = parse({
      ...minimal,
      tools: [
        {
          name: 'a',
          description: 'A',
          input_schema: { type: 'object' },
          defer_loading: true,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'custom', name: 'b', input_schema: { type: 'object' }, strict: true },
        search,
        { type: 'mcp_toolset', mcp_server_name: 'm' },
      ],
    })
    expect(tools).to.deep.equal([
      {
        type: 'function',
        name: 'a',
        description: 'A',
        parameters: { type: 'object' },
        cache: {},
        rest: { protocol: 'messages', fields: { defer_loading: true } },
      },
      { type: 'function', name: 'b', parameters: { type: 'object' }, strict: true },
      { type: 'opaque', protocol: 'messages', value: search, search: { maxUses: 3 } },
      { type: 'opaque', protocol: 'messages', value: { type: 'mcp_toolset', mcp_server_name: 'm' } },
    ])
  })

  const choices: [JsonObject, JsonObject][] = [
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { toolChoice: { type: 'auto' }, parallelTools: false },
    ],
    [{ type: 'any' }, { toolChoice: { type: 'required' } }],
    [{ type: 'tool', name: 'a' }, { toolChoice: { type: 'tool', kind: 'function', name: 'a' } }],
    [{ type: 'none' }, { toolChoice: { type: 'none' } }],
    [{ type: 'new' }, { toolChoice: { type: 'opaque', protocol: 'messages', value: { type: 'new' } } }],
  ]
  for (const [wire, neutral] of choices)
    it(`reads the tool choice ${JSON.stringify(wire)}`, () => {
      expect(parse({ ...minimal, tools: [{ name: 'a' }], tool_choice: wire })).to.deep.include(neutral)
    })

  it('refuses the choice of a tool that does not exist', () => {
    const choose = (tools: readonly JsonObject[]) => () =>
      parse({ ...minimal, tools, tool_choice: { type: 'tool', name: 'gone' } })
    expect(choose([])).to.throw(GatewayError).with.nested.property('failure.param', 'tool_choice')
    expect(choose([{ name: 'a' }]))
      .to.throw(GatewayError)
      .with.nested.property('failure.param', 'tool_choice')
    // A set of the vendor's tools may bring one of this name.
    expect(choose([{ type: 'toolset_20260801', name: 'set' }])).to.not.throw()
  })

  const wishes: [JsonObject, JsonObject][] = [
    [{ thinking: { type: 'enabled', budget_tokens: 31999, display: 'omitted' } }, { budget: 31999, summary: 'none' }],
    [
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      { effort: 'max', summary: 'auto' },
    ],
    [{ thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' } }, { budget: 2000, summary: 'auto' }],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { effort: 'none' }],
  ]
  for (const [fields, wish] of wishes)
    it(`reads the thinking wish ${JSON.stringify(fields)}`, () => {
      expect(parse({ ...minimal, ...fields }).reasoning).to.deep.equal(wish)
    })

  it('refuses threads with the code that makes clients send the whole conversation', () => {
    const threaded = () => parse({ ...minimal, thread: { type: 'create' } })
    expect(threaded)
      .to.throw(GatewayError)
      .with.property('failure')
      .that.deep.includes({
        status: 400,
        code: 'invalid_request',
        details: { error_code: 'thread_unsupported_request' },
      })
  })
})
