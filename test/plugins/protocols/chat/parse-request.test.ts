import { expect } from 'chai'
// Its codes are known where it is imported.
import '../../../../plugins/rewriting/error-codes.ts'
import { GatewayError } from '../../../../engine/index.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { body, request } from './support.ts'

describe('chat request', () => {
  it('gives every field its neutral place', () => {
    const full = body({
      max_completion_tokens: 9,
      max_tokens: 8,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop: 'END',
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: -1,
      logprobs: true,
      top_logprobs: 3,
      reasoning_effort: 'high',
      verbosity: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
      },
      safety_identifier: 'u1',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      metadata: { a: 'b' },
      store: false,
      stream: true,
      stream_options: { include_usage: true },
      tools: [],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    expect(request.parse(full)).to.deep.equal({
      items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      toolChoice: { type: 'required' },
      parallelTools: false,
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      seed: 7,
      frequencyPenalty: 1,
      presencePenalty: -1,
      logprobs: 3,
      reasoning: { effort: 'high' },
      format: { type: 'schema', name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
      verbosity: 'low',
      user: 'u1',
      cacheKey: 'k',
      serviceTier: 'flex',
      metadata: { a: 'b' },
      store: false,
      stream: true,
      streamUsage: true,
    })
  })

  it('takes null for absent', () => {
    const names = [
      'max_tokens',
      'temperature',
      'top_p',
      'stop',
      'seed',
      'tools',
      'tool_choice',
      'response_format',
      'user',
      'stream',
      'stream_options',
      'logit_bias',
      'n',
    ]
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    expect(request.parse(body(nulls))).to.deep.equal(request.parse(body()))
  })

  it('keeps what only this protocol knows, and not what the gateway reads', () => {
    const rest = { logit_bias: { 5: 1 }, prediction: { type: 'content', content: 'x' }, user: 'old' }
    const parsed = request.parse(
      body({
        ...rest,
        safety_identifier: 'new',
        routing: { max_cost: 1 },
        n: 1,
        stream_options: { include_usage: true, include_obfuscation: false },
      }),
    )
    expect(parsed.user).to.equal('new')
    expect(parsed.rest).to.deep.equal({
      protocol: 'chat',
      fields: { ...rest, stream_options: { include_obfuscation: false } },
    })
  })

  it('keeps a response format it does not know', () => {
    const format = { type: 'grammar', grammar: 'root ::= "a"' }
    const parsed = request.parse(body({ response_format: format }))
    expect([parsed.format, parsed.rest]).to.deep.equal([
      undefined,
      { protocol: 'chat', fields: { response_format: format } },
    ])
  })

  it('refuses several choices', () => {
    expect(() => request.parse(body({ n: 2 })))
      .to.throw(GatewayError)
      .with.nested.property('failure')
      .that.includes({ status: 400, code: 'unsupported_parameter', param: 'n' })
  })

  it('reads tools of both kinds and keeps the others', () => {
    const search = { type: 'web_search', filters: {} }
    const tools = [
      {
        type: 'function',
        function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, extra: 1 },
        cache_control: { type: 'ephemeral', ttl: '1h' },
        defer: true,
      },
      {
        type: 'custom',
        custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } },
      },
      search,
    ]
    expect(request.parse(body({ tools })).tools).to.deep.equal([
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object' },
        strict: true,
        cache: { ttl: '1h' },
        rest: { protocol: 'chat', fields: { defer: true, function: { extra: 1 } } },
      },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
      { type: 'opaque', protocol: 'chat', value: search },
    ])
  })

  it('reads the functions of old', () => {
    const parsed = request.parse(
      body({ functions: [{ name: 'f', parameters: { type: 'object' } }], function_call: { name: 'f' } }),
    )
    expect(parsed.tools).to.deep.equal([{ type: 'function', name: 'f', parameters: { type: 'object' } }])
    expect(parsed.toolChoice).to.deep.equal({ type: 'tool', kind: 'function', name: 'f' })
    expect(parsed.parallelTools).to.equal(false)
  })

  const choices: [JsonObject[string], unknown][] = [
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', kind: 'function', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'c' } },
      { type: 'tool', kind: 'custom', name: 'c' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [
            { type: 'function', function: { name: 'f' } },
            { type: 'custom', custom: { name: 'c' } },
          ],
        },
      },
      {
        type: 'allowed',
        mode: 'required',
        tools: [
          { kind: 'function', name: 'f' },
          { kind: 'custom', name: 'c' },
        ],
      },
    ],
    [{ type: 'mcp' }, { type: 'opaque', protocol: 'chat', value: { type: 'mcp' } }],
    ['any', { type: 'opaque', protocol: 'chat', value: 'any' }],
  ]
  for (const [choice, neutral] of choices) {
    it(`reads the tool choice ${JSON.stringify(choice)}`, () => {
      const tools = [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'c' } },
      ]
      expect(request.parse(body({ tools, tool_choice: choice ?? null })).toolChoice).to.deep.equal(neutral)
    })
  }

  it('refuses the choice of a tool that does not exist', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const named = { type: 'function', function: { name: 'gone' } }
    for (const choice of [named, { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named] } }])
      expect(() => request.parse(body({ tools, tool_choice: choice })))
        .to.throw(GatewayError)
        .with.nested.property('failure.param', 'tool_choice')
  })
})
