import { expect } from 'chai'
import { fold, unpackSeal } from '../../../../engine/kit.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { parseReply } from '../../../../plugins/protocols/messages/reply.ts'
import { data, frames, read, streamOf, write } from './fixtures.ts'

const start = {
  type: 'message_start',
  message: { id: 'msg_u', model: 'opus-1', usage: { input_tokens: 3, output_tokens: 1 } },
}
const opened = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, value: JsonObject) => ({ type: 'content_block_delta', index, delta: value })
const closed = (index: number) => ({ type: 'content_block_stop', index })
const ended = (stop_reason: string | null, usage?: JsonObject) => ({
  type: 'message_delta',
  delta: { stop_reason },
  ...(usage ? { usage } : {}),
})
const stop = { type: 'message_stop' }

describe('messages: reading a stream', () => {
  it('reads a text with very many citations, whole or not', () => {
    const citations = Array.from({ length: 200_000 }, () => ({ type: 'char_location' }))
    const block = { type: 'text', text: 'a', citations }
    const streamed = fold(read(frames(start, opened(0, block), closed(0), ended('end_turn'), stop)))
    for (const { items } of [streamed, parseReply({ content: [block], stop_reason: 'end_turn' })])
      expect(items).to.have.nested.property('[0].content[0].annotations').that.has.length(200_000)
  })

  it('tells the events of a text, with the last usage', () => {
    const events = read(
      frames(
        start,
        { type: 'ping' },
        opened(0, { type: 'text', text: '' }),
        delta(0, { type: 'text_delta', text: 'Hel' }),
        delta(0, { type: 'text_delta', text: 'lo' }),
        closed(0),
        ended('end_turn', { output_tokens: 5 }),
        ended('end_turn', { input_tokens: 12, output_tokens: 9, cache_read_input_tokens: null }),
        stop,
        opened(7, { type: 'text', text: 'late' }),
      ),
    )
    expect(events).to.deep.equal([
      {
        type: 'start',
        id: 'msg_u',
        model: 'opus-1',
        usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
      },
      { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 0, kind: 'text' },
      { type: 'delta', index: 0, text: 'Hel' },
      { type: 'delta', index: 0, text: 'lo' },
      { type: 'item-end', index: 0 },
      { type: 'finish', stop: 'end', usage: { input: 12, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 } },
    ])
  })

  it('keeps thinking, calls and texts apart and in order', () => {
    const events = read(
      streamOf(
        [
          { type: 'thinking', thinking: 'one', signature: 's1' },
          { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ],
        'tool_use',
      ),
    )
    expect(fold(events).items).to.deep.equal([
      { type: 'reasoning', parts: [{ kind: 'summary', text: 'one' }], seal: { kind: 'signature', data: 's1' } },
      { type: 'call', kind: 'function', callId: 'a', name: 'look', input: '{"x":1}' },
      { type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'd' } },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
      },
      { type: 'call', kind: 'function', callId: 'b', name: 'look', input: '{}' },
    ])
    expect(fold(events).stop).to.equal('tool')
  })

  it('reads interleaved blocks by their index', () => {
    const events = read(
      frames(
        start,
        opened(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
        opened(1, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
        delta(1, { type: 'input_json_delta', partial_json: '{"b"' }),
        delta(0, { type: 'input_json_delta', partial_json: '{"a":1}' }),
        delta(1, { type: 'input_json_delta', partial_json: ':2}' }),
        closed(1),
        closed(0),
        ended('tool_use'),
        stop,
      ),
    )
    expect(fold(events).items).to.deep.equal([
      { type: 'call', kind: 'function', callId: 'a', name: 'f', input: '{"a":1}' },
      { type: 'call', kind: 'function', callId: 'b', name: 'g', input: '{"b":2}' },
    ])
  })

  it('takes whole blocks at their start, blocks that never stop, and frames without a name', () => {
    const events = read(
      frames(
        start,
        opened(0, { type: 'text', text: 'whole' }),
        opened(1, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }),
        opened(2, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
        ended('end_turn'),
      ).map((frame) => ({ data: frame.data })),
    )
    expect(fold(events)).to.deep.include({
      stop: 'tool',
      items: [
        { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'whole' }] },
        { type: 'call', kind: 'function', callId: 'a', name: 'f', input: '{"x":1}' },
        { type: 'call', kind: 'function', callId: 'b', name: 'g', input: '{}' },
      ],
    })
  })

  it('gives tools their names back and unwraps custom ones as the text arrives', () => {
    const restore = {
      tools: new Map([
        ['fs__read', { name: 'read', namespace: 'fs', kind: 'function' as const }],
        ['patch', { name: 'patch', kind: 'custom' as const }],
      ]),
    }
    const pieces = ['{"inp', 'ut": "a\\', 'n\\u00e', '4 \\"', 'b\\""', '}']
    const events = read(
      frames(
        start,
        opened(0, { type: 'tool_use', id: 'a', name: 'fs__read', input: {} }),
        closed(0),
        opened(1, { type: 'tool_use', id: 'b', name: 'patch', input: {} }),
        ...pieces.map((partial_json) => delta(1, { type: 'input_json_delta', partial_json })),
        closed(1),
        ended('tool_use'),
        stop,
      ),
      restore,
    )
    expect(fold(events).items).to.deep.equal([
      { type: 'call', kind: 'function', name: 'read', namespace: 'fs', callId: 'a', input: '{}' },
      { type: 'call', kind: 'custom', name: 'patch', callId: 'b', input: 'a\nä "b"' },
    ])
    expect(events.filter((event) => event.type === 'delta' && event.index === 1)).to.deep.equal([
      { type: 'delta', index: 1, text: 'a' },
      { type: 'delta', index: 1, text: '\n' },
      { type: 'delta', index: 1, text: 'ä "' },
      { type: 'delta', index: 1, text: 'b"' },
    ])
  })

  it('tells citations as they came and, of addresses, in the form others read', () => {
    const web = {
      type: 'web_search_result_location',
      url: 'https://a',
      title: 'A',
      cited_text: 'c',
      encrypted_index: 'E',
    }
    const page = { type: 'page_location', document_index: 0 }
    const { items } = fold(read(streamOf([{ type: 'text', text: 'four', citations: [web, page] }], 'end_turn')))
    expect(items).to.deep.equal([
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'four',
            annotations: [
              {
                type: 'url',
                url: 'https://a',
                title: 'A',
                start: 0,
                end: 4,
                own: { protocol: 'messages', value: web },
              },
              { type: 'opaque', protocol: 'messages', value: page },
            ],
          },
        ],
      },
    ])
  })

  it('keeps blocks of the vendor tools whole, and a pause as it is', () => {
    const blocks = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{ type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: 'E' }],
      },
    ]
    const reply = fold(read(streamOf(blocks, 'pause_turn')))
    const told = [
      { id: 's', queries: ['q'] },
      { id: 's', found: [{ url: 'https://a', title: 'A' }] },
    ]
    expect(reply.items).to.deep.equal(
      blocks.map((value, at) => ({ type: 'opaque', protocol: 'messages', value, role: 'assistant', search: told[at] })),
    )
    expect(reply.stop).to.equal('pause')
  })

  const reasons: [string, string][] = [
    ['end_turn', 'end'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'context'],
    ['refusal', 'refusal'],
    ['pause_turn', 'pause'],
    ['unheard_of', 'end'],
  ]
  for (const [wire, neutral] of reasons)
    it(`reads the stop reason ${wire}`, () => {
      expect(fold(read(streamOf([{ type: 'text', text: 'x' }], wire))).stop).to.equal(neutral)
    })

  it('keeps details of a stop, and its sequence', () => {
    const details = { type: 'refusal', category: 'bio', explanation: null }
    const last = {
      type: 'message_delta',
      delta: { stop_reason: 'refusal', stop_sequence: 'X', stop_details: details, container: null },
      usage: { output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
    }
    expect(read(frames(start, last, stop)).at(-1)).to.deep.equal({
      type: 'finish',
      stop: 'refusal',
      stopSequence: 'X',
      usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0, searches: 1 },
      rest: {
        protocol: 'messages',
        fields: { stop_details: details, usage: { server_tool_use: { web_search_requests: 1 } } },
      },
    })
  })

  describe('failures', () => {
    const failure = (list: Parameters<typeof read>[0]) => {
      const events = read(list)
      const last = events.at(-1)
      return last?.type === 'failure'
        ? { status: last.failure.status, code: last.failure.code, message: last.failure.message }
        : last
    }

    it('a stream cut before its stop reason', () => {
      expect(failure(frames(start, opened(0, { type: 'text', text: 'x' })))).to.deep.equal({
        status: 502,
        code: 'upstream_error',
        message: 'The answer ended before it was complete.',
      })
      expect(failure([])).to.have.property('code', 'upstream_error')
    })

    it('an error event, after which nothing counts', () => {
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
      const events = read(frames(start, error, ended('end_turn'), stop))
      expect(events.slice(1)).to.deep.equal([
        {
          type: 'failure',
          failure: { status: 529, code: null, type: 'server_error', message: 'Overloaded', param: null },
        },
      ])
    })

    it('frames that are not JSON, deltas without their block, blocks without content', () => {
      const unreadable = (reason: string) => ({
        status: 502,
        code: 'upstream_invalid_response',
        message: `The provider answered in a form that cannot be read: ${reason}.`,
      })
      expect(failure([...frames(start), { event: 'content_block_delta', data: '{"type":' }])).to.deep.equal(
        unreadable('an event is not valid JSON'),
      )
      expect(failure(frames(start, delta(0, { type: 'text_delta', text: 'x' })))).to.deep.equal(
        unreadable('a delta belongs to no open block'),
      )
      expect(failure(frames(start, { type: 'content_block_start', index: 0 }))).to.deep.equal(
        unreadable('a block starts without its content'),
      )
      expect(failure(frames(start, stop))).to.deep.equal(unreadable('an empty answer without a stop reason'))
      const tool = opened(0, { type: 'server_tool_use', id: 's', name: 'x', input: {} })
      expect(
        failure(frames(start, tool, delta(0, { type: 'input_json_delta', partial_json: '{"a' }), closed(0))),
      ).to.deep.equal(unreadable('an event is not valid JSON'))
    })
  })

  it('reads a whole answer as the stream it would have been', () => {
    const content = [
      { type: 'thinking', thinking: 'why', signature: 's' },
      { type: 'text', text: 'A', citations: [{ type: 'page_location' }] },
      { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 1 } },
    ]
    const whole = {
      id: 'msg_u',
      type: 'message',
      role: 'assistant',
      model: 'opus-1',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 9 },
    }
    expect(parseReply(whole)).to.deep.equal(fold(read(streamOf(content, 'tool_use'))))
    expect(() => parseReply({ type: 'message' })).to.throw('the answer has no list of content')
    expect(() => parseReply({ content: [], stop_reason: null })).to.throw('an empty answer without a stop reason')
  })

  it('carries its own seals through a client and back', () => {
    const events = read(streamOf([{ type: 'thinking', thinking: 'why', signature: 'native' }], 'end_turn'))
    const signatures = data(write(events).frames).flatMap(
      ({ delta }) => (delta as { signature?: string })?.signature ?? [],
    )
    expect(signatures.map(unpackSeal)).to.deep.equal([
      {
        origin: 'gateway/opus',
        value: { kind: 'signature', data: 'native' },
      },
    ])
  })
})
