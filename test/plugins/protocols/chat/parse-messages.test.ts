import { GatewayError } from '../../../../engine/index.ts'
import { expect } from 'chai'
import { packSeal } from '../../../../engine/kit.ts'
import type { JsonObject } from '../../../../engine/index.ts'
import { parseMessages } from '../../../../plugins/protocols/chat/parse-messages.ts'
import type { WireMessage } from '../../../../plugins/protocols/chat/wire.ts'
import { expectLinear } from '../../../support/work.ts'
import { origin } from './support.ts'

const text = (said: string) => ({ type: 'text', text: said })
const call = (id: string, name = 'f', input = '{}') => ({ id, type: 'function', function: { name, arguments: input } })
const parsed = (...messages: JsonObject[]) => parseMessages(messages as unknown as WireMessage[])

describe('chat messages', () => {
  it('of people and developers become messages', () => {
    expect(
      parsed(
        { role: 'system', content: 's' },
        { role: 'developer', content: [text('a'), text('b')] },
        { role: 'user', name: 'ann', content: '' },
      ),
    ).to.deep.equal([
      { type: 'message', role: 'system', content: [text('s')] },
      { type: 'message', role: 'developer', content: [text('a'), text('b')] },
      { type: 'message', role: 'user', name: 'ann', content: [] },
    ])
  })

  it('hold every kind of part', () => {
    const video = { type: 'video_url', video_url: { url: 'https://a/v' } }
    const content = [
      { ...text('t'), cache_control: { type: 'ephemeral' } },
      {
        type: 'image_url',
        image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' },
        prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' },
      },
      { type: 'image_url', image_url: 'https://a/i.png' },
      { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,CCCC', filename: 'a.pdf' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', file: { file_data: 'DDDD' } },
      video,
    ]
    const [message] = parsed({ role: 'user', content })
    expect(message)
      .to.have.property('content')
      .that.deep.equals([
        { type: 'text', text: 't', cache: {} },
        {
          type: 'image',
          source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' },
          detail: 'low',
          cache: { ttl: '30m' },
        },
        { type: 'image', source: { kind: 'url', url: 'https://a/i.png' } },
        { type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data: 'BBBB' }, format: 'wav' },
        { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'CCCC' }, filename: 'a.pdf' },
        { type: 'file', source: { kind: 'id', id: 'file-1', api: 'responses' } },
        { type: 'file', source: { kind: 'data', mediaType: 'application/octet-stream', data: 'DDDD' } },
        { type: 'opaque', protocol: 'chat', value: video },
      ])
  })

  it('mark their last part when they are marked themselves', () => {
    const [message] = parsed({ role: 'user', content: 'a', cache_control: { ttl: '5m' } })
    expect(message)
      .to.have.property('content')
      .that.deep.equals([{ type: 'text', text: 'a', cache: { ttl: '5m' } }])
  })

  it('of the assistant become what was said and what was called', () => {
    const custom = { id: 'b', type: 'custom', custom: { name: 'c', input: 'raw' } }
    expect(
      parsed(
        { role: 'assistant', content: 'a', refusal: 'no', tool_calls: [call('a', 'f', '{"x":1}'), custom] },
        { role: 'tool', tool_call_id: 'b', content: 'r' },
      ),
    ).to.deep.equal([
      { type: 'message', role: 'assistant', content: [text('a'), { type: 'refusal', text: 'no' }] },
      { type: 'call', kind: 'function', callId: 'a', name: 'f', input: '{"x":1}' },
      { type: 'call', kind: 'custom', callId: 'b', name: 'c', input: 'raw' },
      { type: 'result', kind: 'custom', callId: 'b', content: [text('r')] },
    ])
  })

  it('of the assistant without a word are still messages', () => {
    expect(parsed({ role: 'assistant', content: null })).to.deep.equal([
      { type: 'message', role: 'assistant', content: [] },
    ])
    expect(parsed({ role: 'assistant', content: '', tool_calls: [call('a')] })).to.deep.equal([
      { type: 'call', kind: 'function', callId: 'a', name: 'f', input: '{}' },
    ])
  })

  it('cite where their annotations say', () => {
    const nested = {
      type: 'url_citation',
      url_citation: { url: 'https://a', title: 't', start_index: 0, end_index: 1 },
    }
    const other = { type: 'file_citation', file_id: 'f' }
    const [message] = parsed({ role: 'assistant', content: 'a', annotations: [nested, other] })
    expect(message)
      .to.have.nested.property('content[0].annotations')
      .that.deep.equals([
        { type: 'url', url: 'https://a', title: 't', start: 0, end: 1 },
        { type: 'opaque', protocol: 'chat', value: other },
      ])
  })

  it('cite once, however many their parts', () => {
    const annotation = { type: 'file_citation', file_id: 'f' }
    const content = ['a', 'b'].map((text) => ({ type: 'text', text }))
    const [message] = parsed({ role: 'assistant', content, annotations: [annotation] })
    expect(message?.type === 'message' && message.content).to.deep.equal([
      { type: 'text', text: 'a', annotations: [{ type: 'opaque', protocol: 'chat', value: annotation }] },
      { type: 'text', text: 'b' },
    ])
  })

  it('of the functions era are paired by name', () => {
    const items = parsed(
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'r' },
      { role: 'assistant', function_call: { name: 'f', arguments: '{"b":1}' } },
      { role: 'function', name: 'f', content: null },
    )
    expect(items).to.deep.equal([
      { type: 'call', kind: 'function', callId: 'function_call_0', name: 'f', input: '{}' },
      { type: 'result', kind: 'function', callId: 'function_call_0', content: [text('r')] },
      { type: 'call', kind: 'function', callId: 'function_call_2', name: 'f', input: '{"b":1}' },
      { type: 'result', kind: 'function', callId: 'function_call_2', content: [] },
    ])
  })

  it('of unknown roles are refused by their place', () => {
    const wrong = () => parsed({ role: 'user', content: 'x' }, { role: 'critic', content: 'x' })
    expect(wrong).to.throw(GatewayError).with.nested.property('failure.param', 'messages[1].role')
  })
})

describe('chat reasoning in the history', () => {
  const sealed = (data: string, place: [number, number], said = 'hm'): JsonObject => ({
    type: 'reasoning.text',
    text: said,
    signature: packSeal(origin, { kind: 'signature', data, parts: 1, place }),
  })
  const block = (data: string, said = 'hm') => ({
    type: 'reasoning',
    parts: [{ kind: 'text', text: said }],
    seal: { origin, kind: 'signature', data },
  })
  const called = (callId: string) => ({ type: 'call', kind: 'function', callId, name: 'f', input: '{}' })
  const said = (words: string) => ({ type: 'message', role: 'assistant', content: [text(words)] })

  it('of bare text comes first', () => {
    expect(parsed({ role: 'assistant', content: 'a', reasoning_content: 'hm' })).to.deep.equal([
      { type: 'reasoning', parts: [{ kind: 'text', text: 'hm' }] },
      said('a'),
    ])
    expect(parsed({ role: 'assistant', content: 'a', reasoning: 'hm' })[0]).to.deep.equal({
      type: 'reasoning',
      parts: [{ kind: 'text', text: 'hm' }],
    })
  })

  it('returns to its place among words and calls', () => {
    const redacted = {
      type: 'reasoning.encrypted',
      data: packSeal(origin, { kind: 'redacted', data: 'r', parts: 0, place: [2, 1] }),
    }
    const items = parsed({
      role: 'assistant',
      content: 'ab\n\ncd',
      tool_calls: [call('1'), call('2')],
      reasoning_content: 'hmhm',
      reasoning_details: [sealed('s1', [0, 0]), sealed('s2', [2, 0]), redacted, sealed('s3', [6, 1])],
    })
    expect(items).to.deep.equal([
      block('s1'),
      said('ab'),
      block('s2'),
      called('1'),
      { type: 'reasoning', parts: [], seal: { origin, kind: 'redacted', data: 'r' } },
      said('cd'),
      block('s3'),
      called('2'),
    ])
  })

  it('returns to very many places in linear time', () => {
    const many = 60_000
    const message = (length: number) => {
      const content = Array.from({ length }, () => ({ type: 'text', text: 'a' }))
      const details = content.map((_, at) => {
        const place = [at + 1, 0]
        return { type: 'reasoning.encrypted', data: packSeal('o', { kind: 'redacted', data: 'x', parts: 0, place }) }
      })
      return { role: 'assistant', content, reasoning_details: details }
    }
    expectLinear(many, message, (one) => parsed(one))
    const items = parsed(message(many))
    expect(items).to.have.length(2 * many)
    expect(items.slice(-2).map(({ type }) => type)).to.deep.equal(['message', 'reasoning'])
  })

  it('never loses words or calls, whatever place it claims', () => {
    const items = parsed({
      role: 'assistant',
      content: 'ab',
      tool_calls: [call('1')],
      reasoning_details: [sealed('s1', [99, 99])],
    })
    expect(items).to.deep.equal([said('ab'), called('1'), block('s1')])
  })
})
