import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import { legalCallId } from '../../../../engine/kit.ts'
import type { GenerateReply, Json } from '../../../../engine/index.ts'
import { asked, reply } from './support.ts'

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const buckets = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }

function answer(message: Json, finish: string | null = 'stop') {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 5,
    model: 'small-1',
    choices: [{ index: 0, message, finish_reason: finish }],
    usage,
    service_tier: 'default',
  }
}

describe('chat answer of an upstream', () => {
  it('is read whole', () => {
    const message = {
      role: 'assistant',
      content: 'a',
      refusal: null,
      reasoning_content: 'hm',
      annotations: [],
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: '2', type: 'custom', custom: { name: 'c', input: 'raw' } },
      ],
    }
    expect(reply.parse(answer(message, 'tool_calls'))).to.deep.equal({
      id: 'c1',
      model: 'small-1',
      created: 5,
      serviceTier: 'default',
      items: [
        { type: 'reasoning', parts: [{ kind: 'text', text: 'hm' }], seal: { kind: 'signature', data: '' } },
        { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }] },
        { type: 'call', kind: 'function', callId: '1', name: 'f', input: '{"x":1}' },
        { type: 'call', kind: 'custom', callId: '2', name: 'c', input: 'raw' },
      ],
      stop: 'tool',
      usage: buckets,
    })
  })

  it('has a call for each entry of its list, each with an id of its own', () => {
    const call = { id: 'same', type: 'function', function: { name: 'f', arguments: '{}' } }
    const { items } = reply.parse(answer({ tool_calls: [call, { ...call, index: 0 }, { ...call, id: 'c' }] }))
    expect(items.map((item) => item.type === 'call' && `${item.callId} ${item.input}`)).to.deep.equal([
      'same {}',
      `${legalCallId('c1:1')} {}`,
      'c {}',
    ])
  })

  it('may hold as many log probabilities as it likes', () => {
    const content = Array.from({ length: 200_000 }, () => ({ token: 'a', logprob: 0, bytes: null, top_logprobs: [] }))
    const { choices, ...head } = answer({ role: 'assistant', content: 'a' })
    const read = reply.parse({ ...head, choices: choices.map((choice) => ({ ...choice, logprobs: { content } })) })
    expect(read.items).to.have.nested.property('[0].content[0].logprobs').that.has.length(200_000)
    expect(reply.print(read, asked()).body)
      .to.have.nested.property('choices[0].logprobs.content')
      .that.has.length(200_000)
  })

  it('may be empty', () => {
    expect(reply.parse(answer({ role: 'assistant', content: '' })).items).to.deep.equal([])
    expect(reply.parse(answer({ role: 'assistant', content: null }, 'length')).stop).to.equal('length')
  })

  it('may lack a reason when it has content', () => {
    expect(reply.parse(answer({ content: 'a' }, null)).stop).to.equal('end')
    expect(() => reply.parse(answer({ content: '' }, null)))
      .to.throw(GatewayError)
      .with.property('code', 'upstream_error')
  })

  for (const odd of [null, [], 'x', {}, { choices: [] }, { choices: [{}] }, { choices: 7 }] as Json[]) {
    it(`is none: ${JSON.stringify(odd)}`, () => {
      expect(() => reply.parse(odd))
        .to.throw(GatewayError)
        .with.property('code', 'upstream_invalid_response')
    })
  }

  it('may be an error in disguise', () => {
    expect(() => reply.parse({ error: { message: 'busy', code: 429 } }))
      .to.throw(GatewayError)
      .with.property('failure')
      .that.includes({ status: 429, message: 'busy' })
  })
})

describe('chat answer for a client', () => {
  const base: GenerateReply = { id: 'up', model: 'up', created: 5, items: [], stop: 'end', usage: buckets }

  it('is one message', () => {
    const items: GenerateReply['items'] = [
      { type: 'reasoning', parts: [{ kind: 'summary', text: 'hm' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { type: 'call', kind: 'function', callId: '1', name: 'f', input: '' },
      { type: 'call', kind: 'custom', callId: '2', name: 'c', input: 'raw' },
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'c' }] },
    ]
    expect(reply.print({ ...base, items, stop: 'tool', serviceTier: 'flex' }, asked())).to.deep.equal({
      losses: [],
      body: {
        id: 'chatcmpl-7',
        object: 'chat.completion',
        created: 5,
        model: 'up',
        service_tier: 'flex',
        system_fingerprint: null,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'ab\n\nc',
              refusal: null,
              reasoning_content: 'hm',
              tool_calls: [
                { id: '1', type: 'function', function: { name: 'f', arguments: '{}' } },
                { id: '2', type: 'custom', custom: { name: 'c', input: 'raw' } },
              ],
            },
            logprobs: null,
            finish_reason: 'tool_calls',
          },
        ],
        usage: {
          ...usage,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
    })
  })

  it('says nothing it does not know', () => {
    const { usage: _usage, ...unknown } = base
    const { body } = reply.print(unknown, asked())
    expect(body).not.to.have.property('usage')
    expect(body)
      .to.have.nested.property('choices[0].message')
      .that.deep.equals({ role: 'assistant', content: '', refusal: null })
  })

  it('has null for content when it only calls or refuses', () => {
    const refused = reply.print(
      {
        ...base,
        items: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', text: 'no' }] }],
        stop: 'refusal',
      },
      asked(),
    ).body
    expect(refused)
      .to.have.nested.property('choices[0].message')
      .that.deep.equals({ role: 'assistant', content: null, refusal: 'no' })
    const called = reply.print(
      { ...base, items: [{ type: 'call', kind: 'function', callId: '1', name: 'f', input: '{}' }], stop: 'tool' },
      asked({ functions: [] }),
    ).body
    expect(called)
      .to.have.nested.property('choices[0]')
      .that.deep.includes({
        message: { role: 'assistant', content: null, refusal: null, function_call: { name: 'f', arguments: '{}' } },
        finish_reason: 'function_call',
      })
  })
})
