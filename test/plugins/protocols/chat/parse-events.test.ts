import { expect } from 'chai'
import { fold, legalCallId } from '../../../../engine/kit.ts'
import type { GenerateEvent, JsonObject, Restore } from '../../../../engine/index.ts'
import { chunk, events, read } from './support.ts'

const start: GenerateEvent = { type: 'start', id: 'c1', model: 'small-1', created: 5 }
const done = '[DONE]'
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const buckets = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
const called = (...calls: JsonObject[]) => chunk({ tool_calls: calls })
const piece = (index: number, input: string) => ({ index, function: { arguments: input } })

/** The whole answer that chunks amount to. */
const whole = (chunks: readonly (JsonObject | string)[]) => fold(read(chunks))
/** Its calls as `id name input`. */
const calls = (chunks: readonly (JsonObject | string)[]) =>
  whole(chunks).items.map((item) => (item.type === 'call' ? `${item.callId} ${item.name} ${item.input}` : item.type))

function failure(chunks: readonly (JsonObject | string)[]) {
  const last = read(chunks).at(-1)
  return last?.type === 'failure' ? last.failure : undefined
}

describe('chat stream of an upstream', () => {
  it('is told event by event', () => {
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
      { id: 'c1', choices: [], usage },
      done,
    ]
    expect(read(chunks)).to.deep.equal([
      start,
      { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 0, kind: 'text' },
      { type: 'delta', index: 0, text: 'Hel' },
      { type: 'delta', index: 0, text: 'lo' },
      { type: 'item-end', index: 0 },
      { type: 'finish', stop: 'end', usage: buckets },
    ])
  })

  it('gives a call with the id of another an id of its own', () => {
    const named = (index: number) => ({ ...piece(index, '{}'), id: 'same' })
    const first = { index: 0, id: 'same', function: { name: 'f', arguments: '' } }
    const chunks = [called(first, { ...first, index: 1 }), called(named(0), named(1)), chunk({}, 'tool_calls'), done]
    expect(calls(chunks)).to.deep.equal(['same f {}', `${legalCallId('c1:1')} f {}`])
  })

  it('says each delta at once', () => {
    const reader = events.parser()
    expect([...reader.parse({ data: JSON.stringify(chunk({ content: 'a' })) })]).to.have.length(4)
    expect([...reader.parse({ data: JSON.stringify(chunk({ content: 'b' })) })]).to.deep.equal([
      { type: 'delta', index: 0, text: 'b' },
    ])
  })

  it('has its usage on the finish, on a choice, or on a chunk without choices', () => {
    const says = chunk({ content: 'a' })
    const inChoice = { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }
    for (const ends of [[chunk({}, 'stop', { usage })], [inChoice], [chunk({}, 'stop'), { choices: [], usage }]]) {
      expect(whole([says, ...ends, done]).usage).to.deep.equal(buckets)
    }
  })

  it('has the last usage of several, and none that cannot be read', () => {
    const early = { prompt_tokens: 3, completion_tokens: 1 }
    expect(
      whole([chunk({ content: 'a' }, null, { usage: early }), chunk({}, 'stop', { usage }), done]).usage,
    ).to.deep.equal(buckets)
    expect(
      whole([chunk({ content: 'a' }), chunk({}, 'stop', { usage: { prompt_tokens: -1 } }), done]),
    ).not.to.have.property('usage')
  })

  it('keeps its usage when a later chunk has none', () => {
    const chunks = [chunk({}, 'stop', { usage }), chunk({}, null, { usage: null }), done]
    expect(whole(chunks).usage).to.deep.equal(buckets)
  })

  it('does without [DONE] once it has finished', () => {
    expect(read([chunk({ content: 'a' }), chunk({}, 'length')]).at(-1)).to.deep.equal({
      type: 'finish',
      stop: 'length',
    })
  })

  it('ends in a failure when it was cut', () => {
    const cut = {
      status: 502,
      code: 'upstream_error',
      type: 'server_error',
      message: 'The provider ended before it was complete.',
      param: null,
    }
    expect(failure([chunk({ content: 'a' })])).to.deep.equal(cut)
    expect(failure([])).to.deep.equal(cut)
    expect(failure([done])).to.deep.equal(cut)
    expect(failure([chunk({ content: 'a' }), chunk({}, 'odd')])).to.deep.equal(cut)
  })

  it('takes an unknown or missing reason for the end only with content and [DONE]', () => {
    expect(whole([chunk({ content: 'a' }), chunk({}, 'odd'), done]).stop).to.equal('end')
    expect(whole([chunk({ content: 'a' }), done]).stop).to.equal('end')
    expect(failure([chunk({}, 'odd'), done])).to.include({ code: 'upstream_error' })
  })

  const reasons = [
    ['stop', 'end'],
    ['length', 'length'],
    ['content_filter', 'filter'],
    ['model_length', 'context'],
    ['tool_calls', 'end'],
  ] as const
  for (const [reason, stop] of reasons) {
    it(`reads ${reason} as ${stop}`, () =>
      expect(whole([chunk({ content: 'a' }), chunk({}, reason), done]).stop).to.equal(stop))
  }

  it('waits for results when it called, whatever its reason says', () => {
    const call = called({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } })
    for (const reason of ['stop', 'tool_calls', 'function_call'])
      expect(whole([call, chunk({}, reason), done]).stop).to.equal('tool')
    expect(whole([call, chunk({}, 'length'), done]).stop).to.equal('length')
  })

  it('fails on an error in it', () => {
    const said = [
      chunk({ content: 'a' }),
      { error: { message: 'overloaded', type: 'server_error', code: 'busy', param: null } },
    ]
    expect(failure(said)).to.deep.equal({
      status: 502,
      code: 'busy',
      type: 'server_error',
      message: 'overloaded',
      param: null,
    })
    expect(failure([{ error: { message: 'slow down', code: 429 } }])).to.deep.equal({
      status: 429,
      code: null,
      type: 'rate_limit_error',
      message: 'slow down',
      param: null,
    })
    const [named] = events.parser().parse({ event: 'error', data: '{"message":"gone"}' })
    expect(named).to.have.nested.property('failure.message', 'gone')
    expect(failure([{ object: 'error', message: 'bad' }])).to.include({ status: 502, message: 'bad' })
    expect(failure([chunk({ content: 'a' }), chunk({}, 'error')])).to.include({
      message: 'The provider failed while it answered.',
    })
  })

  it('fails on what cannot be read', () => {
    for (const odd of ['{"a":', '7', 'null', '[]']) {
      expect(failure([chunk({ content: 'a' }), odd])).to.include({
        status: 502,
        message: 'The provider sent an event that cannot be read.',
      })
    }
  })

  it('says nothing after its end', () => {
    const after = [done, chunk({ content: 'more' }), chunk({}, 'stop'), done]
    expect(
      read([chunk({ content: 'a' }), chunk({}, 'stop'), ...after]).filter(
        ({ type }) => type === 'finish' || type === 'delta',
      ),
    ).to.have.length(2)
    expect(read([{ error: 'x' }, chunk({ content: 'a' }), done])).to.have.length(1)
  })

  it('begins with the first chunk that is one of the answer', () => {
    const filters = { id: '', model: '', created: 0, choices: [], prompt_filter_results: [] }
    expect(
      read([filters, chunk({ content: 'a' }, null, { service_tier: 'flex' }), chunk({}, 'stop')])[0],
    ).to.deep.equal({ ...start, serviceTier: 'flex' })
  })

  it('has one choice', () => {
    const second = { id: 'c1', choices: [{ index: 1, delta: { content: 'no' } }] }
    const both = {
      id: 'c1',
      choices: [
        { index: 1, delta: { content: 'no' } },
        { index: 0, delta: { content: 'yes' } },
      ],
    }
    expect(whole([second, both, chunk({}, 'stop'), done]).items).to.deep.equal([
      { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
    ])
  })

  it('holds a refusal, log probabilities and citations', () => {
    const logprob = { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [{ token: 'b', logprob: -1, bytes: null }] }
    const measured = {
      id: 'c1',
      choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content: [logprob], refusal: null } }],
    }
    const cited = { type: 'url_citation', url_citation: { url: 'https://a', title: 't', start_index: 0, end_index: 1 } }
    const reply = whole([measured, chunk({ annotations: [cited] }), chunk({ refusal: 'no' }), chunk({}, 'stop'), done])
    expect(reply.stop).to.equal('refusal')
    expect(reply.items).to.deep.equal([
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'a',
            annotations: [{ type: 'url', url: 'https://a', title: 't', start: 0, end: 1 }],
            logprobs: [{ token: 'a', logprob: -0.5, bytes: [97], top: [{ token: 'b', logprob: -1, bytes: null }] }],
          },
          { type: 'refusal', text: 'no' },
        ],
      },
    ])
  })

  it('may hold content as parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
    ]
    expect(whole([chunk({ content }), chunk({}, 'stop'), done]).items.map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'message',
    ])
  })
})

describe('chat calls in a stream', () => {
  const end = [chunk({}, 'tool_calls'), done]

  it('run in parallel', () => {
    const chunks = [
      called({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      called({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      called(piece(1, '{"y"')),
      called(piece(0, '{"x":1}')),
      called(piece(1, ':2}')),
    ]
    expect(calls([...chunks, ...end])).to.deep.equal(['a f {"x":1}', 'b g {"y":2}'])
  })

  it('are told apart without an index', () => {
    const first = { id: 'a', function: { name: 'f', arguments: '{"x"' } }
    const second = { id: 'b', function: { name: 'f', arguments: '{"y"' } }
    expect(
      calls([
        called(first),
        called({ function: { arguments: ':1}' } }),
        called(second),
        called({ id: 'b', function: { arguments: ':2}' } }),
        ...end,
      ]),
    ).to.deep.equal(['a f {"x":1}', 'b f {"y":2}'])
    expect(
      calls([
        called(first, second),
        called({ function: { arguments: ':1}' } }, { function: { arguments: ':2}' } }),
        ...end,
      ]),
    ).to.deep.equal(['a f {"x":1}', 'b f {"y":2}'])
  })

  it('are told apart by a new id under the same index', () => {
    const one = (id: string) => ({ index: 0, id, function: { name: 'f', arguments: `{"${id}":1}` } })
    expect(calls([called(one('a')), called(one('b')), ...end])).to.deep.equal(['a f {"a":1}', 'b f {"b":1}'])
  })

  it('go on under an id that changes with every chunk', () => {
    const chunks = [
      called({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
      called({ index: 0, id: 'z', function: { arguments: '}' } }),
    ]
    expect(calls([...chunks, ...end])).to.deep.equal(['a f {}'])
  })

  it('go on when id and name are said again', () => {
    const again = (input: string) => called({ index: 0, id: 'a', function: { name: 'f', arguments: input } })
    expect(calls([again('{"x"'), again(':1}'), ...end])).to.deep.equal(['a f {"x":1}'])
  })

  it('may bring the name late, everything at once, or arguments as an object', () => {
    expect(
      calls([
        called({ index: 0, id: 'a' }),
        called(piece(0, '{"x"')),
        called({ index: 0, function: { name: 'f', arguments: ':1}' } }),
        ...end,
      ]),
    ).to.deep.equal(['a f {"x":1}'])
    expect(calls([called({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }), ...end])).to.deep.equal(
      ['a f {"x":1}'],
    )
    expect(calls([called({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }), ...end])).to.deep.equal([
      'a f {"x":1}',
    ])
  })

  it('may bring the name late without an index', () => {
    const chunks = [called({ id: 'a' }), called({ function: { name: 'f', arguments: '{}' } })]
    expect(calls([...chunks, ...end])).to.deep.equal(['a f {}'])
  })

  it('may have no arguments', () => {
    expect(calls([called({ index: 0, id: 'a', function: { name: 'f' } }), ...end])).to.deep.equal(['a f '])
  })

  it('get an id when the upstream gives none', () => {
    const bare = called(
      { index: 0, function: { name: 'f', arguments: '{}' } },
      { index: 1, function: { name: 'f', arguments: '{}' } },
    )
    expect(calls([bare, ...end])).to.deep.equal([`${legalCallId('c1:0')} f {}`, `${legalCallId('c1:1')} f {}`])
  })

  it('of the functions era are calls', () => {
    const chunks = [
      chunk({ function_call: { name: 'f', arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
      chunk({}, 'function_call'),
      done,
    ]
    expect(calls(chunks)).to.deep.equal([`${legalCallId('c1:0')} f {"x":1}`])
  })

  it('without a name are a failure', () => {
    expect(failure([called({ index: 0, id: 'a' }), called(piece(0, '{}')), ...end])).to.include({
      message: 'The provider called a tool without a name.',
    })
  })

  it('follow the words before them and stand before those after', () => {
    const call = called({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } })
    expect(
      whole([chunk({ content: 'a' }), call, chunk({ content: 'b' }), ...end]).items.map(({ type }) => type),
    ).to.deep.equal(['message', 'call', 'message'])
  })

  it('come back under the names of the client, with free text unwrapped', () => {
    const restore: Restore = {
      tools: new Map([
        ['docs__lookup', { name: 'lookup', namespace: 'docs', kind: 'function' }],
        ['patch', { name: 'patch', kind: 'custom' }],
      ]),
    }
    const chunks = [
      called(
        { index: 0, id: 'a', function: { name: 'docs__lookup', arguments: '{}' } },
        { index: 1, id: 'b', function: { name: 'patch', arguments: '' } },
      ),
      called(piece(1, '{"input":"a\\')),
      called(piece(1, 'nb"}')),
      ...end,
    ]
    const list = read(chunks, events.parser(restore))
    expect(list.filter(({ type }) => type === 'item' || type === 'delta')).to.deep.equal([
      {
        type: 'item',
        index: 0,
        item: { type: 'call', kind: 'function', callId: 'a', name: 'lookup', namespace: 'docs', input: '' },
      },
      { type: 'delta', index: 0, text: '{}' },
      { type: 'item', index: 1, item: { type: 'call', kind: 'custom', callId: 'b', name: 'patch', input: '' } },
      { type: 'delta', index: 1, text: 'a' },
      { type: 'delta', index: 1, text: '\nb' },
    ])
  })

  it('take free text as it is where the upstream knows custom tools', () => {
    const chunks = [
      called({ index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '{"input"' } }),
      called({ index: 0, custom: { input: ' raw' } }),
      ...end,
    ]
    expect(whole(chunks).items).to.deep.equal([
      { type: 'call', kind: 'custom', callId: 'a', name: 'patch', input: '{"input" raw' },
    ])
  })
})

describe('chat reasoning in a stream', () => {
  const end = [chunk({ content: 'a' }), chunk({}, 'stop'), done]
  const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }] }
  const block = (data: string, text = 'hm', kind = 'signature') => ({
    type: 'reasoning',
    parts: text === '' ? [] : [{ kind: 'text', text }],
    seal: { kind, data },
  })

  for (const field of ['reasoning_content', 'reasoning']) {
    it(`of bare text in ${field} has the empty seal`, () => {
      expect(whole([chunk({ [field]: 'h' }), chunk({ [field]: 'm', content: null }), ...end]).items).to.deep.equal([
        block(''),
        message,
      ])
    })
  }

  it('of details has the entry as its seal, and is not read twice', () => {
    const detail = (fields: JsonObject) => ({ type: 'reasoning.text', format: 'x-v1', index: 0, ...fields })
    const chunks = [
      chunk({ reasoning: 'h', reasoning_details: [detail({ text: 'h', signature: null })] }),
      chunk({ reasoning: 'm', reasoning_details: [detail({ text: 'm' })] }),
      chunk({ reasoning_details: [detail({ signature: 's1' })] }),
    ]
    expect(whole([...chunks, ...end]).items).to.deep.equal([
      block('{"type":"reasoning.text","format":"x-v1","index":0,"signature":"s1"}'),
      message,
    ])
  })

  it('of several entries stays apart, in order', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'hm', index: 0 },
      { type: 'reasoning.encrypted', data: 'c', id: 'rs_1', index: 0 },
      { type: 'reasoning.text', text: 'hm', signature: 's', index: 1 },
    ]
    expect(whole([chunk({ reasoning_details: details }), ...end]).items).to.deep.equal([
      {
        type: 'reasoning',
        parts: [{ kind: 'summary', text: 'hm' }],
        seal: { kind: 'signature', data: '{"type":"reasoning.summary","index":0}' },
      },
      block('{"type":"reasoning.encrypted","data":"c","id":"rs_1","index":0}', '', 'encrypted'),
      block('{"type":"reasoning.text","signature":"s","index":1}'),
      message,
    ])
  })

  it('of bare text is proven by a signature that follows', () => {
    const chunks = [
      chunk({ reasoning_content: 'hm' }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }] }),
    ]
    expect(whole([...chunks, ...end]).items).to.deep.equal([
      block('{"type":"reasoning.text","signature":"s"}'),
      message,
    ])
  })
})
