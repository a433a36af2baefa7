import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { legalCallId } from '../../../../engine/kit.ts'
import type { GenerateRequest, Traits } from '../../../../engine/index.ts'
import { request, target } from './support.ts'

const hello: GenerateRequest = {
  items: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  stream: false,
}

function print(fields: Partial<GenerateRequest> = {}, traits: Traits = {}) {
  const { body, losses, restore } = request.print({ ...hello, ...fields }, target(traits))
  return { body, losses: losses.map(({ field }) => field), restore }
}

/** Everything an upstream of the first party takes. */
const all: Traits = {
  system_role: 'developer',
  custom_tools: true,
  allowed_tools: true,
  files: true,
  audio: true,
  user_field: 'safety_identifier',
  prompt_cache_key: true,
  service_tier: true,
  verbosity: true,
  metadata: true,
  top_k: true,
}

describe('chat request for an upstream', () => {
  it('says no more than was asked', () => {
    expect(print().body).to.deep.equal({ model: 'small-1', messages: [{ role: 'user', content: 'hi' }] })
  })

  const full: Partial<GenerateRequest> = {
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
    verbosity: 'low',
    user: 'u1',
    cacheKey: 'k',
    serviceTier: 'flex',
    metadata: { a: 'b' },
    store: true,
    stream: true,
  }

  it('refuses a conversation in which nothing is said', () => {
    try {
      print({ items: [] })
      expect.fail('it was printed')
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      expect([error.code, error.failure.status, error.failure.param]).to.deep.equal(['invalid_value', 400, 'input'])
    }
  })

  it('says everything where the upstream takes everything', () => {
    expect(print(full, all)).to.deep.include({
      losses: [],
      body: {
        model: 'small-1',
        messages: [{ role: 'user', content: 'hi' }],
        max_completion_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        stop: ['END'],
        seed: 7,
        frequency_penalty: 1,
        presence_penalty: -1,
        logprobs: true,
        top_logprobs: 3,
        verbosity: 'low',
        reasoning_effort: 'high',
        safety_identifier: 'u1',
        prompt_cache_key: 'k',
        service_tier: 'flex',
        metadata: { a: 'b' },
        store: true,
        stream: true,
        stream_options: { include_usage: true },
      },
    })
  })

  it('leaves out, and tells, what a modest upstream does not take', () => {
    const modest = {
      max_tokens_field: 'max_tokens',
      logprobs: false,
      reasoning_effort: false,
      user_field: false,
      stream_usage: false,
    }
    expect(print(full, modest)).to.deep.include({
      losses: [
        'logprobs',
        'top_k',
        'verbosity',
        'reasoning_effort',
        'user',
        'prompt_cache_key',
        'service_tier',
        'metadata',
        'store',
      ],
      body: {
        model: 'small-1',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        stop: ['END'],
        seed: 7,
        frequency_penalty: 1,
        presence_penalty: -1,
        stream: true,
      },
    })
  })

  it('asks for log probabilities without alternatives', () => {
    const { body } = print({ logprobs: 0 })
    expect([body['logprobs'], 'top_logprobs' in body]).to.deep.equal([true, false])
  })

  it('never stores what nobody asked to store', () => {
    expect(print({ store: false }, all).body).not.to.have.property('store')
  })

  it('shortens identifiers, and shares a cache per user', () => {
    const user = 'x'.repeat(65)
    const { body } = print({ user }, { prompt_cache_key: true })
    expect(body['user']).to.match(/^[0-9a-f]{64}$/)
    expect(body['prompt_cache_key']).to.equal(body['user'])
    expect(print({ user: 'short', cacheKey: 'k' }, { prompt_cache_key: true }).body).to.include({
      user: 'short',
      prompt_cache_key: 'k',
    })
  })

  it('takes tiers only of its own words', () => {
    expect(print({ serviceTier: 'standard_only' }, all).body['service_tier']).to.equal('default')
    expect(print({ serviceTier: 'batch' }, all).losses).to.deep.equal(['service_tier'])
  })

  it('puts its own rest back and drops that of others', () => {
    const fields = { logit_bias: { 5: 1 }, stream_options: { include_obfuscation: false } }
    const own = print({ rest: { protocol: 'chat', fields }, stream: true })
    expect(own.body).to.deep.include({
      logit_bias: { 5: 1 },
      stream_options: { include_obfuscation: false, include_usage: true },
    })
    expect(print({ rest: { protocol: 'chat', fields } }).body).not.to.have.property('stream_options')
    const other = print({ rest: { protocol: 'other', fields: { container: 'c', thread: {} } } })
    expect(other.losses).to.deep.equal(['container', 'thread'])
    expect(other.body).to.deep.equal(print().body)
  })

  it('withholds names that are no words from what it tells', () => {
    const said = 'a secret sentence'
    const rest = { protocol: 'other', fields: { [said]: 1 } }
    const part = { type: 'opaque', protocol: 'other', value: { type: said } } as const
    const { losses } = print({
      rest,
      items: [...hello.items, { type: 'message', role: 'user', content: [part] }],
      tools: [
        { type: 'function', name: 'f', rest },
        { type: 'opaque', protocol: 'other', value: { type: said } },
      ],
    })
    expect(losses).to.have.members(['unknown', 'tools[].unknown'])
  })

  it('prints formats', () => {
    const format = { type: 'schema' as const, schema: { type: 'object' }, strict: true }
    expect(print({ format: { type: 'text' } }).body).not.to.have.property('response_format')
    expect(print({ format: { type: 'json' } }).body['response_format']).to.deep.equal({ type: 'json_object' })
    expect(print({ format }).body['response_format']).to.deep.equal({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    })
    expect(print({ format }, { strict: false }).body['response_format']).to.deep.equal({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' } },
    })
  })

  it('tells the schema in words where the upstream takes none', () => {
    const system = {
      type: 'message' as const,
      role: 'system' as const,
      content: [{ type: 'text' as const, text: 's' }],
    }
    const { body, losses } = print(
      { items: [system, ...hello.items], format: { type: 'schema', schema: { type: 'object' } } },
      { json_schema: false },
    )
    expect(losses).to.deep.equal(['response_format'])
    expect(body['response_format']).to.deep.equal({ type: 'json_object' })
    expect(body['messages']).to.deep.equal([
      { role: 'system', content: 's' },
      { role: 'system', content: 'Answer with JSON that matches this JSON Schema:\n{"type":"object"}' },
      { role: 'user', content: 'hi' },
    ])
  })
})

describe('chat tools for an upstream', () => {
  const lookup = {
    type: 'function' as const,
    name: 'lookup',
    namespace: 'docs',
    parameters: { type: 'object' },
    strict: true,
  }
  const patch = {
    type: 'custom' as const,
    name: 'patch',
    description: 'Edits.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
  }
  const wrapped = {
    type: 'function',
    function: {
      name: 'patch',
      description: 'Edits.\n\nThe input follows this lark grammar:\nstart: "a"',
      parameters: {
        type: 'object',
        properties: { input: { type: 'string' } },
        required: ['input'],
        additionalProperties: false,
      },
    },
  }

  it('flatten namespaces and wrap free text', () => {
    const { body, restore } = print({
      tools: [lookup, patch, { type: 'function', name: 'bare' }],
      parallelTools: false,
    })
    expect(body['tools']).to.deep.equal([
      { type: 'function', function: { name: 'docs__lookup', parameters: { type: 'object' }, strict: true } },
      wrapped,
      { type: 'function', function: { name: 'bare', parameters: { type: 'object', properties: {} } } },
    ])
    expect(body['parallel_tool_calls']).to.equal(false)
    expect(restore?.tools.get('docs__lookup')).to.deep.equal({ name: 'lookup', namespace: 'docs', kind: 'function' })
    expect(restore?.tools.get('patch')).to.deep.equal({ name: 'patch', kind: 'custom' })
  })

  it('stay themselves where the upstream takes free text', () => {
    const { body, restore } = print(
      { tools: [patch], toolChoice: { type: 'tool', kind: 'custom', name: 'patch' } },
      all,
    )
    expect(body['tools']).to.deep.equal([
      {
        type: 'custom',
        custom: {
          name: 'patch',
          description: 'Edits.',
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
        },
      },
    ])
    expect(body['tool_choice']).to.deep.equal({ type: 'custom', custom: { name: 'patch' } })
    expect(restore?.tools.size).to.equal(0)
  })

  it('put their own rest back and drop that of others', () => {
    const own = {
      type: 'function' as const,
      name: 'f',
      rest: { protocol: 'chat', fields: { defer: true, function: { extra: 1 } } },
    }
    const other = { type: 'function' as const, name: 'g', rest: { protocol: 'other', fields: { defer_loading: true } } }
    const search = { type: 'opaque' as const, protocol: 'other', value: { type: 'web_search' } }
    const { body, losses } = print({ tools: [own, other, search], parallelTools: true })
    expect(body['tools']).to.deep.equal([
      {
        defer: true,
        type: 'function',
        function: { extra: 1, name: 'f', parameters: { type: 'object', properties: {} } },
      },
      { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
    ])
    expect(losses).to.deep.equal(['tools[].defer_loading', 'tools[].web_search'])
  })

  it('are marked for a cache only where the upstream takes marks', () => {
    const tools = [{ type: 'function' as const, name: 'f', cache: { ttl: '1h' } }]
    expect(print({ tools }, { cache_control: true }).body)
      .to.have.nested.property('tools[0].cache_control')
      .that.deep.equals({ type: 'ephemeral', ttl: '1h' })
    expect(print({ tools }).losses).to.deep.equal(['cache_control'])
  })

  it('take their choice with them when there are none', () => {
    const none = print({ toolChoice: { type: 'none' }, parallelTools: false })
    expect(none.body).to.deep.equal(print().body)
    const search = { type: 'opaque' as const, protocol: 'other', value: { type: 'web_search' } }
    expect(print({ tools: [search], toolChoice: { type: 'required' } }).body).to.deep.equal(print().body)
  })

  it('are chosen by the name the upstream sees', () => {
    const choose = (name: string, traits?: Traits) =>
      print({ tools: [lookup, patch], toolChoice: { type: 'tool', kind: 'function', name } }, traits)
    expect(choose('lookup').body['tool_choice']).to.deep.equal({ type: 'function', function: { name: 'docs__lookup' } })
    expect(choose('docs__lookup').body['tool_choice']).to.deep.equal({
      type: 'function',
      function: { name: 'docs__lookup' },
    })
    expect(choose('patch').body['tool_choice']).to.deep.equal({ type: 'function', function: { name: 'patch' } })
    expect(choose('gone')).to.deep.include({ losses: ['tools[].format', 'tool_choice'] })
    expect(choose('gone').body['tool_choice']).to.equal('auto')
  })

  it('are narrowed to the allowed ones', () => {
    const fields = {
      tools: [lookup, patch],
      toolChoice: {
        type: 'allowed' as const,
        mode: 'required' as const,
        tools: [{ kind: 'custom' as const, name: 'patch' }],
      },
    }
    expect(print(fields).body).to.deep.include({ tools: [wrapped], tool_choice: 'required' })
    const { body } = print(fields, { allowed_tools: true })
    expect(body['tools']).to.have.length(2)
    expect(body['tool_choice']).to.deep.equal({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'patch' } }] },
    })
  })

  it('keep `strict` and parallel calls to themselves where the upstream takes neither', () => {
    const { body, losses } = print(
      { tools: [lookup], parallelTools: false },
      { strict: false, parallel_tool_calls: false },
    )
    expect(body).not.to.have.property('parallel_tool_calls')
    expect(body).not.to.have.nested.property('tools[0].function.strict')
    expect(losses).to.deep.equal(['tools[].strict', 'parallel_tool_calls'])
  })

  it('are called by the same names and ids in the history', () => {
    const long = 'x'.repeat(80)
    const { body } = print({
      tools: [lookup, patch],
      items: [
        { type: 'call', kind: 'function', callId: long, name: 'lookup', namespace: 'docs', input: '' },
        { type: 'call', kind: 'custom', callId: 'c', name: 'patch', input: 'a "b"' },
        { type: 'result', kind: 'function', callId: long, content: [] },
        { type: 'result', kind: 'custom', callId: 'c', content: [] },
      ],
    })
    expect(body['messages']).to.deep.equal([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: legalCallId(long), type: 'function', function: { name: 'docs__lookup', arguments: '{}' } },
          { id: 'c', type: 'function', function: { name: 'patch', arguments: '{"input":"a \\"b\\""}' } },
        ],
      },
      { role: 'tool', tool_call_id: legalCallId(long), content: '' },
      { role: 'tool', tool_call_id: 'c', content: '' },
    ])
  })
})
