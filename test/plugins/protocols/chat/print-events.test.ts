import { expect } from 'chai'
import { packSeal, unfold } from '../../../../engine/kit.ts'
import type { GenerateEvent, GenerateReply, JsonObject, StopReason } from '../../../../engine/index.ts'
import codec from '../../../../plugins/protocols/chat/codec.ts'
import { asked, events, origin, write } from './support.ts'

const head = { id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 5, model: 'small', system_fingerprint: null }
const piece = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}) => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...more,
})
const first = piece({ role: 'assistant', content: '', refusal: null })
const usage = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
const start: GenerateEvent = { type: 'start', id: 'up', model: 'small', created: 5 }
const reply = (items: GenerateReply['items'], stop: StopReason = 'end'): GenerateReply => ({
  created: 5,
  items,
  stop,
  usage,
})
const text = (said: string) => ({ type: 'text' as const, text: said })
const message = (...said: string[]) => ({
  type: 'message' as const,
  role: 'assistant' as const,
  content: said.map(text),
})

/** The deltas of an answer, without the first and the finish. */
function deltas(answer: GenerateReply, of = asked()): unknown[] {
  const chunks = write(unfold(answer), of) as { choices: { delta: JsonObject }[] }[]
  return chunks.slice(1, -2).map(({ choices }) => choices[0]?.delta)
}

describe('chat stream for a client', () => {
  it('is written chunk by chunk', () => {
    const list: GenerateEvent[] = [
      start,
      { type: 'item', index: 0, item: message() },
      { type: 'part', index: 0, kind: 'text' },
      { type: 'delta', index: 0, text: 'Hel' },
      { type: 'delta', index: 0, text: 'lo' },
      { type: 'item-end', index: 0 },
      { type: 'finish', stop: 'end', usage },
    ]
    expect(write(list)).to.deep.equal([
      first,
      piece({ content: 'Hel' }),
      piece({ content: 'lo' }),
      piece({}, 'stop'),
      '[DONE]',
    ])
  })

  it('tells usage to those who asked', () => {
    const of = asked({ stream_options: { include_usage: true } })
    const none = { usage: null }
    expect(write(unfold(reply([message('a')])), of)).to.deep.equal([
      { ...first, ...none },
      piece({ content: 'a' }, null, none),
      piece({}, 'stop', none),
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 3,
          completion_tokens: 4,
          total_tokens: 7,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
      '[DONE]',
    ])
    const { usage: _none, ...unknown } = reply([message('a')])
    expect(write(unfold(unknown), of)).to.deep.equal([
      { ...first, ...none },
      piece({ content: 'a' }, null, none),
      piece({}, 'stop', none),
      '[DONE]',
    ])
  })

  it('takes usage from where it was last told', () => {
    const of = asked({ stream_options: { include_usage: true } })
    const list: GenerateEvent[] = [start, { type: 'usage', usage }, { type: 'finish', stop: 'end' }]
    expect(write(list, of).at(-2)).to.have.nested.property('usage.prompt_tokens', 3)
  })

  it('names the tier that served', () => {
    expect(write([{ ...start, serviceTier: 'flex' }])[0]).to.have.property('service_tier', 'flex')
  })

  it('ends in the error when it breaks, and in nothing else', () => {
    const failure = {
      status: 502,
      code: 'upstream_error',
      type: 'server_error',
      message: 'gone',
      param: null,
      retryAfter: 1,
    }
    const error = { error: { message: 'gone', type: 'server_error', param: null, code: 'upstream_error' } }
    expect(write([start, { type: 'failure', failure }])).to.deep.equal([first, error])
    expect(codec.fail?.(failure, asked()).map(({ data }) => JSON.parse(data) as unknown)).to.deep.equal([error])
  })

  it('numbers calls by themselves, even when they mix', () => {
    const call = (callId: string, name: string) => ({
      type: 'call' as const,
      kind: 'function' as const,
      callId,
      name,
      input: '',
    })
    const list: GenerateEvent[] = [
      start,
      { type: 'item', index: 0, item: message() },
      { type: 'item-end', index: 0 },
      { type: 'item', index: 1, item: call('a', 'f') },
      { type: 'item', index: 2, item: { ...call('b', 'g'), namespace: 'ns' } },
      { type: 'delta', index: 2, text: '{"y":' },
      { type: 'delta', index: 1, text: '{"x":1}' },
      { type: 'delta', index: 2, text: '2}' },
      { type: 'item-end', index: 1 },
      { type: 'item-end', index: 2 },
      { type: 'finish', stop: 'tool' },
    ]
    const calls = (...list: JsonObject[]) => piece({ tool_calls: list })
    expect(write(list)).to.deep.equal([
      first,
      calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      calls({ index: 1, id: 'b', type: 'function', function: { name: 'ns__g', arguments: '' } }),
      calls({ index: 1, function: { arguments: '{"y":' } }),
      calls({ index: 0, function: { arguments: '{"x":1}' } }),
      calls({ index: 1, function: { arguments: '2}' } }),
      piece({}, 'tool_calls'),
      '[DONE]',
    ])
  })

  it('gives a call without arguments an empty object, and free text as it is', () => {
    const items = [
      { type: 'call' as const, kind: 'function' as const, callId: 'a', name: 'f', input: '' },
      { type: 'call' as const, kind: 'custom' as const, callId: 'b', name: 'c', input: 'raw' },
      { type: 'call' as const, kind: 'custom' as const, callId: 'c', name: 'c', input: '' },
    ]
    expect(deltas(reply(items, 'tool'))).to.deep.equal([
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'custom', custom: { name: 'c', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'raw' } }] },
      { tool_calls: [{ index: 2, id: 'c', type: 'custom', custom: { name: 'c', input: '' } }] },
    ])
  })

  it('speaks the words of the functions era to those who use them', () => {
    const call = (callId: string) => ({
      type: 'call' as const,
      kind: 'function' as const,
      callId,
      name: 'f',
      input: '{}',
    })
    const of = asked({ functions: [{ name: 'f' }] })
    const chunks = write(unfold(reply([call('a'), call('b')], 'tool')), of)
    expect(chunks).to.deep.equal([
      first,
      piece({ function_call: { name: 'f', arguments: '' } }),
      piece({ function_call: { arguments: '{}' } }),
      piece({}, 'function_call'),
      '[DONE]',
    ])
  })

  it('tells reasoning while it comes, and hands it over whole at the end', () => {
    const items: GenerateReply['items'] = [
      { type: 'reasoning', parts: [{ kind: 'text', text: 'one' }], seal: { kind: 'signature', data: 's1' } },
      message('a'),
      { type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'r' } },
      { type: 'call', kind: 'function', callId: 'c', name: 'f', input: '{}' },
      { type: 'reasoning', parts: [{ kind: 'summary', text: 'two' }], seal: { kind: 'encrypted', data: 'e' } },
      message('b'),
    ]
    const packed = (kind: string, data: string, parts: number, place: number[]) =>
      packSeal(origin, { kind, data, parts, place })
    expect(deltas(reply(items))).to.deep.equal([
      { reasoning_content: 'one' },
      { content: 'a' },
      { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { reasoning_content: '\n\ntwo' },
      { content: '\n\nb' },
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'one', index: 0, signature: packed('signature', 's1', 1, [0, 0]) },
          { type: 'reasoning.encrypted', data: packed('redacted', 'r', 0, [1, 0]), index: 1 },
          { type: 'reasoning.summary', summary: 'two', index: 2 },
          { type: 'reasoning.encrypted', data: packed('encrypted', 'e', 1, [1, 1]), index: 3 },
        ],
      },
    ])
  })

  it('cites from where its part begins', () => {
    const annotations = [
      { type: 'url' as const, url: 'https://a', title: 't', start: 0, end: 1 },
      { type: 'opaque' as const, protocol: 'other', value: {} },
    ]
    const items = [message('abc'), { ...message(), content: [text('de'), { ...text('f'), annotations }] }]
    const writer = events.printer(asked())
    const frames = [...unfold(reply(items))].flatMap((event) => [...writer.print(event)])
    expect(frames.at(-3)?.data).to.include(
      '"annotations":[{"type":"url_citation","url_citation":{"url":"https://a","title":"t","start_index":7,"end_index":8}}]',
    )
    expect(writer.losses.map(({ field }) => field)).to.deep.equal(['annotations'])
  })

  it('carries log probabilities', () => {
    const logprobs = [{ token: 'a', logprob: -0.5, top: [{ token: 'b', logprob: -1, bytes: [98] }] }]
    const [, chunk] = write(unfold(reply([{ ...message(), content: [{ ...text('a'), logprobs }] }])))
    expect(chunk)
      .to.have.nested.property('choices[0].logprobs')
      .that.deep.equals({
        content: [{ token: 'a', logprob: -0.5, bytes: null, top_logprobs: [{ token: 'b', logprob: -1, bytes: [98] }] }],
        refusal: null,
      })
  })

  const reasons: [StopReason, string][] = [
    ['end', 'stop'],
    ['stop', 'stop'],
    ['length', 'length'],
    ['context', 'length'],
    ['tool', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['filter', 'content_filter'],
    ['pause', 'length'],
  ]
  for (const [stop, reason] of reasons) {
    it(`says ${reason} for ${stop}`, () =>
      expect(write(unfold(reply([], stop))).at(-2)).to.deep.equal(piece({}, reason)))
  }

  it('stops like any answer after a refusal in words', () => {
    const refused = reply([{ ...message(), content: [{ type: 'refusal', text: 'no' }] }], 'refusal')
    expect(write(unfold(refused))).to.deep.equal([first, piece({ refusal: 'no' }), piece({}, 'stop'), '[DONE]'])
  })

  it('tells what it cannot say', () => {
    const writer = events.printer(asked())
    const items: GenerateReply['items'] = [
      { ...message('a'), phase: 'commentary' },
      { type: 'opaque', protocol: 'other', value: { type: 'server_tool_use' } },
      { type: 'result', kind: 'function', callId: 'a', content: [] },
    ]
    for (const event of unfold(reply(items, 'pause'))) writer.print(event)
    expect(writer.losses.map(({ field }) => field)).to.deep.equal(['server_tool_use', 'output', 'stop_reason'])
  })

  it('keeps comments on what comes next out of the content, unless there is no other', () => {
    const comment = { ...message('I will look.'), phase: 'commentary' }
    const answer = { ...message('42'), phase: 'final_answer' }
    const written = write(unfold(reply([comment, answer, comment])))
    expect(written).to.deep.equal([
      first,
      piece({ reasoning_content: 'I will look.' }),
      piece({ content: '42' }),
      piece({ reasoning_content: '\n\nI will look.' }),
      piece({}, 'stop'),
      '[DONE]',
    ])
    expect(write(unfold(reply([comment])))).to.deep.equal([
      first,
      piece({ reasoning_content: 'I will look.' }),
      piece({ content: 'I will look.' }),
      piece({}, 'stop'),
      '[DONE]',
    ])
  })
})
