import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { encodeFrame, unfold } from '../../../../engine/kit.ts'
import type { GenerateEvent, GenerateReply, Item, JsonObject } from '../../../../engine/index.ts'
import { printReply } from '../../../../plugins/protocols/messages/reply.ts'
import { asked, data, write } from './fixtures.ts'

const usage = { input: 10, cacheRead: 5, cacheWrite: 2, output: 7, reasoning: 3 }
const message = (index: number): GenerateEvent => ({
  type: 'item',
  index,
  item: { type: 'message', role: 'assistant', content: [] },
})
const call = (index: number, callId: string, kind: 'function' | 'custom' = 'function'): GenerateEvent => ({
  type: 'item',
  index,
  item: { type: 'call', kind, callId, name: 'look', input: '' },
})
const text = (index: number, value: string): GenerateEvent => ({ type: 'delta', index, text: value })
const end = (index: number): GenerateEvent => ({ type: 'item-end', index })
const part = (index: number): GenerateEvent => ({ type: 'part', index, kind: 'text' })

/** The blocks' frames alone, in short form: `start`, `delta` and `stop` with their index. */
function blocks(events: readonly GenerateEvent[]): unknown[] {
  return data(write(events).frames).flatMap((event) => {
    if (event.type === 'content_block_start') return [[event.index, event.content_block]]
    if (event.type === 'content_block_delta') return [[event.index, event.delta]]
    return event.type === 'content_block_stop' ? [[event.index, 'stop']] : []
  })
}

/** What the official client makes of a streamed answer. */
async function received(events: Iterable<GenerateEvent>): Promise<Anthropic.Message> {
  const body = write(events).frames.map(encodeFrame).join('')
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'k', baseURL: 'http://sluice.test', fetch, maxRetries: 0 })
  return client.messages
    .stream({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] })
    .finalMessage()
}

describe('messages: writing a stream', () => {
  it('writes named frames from start to stop, and nothing after', () => {
    const { frames } = write([
      { type: 'start', id: 'upstream', model: 'other', usage, serviceTier: 'default' },
      message(0),
      part(0),
      text(0, 'Hi'),
      text(0, ''),
      end(0),
      { type: 'finish', stop: 'stop', stopSequence: 'END', usage },
      { type: 'failure', failure: { status: 500, code: null, type: 'x', message: 'late', param: null } },
    ])
    expect(frames.map((frame) => frame.event)).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const counts = {
      input_tokens: 10,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 5,
      output_tokens: 10,
      output_tokens_details: { thinking_tokens: 3 },
    }
    expect(data(frames)).to.deep.equal([
      {
        type: 'message_start',
        message: {
          id: 'msg_0193e8b27f007abc8def0123456789ab',
          type: 'message',
          role: 'assistant',
          model: 'other',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...counts, service_tier: 'standard' },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' }, usage: counts },
      { type: 'message_stop' },
    ])
  })

  it('writes one block after the other, however items interleave', () => {
    expect(
      blocks([
        { type: 'start' },
        call(0, 'a'),
        call(1, 'b'),
        text(1, '{"b":1}'),
        message(2),
        text(0, '{"a"'),
        part(2),
        text(2, 'done'),
        end(1),
        text(0, ':1}'),
        end(0),
        text(2, '!'),
        { type: 'finish', stop: 'tool' },
      ]),
    ).to.deep.equal([
      [0, { type: 'tool_use', id: 'a', name: 'look', input: {} }],
      [0, { type: 'input_json_delta', partial_json: '{"a"' }],
      [0, { type: 'input_json_delta', partial_json: ':1}' }],
      [0, 'stop'],
      [1, { type: 'tool_use', id: 'b', name: 'look', input: {} }],
      [1, { type: 'input_json_delta', partial_json: '{"b":1}' }],
      [1, 'stop'],
      [2, { type: 'text', text: '' }],
      [2, { type: 'text_delta', text: 'done' }],
      [2, { type: 'text_delta', text: '!' }],
      [2, 'stop'],
    ])
  })

  it('writes at least one piece of arguments, and free text as a property', () => {
    const pieces = (events: GenerateEvent[]) =>
      blocks(events).flatMap((entry) => {
        const [, value] = entry as [number, { partial_json?: string }]
        return value.partial_json === undefined ? [] : [value.partial_json]
      })
    expect(pieces([call(0, 'a'), end(0)])).to.deep.equal(['{}'])
    expect(pieces([call(0, 'a', 'custom'), text(0, 'a "b"'), text(0, '\n'), end(0)])).to.deep.equal([
      '{"input":"a \\"b\\"',
      '\\n',
      '"}',
    ])
    expect(pieces([call(0, 'a', 'custom'), end(0)])).to.deep.equal(['{"input":""}'])
  })

  it('writes thinking with its signature right before the stop, and redacted when there is nothing to read', () => {
    const reasoning = (index: number): GenerateEvent => ({
      type: 'item',
      index,
      item: { type: 'reasoning', parts: [] },
    })
    const seal = (index: number, kind: 'signature' | 'encrypted'): GenerateEvent => ({
      type: 'seal',
      index,
      seal: { kind, data: 'D' },
    })
    const found = blocks([
      reasoning(0),
      { type: 'part', index: 0, kind: 'summary' },
      text(0, 'one'),
      { type: 'part', index: 0, kind: 'summary' },
      text(0, 'two'),
      seal(0, 'encrypted'),
      end(0),
      reasoning(1),
      seal(1, 'encrypted'),
      end(1),
      reasoning(2),
      seal(2, 'signature'),
      end(2),
      reasoning(3),
      end(3),
    ])
    const signature = (value: JsonObject) =>
      `gw1.${Buffer.from(JSON.stringify({ origin: asked.origin, value })).toString('base64url')}`
    expect(found).to.deep.equal([
      [0, { type: 'thinking', thinking: '', signature: '' }],
      [0, { type: 'thinking_delta', thinking: 'one' }],
      [0, { type: 'thinking_delta', thinking: '\n\n' }],
      [0, { type: 'thinking_delta', thinking: 'two' }],
      [
        0,
        {
          type: 'signature_delta',
          signature: signature({
            kind: 'encrypted',
            data: 'D',
            shape: [
              ['summary', 3],
              ['summary', 3],
            ],
          }),
        },
      ],
      [0, 'stop'],
      [1, { type: 'redacted_thinking', data: signature({ kind: 'encrypted', data: 'D' }) }],
      [1, 'stop'],
      [2, { type: 'thinking', thinking: '', signature: '' }],
      [2, { type: 'signature_delta', signature: signature({ kind: 'signature', data: 'D' }) }],
      [2, 'stop'],
    ])
  })

  it('ends a broken stream with an error event', () => {
    const failure = { status: 502, code: 'upstream_error', type: 'server_error', message: 'It broke.', param: null }
    const { frames } = write([{ type: 'start' }, message(0), { type: 'failure', failure }])
    expect(frames.at(-1)).to.deep.equal({
      event: 'error',
      data: JSON.stringify({ type: 'error', error: { type: 'api_error', message: 'It broke.' }, request_id: asked.id }),
    })
  })

  it('reports what clients cannot get', () => {
    const annotation = { type: 'opaque', protocol: 'responses', value: { type: 'file_citation' } } as const
    const { lost } = write([
      { type: 'start' },
      message(0),
      part(0),
      { type: 'delta', index: 0, text: 'x', logprobs: [{ token: 'x', logprob: -1 }] },
      { type: 'annotation', index: 0, annotation },
      end(0),
      { type: 'item', index: 1, item: { type: 'opaque', protocol: 'responses', value: { type: 'mcp_call' } } },
      end(1),
      { type: 'finish', stop: 'end', rest: { protocol: 'chat', fields: { system_fingerprint: 'f' } } },
    ])
    expect(lost).to.deep.equal(['logprobs', 'content[].annotations', 'content[].mcp_call', 'system_fingerprint'])
  })

  const native = { type: 'web_search_result_location', url: 'https://a', encrypted_index: 'E' }
  const items: Item[] = [
    { type: 'reasoning', parts: [{ kind: 'text', text: 'raw' }] },
    {
      type: 'reasoning',
      parts: [
        { kind: 'text', text: 'a' },
        { kind: 'summary', text: 'b' },
      ],
      seal: { kind: 'encrypted', data: 'E' },
      id: 'rs',
    },
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: '' },
        {
          type: 'text',
          text: 'cited',
          annotations: [
            {
              type: 'url',
              url: 'https://a',
              title: 'A',
              start: 0,
              end: 5,
              own: { protocol: 'messages', value: native },
            },
          ],
        },
        { type: 'refusal', text: 'rather not' },
      ],
    },
    {
      type: 'opaque',
      protocol: 'messages',
      value: { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 'x' } },
    },
    { type: 'opaque', protocol: 'messages', value: { type: 'container_upload', file_id: 'f' } },
    { type: 'call', kind: 'function', callId: 'a', name: 'read', namespace: 'fs', input: '' },
    { type: 'call', kind: 'custom', callId: 'b', name: 'patch', input: 'a\n"b"' },
  ]
  const reply: GenerateReply = { id: 'u', model: 'other', items, stop: 'end', usage, serviceTier: 'priority' }

  it('reports what a whole answer cannot hold', () => {
    const odd: Item[] = [
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'x', logprobs: [{ token: 'x', logprob: -1 }] },
          { type: 'image', source: { kind: 'url', url: 'https://i' } },
        ],
      },
      { type: 'result', kind: 'function', callId: 'a', content: [] },
      { type: 'opaque', protocol: 'responses', value: { type: 'web_search_call' } },
    ]
    const whole = printReply({ items: odd, stop: 'filter' }, asked)
    expect(whole.body).to.deep.include({
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'refusal',
      usage: { input_tokens: 0, output_tokens: 0 },
    })
    const lost = ['logprobs', 'content[].image', 'content[].result', 'content[].web_search_call']
    expect(whole.losses.map((loss) => loss.field)).to.deep.equal(lost)
    expect(write(unfold({ items: odd, stop: 'filter' })).lost).to.have.members(lost)
  })

  it('is read by the official client as the whole answer would be', async () => {
    const { body, losses } = printReply(reply, asked)
    const streamed = await received(unfold(reply))
    // Through JSON, as the client makes the arguments on first use.
    expect(JSON.parse(JSON.stringify(streamed))).to.deep.equal({ ...body, parsed_output: null })
    expect(losses).to.deep.equal([])
    expect(body).to.deep.include({ id: 'msg_0193e8b27f007abc8def0123456789ab', stop_reason: 'refusal', model: 'other' })
    expect(body.content).to.deep.include({ type: 'tool_use', id: 'a', name: 'fs__read', input: {} })
    expect(body.content).to.deep.include({ type: 'text', text: 'cited', citations: [native] })
  })
})
