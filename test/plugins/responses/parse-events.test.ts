import { expect } from 'chai'
import { fold } from '../../../engine/kit.ts'
import type { GenerateEvent, JsonObject, Restore } from '../../../engine/index.ts'
import { ResponsesParser } from '../../../plugins/responses/parse-events.ts'
import { parseReply } from '../../../plugins/responses/reply.ts'
import { frames, readAll } from './exchange.ts'

const usage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 50,
}
const head = { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'think-2', service_tier: 'default' }
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First' },
    { type: 'summary_text', text: 'Second' },
  ],
  encrypted_content: 'AbC+/=',
}
const citation = { type: 'url_citation', url: 'https://x', title: 'X', start_index: 0, end_index: 2 }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase: 'final_answer',
  content: [{ type: 'output_text', text: 'Hello', annotations: [citation], logprobs: [] }],
}
const callA = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_a',
  name: 'look',
  arguments: '{"at":"a"}',
}
const callB = {
  id: 'ctc_1',
  type: 'custom_tool_call',
  call_id: 'call_b',
  name: 'patch',
  namespace: 'edit',
  input: '*** x',
}
const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }
const searched = {
  type: 'opaque' as const,
  protocol: 'responses',
  value: search,
  search: { id: 'ws_1', queries: ['x'], found: [] },
}
const output = [reasoning, search, message, callA, callB]
const completed = { ...head, status: 'completed', output, usage }

const text = (delta: string) => ({
  type: 'response.output_text.delta',
  output_index: 2,
  item_id: 'msg_1',
  content_index: 0,
  delta,
  logprobs: [],
})
const summary = (summary_index: number, delta: string) => ({
  type: 'response.reasoning_summary_text.delta',
  output_index: 0,
  item_id: 'rs_1',
  summary_index,
  delta,
})
const summaryPart = (summary_index: number) => ({
  type: 'response.reasoning_summary_part.added',
  output_index: 0,
  item_id: 'rs_1',
  summary_index,
  part: { type: 'summary_text', text: '' },
})
const added = (output_index: number, item: JsonObject) => ({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: JsonObject) => ({ type: 'response.output_item.done', output_index, item })
const argument = (delta: string) => ({
  type: 'response.function_call_arguments.delta',
  output_index: 3,
  item_id: 'fc_1',
  delta,
})
const custom = (delta: string) => ({
  type: 'response.custom_tool_call_input.delta',
  output_index: 4,
  item_id: 'ctc_1',
  delta,
})

const whole: Event[] = [
  { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
  { type: 'response.in_progress', response: { ...head, status: 'in_progress', output: [], usage: null } },
  added(0, { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'early' }),
  summaryPart(0),
  summary(0, 'Fir'),
  summary(0, 'st'),
  { type: 'response.reasoning_summary_text.done', output_index: 0, item_id: 'rs_1', summary_index: 0, text: 'First' },
  summaryPart(1),
  summary(1, 'Second'),
  done(0, reasoning),
  added(1, { ...search, status: 'in_progress' }),
  { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
  done(1, search),
  added(2, { ...message, status: 'in_progress', content: [] }),
  {
    type: 'response.content_part.added',
    output_index: 2,
    item_id: 'msg_1',
    content_index: 0,
    part: { type: 'output_text', text: '' },
  },
  text('Hel'),
  text('lo'),
  {
    type: 'response.output_text.annotation.added',
    output_index: 2,
    item_id: 'msg_1',
    content_index: 0,
    annotation_index: 0,
    annotation: citation,
  },
  { type: 'response.output_text.done', output_index: 2, item_id: 'msg_1', content_index: 0, text: 'Hello' },
  done(2, message),
  added(3, { ...callA, status: 'in_progress', arguments: '' }),
  added(4, { ...callB, input: '' }),
  argument('{"at"'),
  custom('*** '),
  argument(':"a"}'),
  custom('x'),
  done(3, callA),
  done(4, callB),
  { type: 'response.completed', response: completed },
]

type Event = JsonObject & { readonly type: string }

function read(events: readonly Event[], restore?: Restore): GenerateEvent[] {
  return readAll(new ResponsesParser(restore), frames(events))
}

describe('responses: reader', () => {
  it('reads a stream of every kind of item', () => {
    const seal = JSON.stringify({ id: 'rs_1', summary: reasoning.summary, encrypted_content: 'AbC+/=' })
    expect(read(whole)).to.deep.equal([
      { type: 'start', id: 'resp_1', model: 'think-2', created: 1_760_000_000, serviceTier: 'default' },
      { type: 'item', index: 0, item: { type: 'reasoning', id: 'rs_1', parts: [] } },
      { type: 'part', index: 0, kind: 'summary' },
      { type: 'delta', index: 0, text: 'Fir' },
      { type: 'delta', index: 0, text: 'st' },
      { type: 'part', index: 0, kind: 'summary' },
      { type: 'delta', index: 0, text: 'Second' },
      { type: 'seal', index: 0, seal: { kind: 'encrypted', data: seal } },
      { type: 'item-end', index: 0 },
      {
        type: 'item',
        index: 1,
        item: { ...searched, value: { ...search, status: 'in_progress' }, search: { id: 'ws_1', queries: ['x'] } },
      },
      {
        type: 'progress',
        index: 1,
        protocol: 'responses',
        value: { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
      },
      { type: 'item', index: 1, item: searched },
      { type: 'item-end', index: 1 },
      {
        type: 'item',
        index: 2,
        item: { type: 'message', role: 'assistant', content: [], id: 'msg_1', phase: 'final_answer' },
      },
      { type: 'part', index: 2, kind: 'text' },
      { type: 'delta', index: 2, text: 'Hel' },
      { type: 'delta', index: 2, text: 'lo' },
      { type: 'annotation', index: 2, annotation: { type: 'url', url: 'https://x', title: 'X', start: 0, end: 2 } },
      { type: 'item-end', index: 2 },
      {
        type: 'item',
        index: 3,
        item: { type: 'call', kind: 'function', callId: 'call_a', name: 'look', input: '', id: 'fc_1' },
      },
      {
        type: 'item',
        index: 4,
        item: {
          type: 'call',
          kind: 'custom',
          callId: 'call_b',
          name: 'patch',
          namespace: 'edit',
          input: '',
          id: 'ctc_1',
        },
      },
      { type: 'delta', index: 3, text: '{"at"' },
      { type: 'delta', index: 4, text: '*** ' },
      { type: 'delta', index: 3, text: ':"a"}' },
      { type: 'delta', index: 4, text: 'x' },
      { type: 'item-end', index: 3 },
      { type: 'item-end', index: 4 },
      {
        type: 'finish',
        stop: 'tool',
        usage: { input: 15, cacheRead: 10, cacheWrite: 5, output: 8, reasoning: 12, searches: 1 },
      },
    ])
  })

  it('folds to what the whole answer says', () => {
    expect(fold(read(whole))).to.deep.equal(parseReply(completed))
  })

  it('gives the same answer with only the done events, and with only the last event', () => {
    const dones = whole.filter(({ type }) => type === 'response.output_item.done' || type === 'response.completed')
    const { id: _, model: __, created: ___, serviceTier: ____, ...said } = parseReply(completed)
    const onlyDone = fold(read(dones))
    expect(onlyDone).to.deep.equal(said)
    expect(fold(read(whole.slice(-1)))).to.deep.equal(parseReply(completed))
  })

  it('ignores ids that change between events, repeated ends and unknown events', () => {
    const changed = whole.map((event, index) => {
      const item = event['item'] as JsonObject | undefined
      return item ? { ...event, item: { ...item, id: `x_${index}` }, item_id: `y_${index}` } : event
    })
    const events = [
      ...changed.slice(0, 10),
      done(0, reasoning),
      { type: 'response.later' },
      ...changed.slice(10),
      ...whole.slice(-1),
    ]
    const reply = fold(read(events))
    expect(reply.items.map(({ type }) => type)).to.deep.equal(['reasoning', 'opaque', 'message', 'call', 'call'])
    expect(reply.stop).to.equal('tool')
    expect(read(events).filter(({ type }) => type === 'finish')).to.have.length(1)
  })

  it('tells what only the last event has, beside what was streamed', () => {
    const { id: _, ...anonymous } = message
    const streamed = [added(0, { ...message, content: [] }), { ...text('Hello'), output_index: 0 }, done(0, message)]
    const unnamed = [added(0, { ...anonymous, content: [] }), { ...text('Hel'), output_index: 0 }]
    for (const events of [streamed, unnamed]) {
      const reply = fold(read([...events, { type: 'response.completed', response: completed }]))
      expect(reply.items.map(({ type }) => type)).to.deep.equal(['message', 'reasoning', 'opaque', 'call', 'call'])
      expect(reply.items[0]).to.have.nested.property('content[0].text', 'Hello')
      expect(reply.stop).to.equal('tool')
    }
  })

  it('knows an item by its place and type where the last event gives ids anew', () => {
    const other = { ...callA, id: 'fc_2', call_id: 'call_c' }
    const renamed = [callA, other].map((call, at) => ({ ...call, id: `new_${at}` }))
    const events = [callA, other].flatMap((call, at) => [added(at, { ...call, arguments: '' }), done(at, call)])
    const reply = fold(read([...events, { type: 'response.completed', response: { output: renamed } }]))
    expect(reply.items.map((item) => item.type === 'call' && item.callId)).to.deep.equal(['call_a', 'call_c'])
  })

  it('knows an item by its type where the last event gives ids and places anew', () => {
    const events = [added(0, { ...message, content: [] }), { ...text('Hello'), output_index: 0 }, done(0, message)]
    const output = [reasoning, { ...message, id: 'new' }]
    const reply = fold(read([...events, { type: 'response.completed', response: { output } }]))
    expect(reply.items.map(({ type }) => type)).to.deep.equal(['message', 'reasoning'])
  })

  it('opens a message and its parts when a delta comes first', () => {
    const reply = fold(
      read([text('Hi'), { type: 'response.completed', response: { status: 'completed', output: [] } }]),
    )
    expect(reply).to.deep.equal({
      items: [{ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }],
      stop: 'end',
    })
  })

  it('completes arguments that only the done event has', () => {
    const events = [
      added(3, { ...callA, arguments: '' }),
      argument('{"a'),
      done(3, callA),
      { type: 'response.completed', response: { status: 'completed', output: [callA] } },
    ]
    expect(fold(read(events)).items).to.deep.equal([
      { type: 'call', kind: 'function', callId: 'call_a', name: 'look', input: '{"at":"a"}', id: 'fc_1' },
    ])
  })

  it('restores names, and unwraps custom tools that went as functions', () => {
    const restore: Restore = {
      tools: new Map([['edit__patch', { name: 'patch', namespace: 'edit', kind: 'custom' as const }]]),
    }
    const call = { ...callA, name: 'edit__patch', arguments: '{"input":"*** \\"x\\"\\n"}' }
    const events = [
      added(0, { ...call, arguments: '' }),
      { ...argument('{"input":"*** '), output_index: 0 },
      { ...argument('\\"x\\"\\n"}'), output_index: 0 },
      done(0, call),
      { type: 'response.completed', response: { status: 'completed', output: [call] } },
    ]
    const expected = {
      type: 'call',
      kind: 'custom',
      callId: 'call_a',
      name: 'patch',
      namespace: 'edit',
      input: '*** "x"\n',
      id: 'fc_1',
    }
    expect(fold(read(events, restore)).items).to.deep.equal([expected])
    expect(parseReply({ status: 'completed', output: [call] }, restore).items).to.deep.equal([expected])
  })

  it('reads raw reasoning by both of its names', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm, so' }] }
    const delta = (type: string, delta: string) => ({ type, output_index: 0, item_id: 'rs_1', content_index: 0, delta })
    const events = [
      added(0, { ...item, content: [] }),
      delta('response.reasoning_text.delta', 'Hm, '),
      delta('response.reasoning.delta', 'so'),
      done(0, item),
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ]
    expect(fold(read(events)).items).to.deep.equal([
      {
        type: 'reasoning',
        id: 'rs_1',
        parts: [{ kind: 'text', text: 'Hm, so' }],
        seal: { kind: 'encrypted', data: JSON.stringify({ id: 'rs_1', summary: [], content: item.content }) },
      },
    ])
  })

  it('keeps log probabilities', () => {
    const logprobs = [
      { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [{ token: 'Ho', logprob: -3, bytes: [] }] },
    ]
    const events = [
      { ...text('Hi'), output_index: 0, logprobs },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]
    expect(fold(read(events)).items).to.deep.equal([
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'Hi',
            logprobs: [
              { token: 'Hi', logprob: -0.1, bytes: [72, 105], top: [{ token: 'Ho', logprob: -3, bytes: [] }] },
            ],
          },
        ],
      },
    ])
  })

  it('reads refusals and incomplete answers', () => {
    const stop = (status: string, reason?: string, said: JsonObject[] = []) =>
      fold(
        read([
          {
            type: `response.${status}`,
            response: { status, output: said, incomplete_details: reason ? { reason } : null },
          },
        ]),
      ).stop
    const refusal = { ...message, content: [{ type: 'refusal', refusal: 'No' }] }
    expect(stop('completed', undefined, [refusal])).to.equal('refusal')
    expect(stop('incomplete', 'max_output_tokens')).to.equal('length')
    expect(stop('incomplete', 'content_filter')).to.equal('filter')
    expect(stop('incomplete', 'steered')).to.equal('end')
    expect(stop('incomplete', 'max_output_tokens', [callA])).to.equal('length')
    const deltas = [
      added(0, { ...refusal, content: [] }),
      { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'No' },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]
    expect(fold(read(deltas))).to.deep.equal({
      items: [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'refusal', text: 'No' }],
          id: 'msg_1',
          phase: 'final_answer',
        },
      ],
      stop: 'refusal',
    })
  })

  it('fails where the stream fails, ends early or cannot be read', () => {
    const last = (events: readonly Event[]) => {
      const read_ = read(events)
      const event = read_.at(-1)
      return event?.type === 'failure' ? event.failure : undefined
    }
    expect(last(whole.slice(0, 16))).to.include({ status: 502, code: 'upstream_error' })
    expect(
      last([{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null }, ...whole]),
    ).to.deep.equal({
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
      message: 'Slow down',
      param: null,
    })
    expect(
      last([
        {
          type: 'response.failed',
          response: { ...completed, status: 'failed', error: { code: 'server_error', message: 'Oh' } },
        },
      ]),
    ).to.include({ status: 502, code: 'server_error', message: 'Oh' })
    const reader = new ResponsesParser(undefined)
    const events = [
      ...reader.parse({ data: '{"type":"resp' }),
      ...reader.parse({ data: '{"type":"response.completed","response":{}}' }),
      ...reader.end(),
    ]
    expect(events).to.have.length(1)
    expect(events[0]).to.deep.include({ type: 'failure' })
  })

  it('reads events that only the event line names, and passes over [DONE]', () => {
    const reader = new ResponsesParser(undefined)
    const events = [
      ...reader.parse({
        event: 'response.output_text.delta',
        data: '{"output_index":0,"content_index":0,"delta":"Hi"}',
      }),
      ...reader.parse({ data: '[DONE]' }),
      ...reader.end(),
    ]
    expect(events.map(({ type }) => type)).to.deep.equal(['start', 'item', 'part', 'delta', 'failure'])
  })
})
