import { expect } from 'chai'
import { legalCallId } from '../../../../engine/kit.ts'
import type { Item, JsonObject, Part } from '../../../../engine/index.ts'
import { origin, printed, target } from './fixtures.ts'

const say = (role: 'user' | 'assistant', ...content: Part[]): Item => ({ type: 'message', role, content })
const words = (text: string): Part => ({ type: 'text', text })
const call = (callId: string, input = '{}'): Item => ({ type: 'call', kind: 'function', callId, name: 'look', input })
const result = (callId: string, text: string, more: object = {}): Item => ({
  type: 'result',
  kind: 'function',
  callId,
  content: [{ type: 'text', text }],
  ...more,
})
const use = (id: string, input: JsonObject = {}) => ({ type: 'tool_use', id, name: 'look', input })
const told = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
const cancelled = (id: string) => ({ ...told(id, '(cancelled: there is no result)'), is_error: true })
const turns = (items: Item[], traits = {}) => printed({ items }, target(traits)).body.messages
const lost = (items: Item[], traits = {}) => printed({ items }, target(traits)).lost

describe('messages: printing turns', () => {
  const ask = say('user', words('go'))
  const asked = { role: 'user', content: [{ type: 'text', text: 'go' }] }

  it('puts all results of a turn into one user turn, first, in the order they came', () => {
    const items = [ask, call('a1'), call('a2'), result('a2', 'two'), say('user', words('and?')), result('a1', 'one')]
    expect(turns(items)).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('a1'), use('a2')] },
      { role: 'user', content: [told('a2', 'two'), told('a1', 'one'), { type: 'text', text: 'and?' }] },
    ])
  })

  it('answers a call without a result as cancelled', () => {
    expect(turns([ask, call('a'), call('b'), result('b', 'x'), say('assistant', words('ok'))])).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [told('b', 'x'), cancelled('a')] },
      { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
    ])
    expect(turns([ask, call('a')])).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [cancelled('a')] },
    ])
  })

  it('finds a result behind an answer of the assistant, and leaves no turn empty', () => {
    expect(
      turns([ask, call('a'), call('b'), result('a', '1'), say('assistant', words('hm')), result('b', '2')]),
    ).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [told('a', '1'), told('b', '2')] },
      { role: 'assistant', content: [{ type: 'text', text: 'hm' }] },
    ])
  })

  it('puts results before a system message of mid-conversation', () => {
    const note: Item = { type: 'message', role: 'system', content: [words('note')] }
    expect(turns([ask, call('a'), note, result('a', '1')], { system_messages: true })).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [told('a', '1')] },
      { role: 'system', content: [{ type: 'text', text: 'note' }] },
    ])
  })

  it('gives calls of different turns different ids, and legal ones', () => {
    const items = [ask, call('0'), result('0', 'x'), call('0'), result('0', 'y'), call('a.b'), result('a.b', 'z')]
    expect(turns(items)).to.deep.equal([
      asked,
      { role: 'assistant', content: [use('0')] },
      { role: 'user', content: [told('0', 'x')] },
      { role: 'assistant', content: [use('0_2')] },
      { role: 'user', content: [told('0_2', 'y')] },
      { role: 'assistant', content: [use(legalCallId('a.b'))] },
      { role: 'user', content: [told(legalCallId('a.b'), 'z')] },
    ])
  })

  it('keeps a result without its call as text', () => {
    const items = [ask, result('gone', 'late')]
    expect(turns(items)).to.deep.equal([
      {
        role: 'user',
        content: [
          ...asked.content,
          { type: 'text', text: 'Result of an earlier tool call:' },
          { type: 'text', text: 'late' },
        ],
      },
    ])
    expect(lost(items)).to.deep.equal(['tool_call_id'])
  })

  it('prints arguments that are empty, no object or no JSON', () => {
    const inputs = ['', '{"a":[1]}', '[1]', '{"a":']
    const blocks = inputs.map((input, index) => call(`c${index}`, input))
    const messages = turns([ask, ...blocks]) as { content: JsonObject[] }[]
    expect(messages[1]?.content.map((block) => block.input)).to.deep.equal([
      {},
      { a: [1] },
      { _invalid_json: '[1]' },
      { _invalid_json: '{"a":' },
    ])
  })

  it('keeps thinking of its own origin in place and byte by byte, and drops any other', () => {
    const thought = (text: string, seal?: object): Item => ({
      type: 'reasoning',
      parts: text === '' ? [] : [{ kind: 'summary', text }],
      ...(seal ? { seal: { kind: 'signature', data: `sig-${text}`, ...seal } as never } : {}),
    })
    const items = [
      ask,
      thought('foreign', { origin: 'other/model' }),
      thought('unsealed'),
      thought('unknown', {}),
      thought('one', { origin }),
      call('a'),
      thought('', { origin, kind: 'redacted', data: 'd' }),
      call('b'),
    ]
    expect(turns(items)).to.deep.equal([
      asked,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'one', signature: 'sig-one' },
          use('a'),
          { type: 'redacted_thinking', data: 'd' },
          use('b'),
        ],
      },
      { role: 'user', content: [cancelled('a'), cancelled('b')] },
    ])
    expect(lost(items)).to.deep.equal(['reasoning', 'messages'])
  })

  it('puts opaque items of its own back in their place, and reports foreign ones', () => {
    const own = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const items: Item[] = [
      ask,
      { type: 'opaque', protocol: 'messages', value: own, role: 'assistant' },
      { type: 'opaque', protocol: 'responses', value: { type: 'web_search_call' } },
      say('assistant', words('found')),
    ]
    expect(turns(items)).to.deep.equal([asked, { role: 'assistant', content: [own, { type: 'text', text: 'found' }] }])
    expect(lost(items)).to.deep.equal(['input.web_search_call'])
  })

  it('prints results with images and documents, errors, marks and nothing', () => {
    const pdf = { kind: 'data', mediaType: 'application/pdf', data: 'AA==' } as const
    const content: Part[] = [
      words('seen'),
      { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'BB==' } },
      { type: 'file', source: pdf, filename: 'a.pdf', cache: {} },
    ]
    const items = [
      ask,
      call('a'),
      call('b'),
      result('a', '', { content, error: true, cache: { ttl: '5m' } }),
      result('b', ''),
    ]
    expect((turns(items) as JsonObject[])[2]?.content).to.deep.equal([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'BB==' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
            title: 'a.pdf',
            cache_control: { type: 'ephemeral' },
          },
        ],
        is_error: true,
        cache_control: { type: 'ephemeral', ttl: '5m' },
      },
      { type: 'tool_result', tool_use_id: 'b' },
    ])
  })

  it('prints every source, and words for what has no block', () => {
    const content: Part[] = [
      { type: 'image', source: { kind: 'url', url: 'https://i' }, detail: 'high' },
      { type: 'file', source: { kind: 'url', url: 'https://f' }, title: 'T', context: 'C', citations: true },
      { type: 'file', source: { kind: 'id', id: 'f1', api: 'messages' } },
      { type: 'file', source: { kind: 'data', mediaType: 'text/csv', data: Buffer.from('ä,b').toString('base64') } },
      { type: 'file', source: { kind: 'data', mediaType: 'image/png', data: 'AA==' } },
      { type: 'file', source: { kind: 'data', mediaType: 'application/zip', data: 'AA==' }, filename: 'a.zip' },
      { type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data: 'AA==' } },
      { type: 'opaque', protocol: 'responses', value: { type: 'input_video' } },
      { type: 'refusal', text: 'no' },
    ]
    const { body, lost } = printed({ items: [say('user', ...content)] })
    expect((body.messages as JsonObject[])[0]?.content).to.deep.equal([
      { type: 'image', source: { type: 'url', url: 'https://i' } },
      {
        type: 'document',
        source: { type: 'url', url: 'https://f' },
        title: 'T',
        context: 'C',
        citations: { enabled: true },
      },
      { type: 'document', source: { type: 'file', file_id: 'f1' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä,b' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'text', text: '[file omitted: a.zip]' },
      { type: 'text', text: '[audio omitted]' },
      { type: 'text', text: 'no' },
    ])
    expect(lost).to.deep.equal([
      'messages[].content.detail',
      'messages[].content.file',
      'messages[].content.audio',
      'messages[].content.input_video',
    ])
  })

  it('prints native citations and drops those of other protocols', () => {
    const native = { type: 'web_search_result_location', url: 'https://a', encrypted_index: 'E' }
    const own: Part = {
      type: 'text',
      text: 'x',
      annotations: [
        { type: 'url', url: 'https://a', title: 'A', start: 0, end: 1, own: { protocol: 'messages', value: native } },
      ],
    }
    const foreign: Part = {
      type: 'text',
      text: 'y',
      annotations: [{ type: 'url', url: 'https://b', title: 'B', start: 0, end: 1 }],
    }
    expect(turns([ask, say('assistant', own)])).to.deep.equal([
      asked,
      { role: 'assistant', content: [{ type: 'text', text: 'x', citations: [native] }] },
    ])
    expect(lost([ask, say('assistant', own)])).to.deep.equal([])
    expect(lost([ask, say('assistant', foreign)])).to.deep.equal(['messages[].content.annotations'])
  })
})
