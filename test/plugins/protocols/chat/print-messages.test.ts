import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import type { Item, Part, ToolCall, ToolResult, Traits } from '../../../../engine/index.ts'
import { origin, request, target } from './support.ts'

function print(items: readonly Item[], traits: Traits = {}) {
  const { body, losses } = request.print({ items, tools: [], stream: false }, target(traits))
  return { messages: body['messages'], losses: losses.map(({ field }) => field) }
}

const text = (said: string): Part => ({ type: 'text', text: said })
const user = (...content: Part[]): Item => ({ type: 'message', role: 'user', content })
const assistant = (...content: Part[]): Item => ({ type: 'message', role: 'assistant', content })
const call = (callId: string): ToolCall => ({ type: 'call', kind: 'function', callId, name: 'f', input: '{}' })
const result = (callId: string, ...content: Part[]): ToolResult => ({
  type: 'result',
  kind: 'function',
  callId,
  content,
})
const wireCall = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const tool = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
const image: Part = { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' } }
const imageUrl = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

describe('chat messages for an upstream', () => {
  it('have call ids of at most 64 characters, the same for a call and its result', () => {
    const long = `${'x'.repeat(200)}/1`
    const { messages } = print([call(long), call(`${long}2`), result(long, text('a')), result(`${long}2`, text('b'))])
    const [calls, ...results] = messages as [
      { tool_calls: readonly { id: string }[] },
      ...(readonly { tool_call_id: string }[]),
    ]
    const ids = calls.tool_calls.map(({ id }) => id)
    expect(results.map(({ tool_call_id: id }) => id)).to.deep.equal(ids)
    expect(new Set(ids).size).to.equal(2)
    for (const id of ids) expect(id).to.match(/^[\w-]{1,64}$/)
  })

  it('keep their roles, or take the one role for instructions', () => {
    const items: Item[] = [
      { type: 'message', role: 'system', content: [text('a'), text('b')] },
      { type: 'message', role: 'developer', content: [text('c')] },
      { type: 'message', role: 'user', name: 'ann', content: [text('d'), text('e')] },
    ]
    const last = { role: 'user', name: 'ann', content: [text('d'), text('e')] }
    expect(print(items).messages).to.deep.equal([
      { role: 'system', content: 'a\n\nb' },
      { role: 'system', content: 'c' },
      last,
    ])
    expect(print(items, { system_role: 'developer' }).messages).to.deep.equal([
      { role: 'developer', content: 'a\n\nb' },
      { role: 'developer', content: 'c' },
      last,
    ])
  })

  it('hold a turn of the assistant together: text, calls, and text among the calls', () => {
    const items = [
      user(text('q')),
      assistant(text('let'), text(' me')),
      call('1'),
      call('2'),
      assistant(text('look')),
      result('2', text('b')),
      result('1', text('a')),
      assistant(text('done')),
    ]
    expect(print(items).messages).to.deep.equal([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'let me\n\nlook', tool_calls: [wireCall('1'), wireCall('2')] },
      tool('1', 'a'),
      tool('2', 'b'),
      { role: 'assistant', content: 'done' },
    ])
  })

  it('keep calls apart that were made one after another', () => {
    expect(print([call('1'), result('1', text('a')), call('1'), result('1', text('b'))]).messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [wireCall('1')] },
      tool('1', 'a'),
      { role: 'assistant', content: null, tool_calls: [wireCall('1_2')] },
      tool('1_2', 'b'),
    ])
  })

  it('keep two messages of the assistant in a row apart', () => {
    expect(print([assistant(text('a')), assistant(text('b')), call('1'), result('1')]).messages).to.deep.equal([
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b', tool_calls: [wireCall('1')] },
      tool('1', ''),
    ])
  })

  it('fold every message between calls and results into their turn', () => {
    expect(print([call('1'), assistant(text('a')), assistant(text('b')), result('1')]).messages).to.deep.equal([
      { role: 'assistant', content: 'a\n\nb', tool_calls: [wireCall('1')] },
      tool('1', ''),
    ])
  })

  it('never come between calls and their results', () => {
    expect(print([call('1'), user(text('wait')), result('1', text('a'))]).messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [wireCall('1')] },
      tool('1', 'a'),
      { role: 'user', content: 'wait' },
    ])
  })

  it('show what results showed after all of them, in one message', () => {
    const pdf: Part = {
      type: 'file',
      source: { kind: 'data', mediaType: 'application/pdf', data: 'BBBB' },
      title: 'report.pdf',
    }
    const items = [
      call('1'),
      call('2'),
      result('1', text('see'), image),
      result('2', pdf, text('and'), text('more')),
      user(text('so?')),
    ]
    expect(print(items, { files: true }).messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [wireCall('1'), wireCall('2')] },
      tool('1', 'see'),
      tool('2', 'and\nmore'),
      {
        role: 'user',
        content: [
          imageUrl,
          { type: 'file', file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
        ],
      },
      { role: 'user', content: 'so?' },
    ])
  })

  it('say that a result is an error', () => {
    expect(
      print([call('1'), { ...result('1', text('no such file')), error: true }]).messages,
    ).to.have.deep.nested.property('[1]', tool('1', 'Error: no such file'))
  })

  it('answer a call that nobody answered', () => {
    const { messages, losses } = print([call('1'), call('2'), result('2', text('b')), user(text('go on'))])
    expect(messages).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [wireCall('1'), wireCall('2')] },
      tool('1', 'Error: the call was cancelled.'),
      tool('2', 'b'),
      { role: 'user', content: 'go on' },
    ])
    expect(losses).to.deep.equal(['messages'])
  })

  it('refuse a result without a call, and a second one', () => {
    for (const items of [[result('1')], [call('1'), result('1'), result('1')]]) {
      expect(() => print(items))
        .to.throw(GatewayError)
        .with.nested.property('failure')
        .that.includes({ code: 'invalid_request', status: 400 })
    }
  })

  it('carry cache marks where the upstream takes them', () => {
    const marked: Part = { type: 'text', text: 'a', cache: { ttl: '1h' } }
    const control = { type: 'ephemeral', ttl: '1h' }
    const items = [
      user(marked),
      assistant(marked),
      { ...call('1'), cache: {} },
      { ...result('1', text('r')), cache: { ttl: '1h' } },
    ]
    expect(print(items, { cache_control: true }).messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'a', cache_control: control }] },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'a', cache_control: control }],
        tool_calls: [{ ...wireCall('1'), cache_control: { type: 'ephemeral' } }],
      },
      { role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'r', cache_control: control }] },
    ])
    expect(print(items)).to.deep.equal({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'a', tool_calls: [wireCall('1')] },
        tool('1', 'r'),
      ],
      losses: ['cache_control'],
    })
  })

  it('put a short text in the place of what the upstream does not take', () => {
    const parts: Part[] = [
      image,
      { type: 'image', source: { kind: 'id', id: 'i', api: 'responses' } },
      { type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data: 'A' } },
      { type: 'file', source: { kind: 'url', url: 'https://a/b.pdf' } },
      { type: 'file', source: { kind: 'id', id: 'f', api: 'responses' } },
      { type: 'file', source: { kind: 'text', mediaType: 'text/plain', text: 'words' }, title: 't', context: 'c' },
      { type: 'opaque', protocol: 'other', value: { type: 'container_upload' } },
    ]
    expect(print([user(...parts)], { images: false })).to.deep.equal({
      messages: [
        {
          role: 'user',
          content: [
            '[image omitted]',
            '[image omitted]',
            '[audio omitted]',
            '[file: https://a/b.pdf]',
            '[file omitted]',
            't\n\nc\n\nwords',
          ].map(text),
        },
      ],
      losses: ['image', 'audio', 'file_url', 'file', 'container_upload'],
    })
  })

  it('show what it takes', () => {
    const parts: Part[] = [
      { type: 'image', source: { kind: 'url', url: 'https://a/i' }, detail: 'high' },
      { type: 'audio', source: { kind: 'data', mediaType: 'audio/mp3', data: 'A' } },
      { type: 'file', source: { kind: 'id', id: 'f', api: 'responses' } },
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'B' } },
      { type: 'opaque', protocol: 'chat', value: { type: 'video_url', video_url: { url: 'v' } } },
    ]
    expect(print([user(...parts)], { files: true, audio: true })).to.deep.equal({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'https://a/i', detail: 'high' } },
            { type: 'input_audio', input_audio: { data: 'A', format: 'mp3' } },
            { type: 'file', file: { file_id: 'f' } },
            { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,B' } },
            { type: 'video_url', video_url: { url: 'v' } },
          ],
        },
      ],
      losses: [],
    })
  })

  it('say a refusal in its field, and drop what only others know', () => {
    const { messages, losses } = print([
      { type: 'opaque', protocol: 'other', value: { type: 'web_search_call' } },
      assistant({ type: 'refusal', text: 'no' }, image),
    ])
    expect(messages).to.deep.equal([{ role: 'assistant', content: null, refusal: 'no' }])
    expect(losses).to.deep.equal(['web_search_call', 'image'])
  })

  it('hand speech of the assistant back', () => {
    const speech = { audio: { id: 'audio_1' } }
    expect(print([assistant({ type: 'opaque', protocol: 'chat', value: speech })]).messages).to.deep.equal([
      { role: 'assistant', content: null, ...speech },
    ])
  })
})

describe('chat reasoning for an upstream', () => {
  const block = (data: string, of = origin, kind: 'signature' | 'encrypted' = 'signature', said = 'hm'): Item => ({
    type: 'reasoning',
    parts: said === '' ? [] : [{ kind: 'text', text: said }],
    seal: { origin: of, kind, data },
  })

  it('goes back to the one that made it, as it was', () => {
    const entry = '{"type":"reasoning.text","signature":"s1","format":"x-v1","index":0}'
    const cipher = '{"type":"reasoning.encrypted","data":"c1","id":"1","index":1}'
    expect(
      print([block(entry), block(cipher, origin, 'encrypted', ''), assistant(text('a')), call('1'), result('1')])
        .messages,
    ).to.deep.equal([
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.text', signature: 's1', format: 'x-v1', index: 0, text: 'hm' },
          { type: 'reasoning.encrypted', data: 'c1', id: '1', index: 1 },
        ],
        tool_calls: [wireCall('1')],
      },
      tool('1', ''),
    ])
  })

  it('goes back in the same words when another protocol sealed it', () => {
    expect(print([block('s1'), block('c1', origin, 'encrypted'), assistant(text('a'))]).messages).to.deep.equal([
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.text', text: 'hm', signature: 's1' },
          { type: 'reasoning.summary', summary: 'hm' },
          { type: 'reasoning.encrypted', data: 'c1' },
        ],
      },
    ])
  })

  it('stays away when it is an item of another protocol', () => {
    const item = '{"id":"rs_1","summary":[],"encrypted_content":"c1"}'
    expect(print([block(item, origin, 'encrypted', ''), assistant(text('a'))])).to.deep.equal({
      messages: [{ role: 'assistant', content: 'a' }],
      losses: ['reasoning'],
    })
  })

  it('of bare text goes back where the upstream wants it', () => {
    const items = [block(''), call('1'), result('1')]
    const turn = { role: 'assistant', content: null, tool_calls: [wireCall('1')] }
    expect(print(items, { reasoning_content: true })).to.deep.equal({
      messages: [{ ...turn, reasoning_content: 'hm' }, tool('1', '')],
      losses: [],
    })
    expect(print(items)).to.deep.equal({ messages: [turn, tool('1', '')], losses: ['reasoning'] })
  })

  it('of any other origin is dropped', () => {
    const unsealed: Item = { type: 'reasoning', parts: [{ kind: 'text', text: 'hm' }] }
    const unknown: Item = { ...unsealed, seal: { kind: 'signature', data: 's' } }
    const { messages, losses } = print([block('s1', 'other/model'), unsealed, unknown, user(text('q'))], {
      reasoning_content: true,
    })
    expect(messages).to.deep.equal([{ role: 'user', content: 'q' }])
    expect(losses).to.deep.equal(['reasoning'])
  })

  it('of which nothing may be left takes nothing else of its turn with it', () => {
    const turn = { role: 'assistant', content: 'a', tool_calls: [wireCall('1')] }
    const items = [assistant(text('a')), call('1'), block(''), result('1')]
    expect(print(items)).to.deep.equal({ messages: [turn, tool('1', '')], losses: ['reasoning'] })
  })

  it('joins a turn that it interrupts', () => {
    expect(print([assistant(text('a')), block('s1'), assistant(text('b'))]).messages).to.deep.equal([
      {
        role: 'assistant',
        content: 'a\n\nb',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's1' }],
      },
    ])
  })
})
