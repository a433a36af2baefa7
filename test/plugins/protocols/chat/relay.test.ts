import { expect } from 'chai'
import chat from '../../../../plugins/protocols/chat/codec.ts'
import { asked } from './support.ts'

const closed = (choices: readonly object[]) =>
  chat.close?.(asked(), { data: JSON.stringify({ id: 'c', choices }) }).map(({ data }) => data)

describe('a chat stream that is passed on', () => {
  it('hides the chunk of usage that its client did not ask for, and no other', () => {
    const hidden = (asks: object, chunk: object) =>
      chat.relay?.hides?.({ stream: true, ...asks })?.is({ data: JSON.stringify(chunk) })
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    expect(hidden({}, { choices: [], usage })).to.equal(true)
    expect(hidden({}, { usage })).to.equal(true)
    expect(hidden({}, { choices: [{ index: 0, delta: {} }], usage })).to.equal(false)
    expect(hidden({}, { choices: [], usage, error: { message: 'no' } })).to.equal(false)
    expect(hidden({ stream_options: { include_usage: true } }, { choices: [], usage })).to.equal(undefined)
  })

  it('gets the finish that its last chunk lacks', () => {
    const finish = (finish_reason: string) =>
      JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason }] })
    expect(closed([{ index: 0, delta: { content: 'Hi' } }])).to.deep.equal([finish('stop'), '[DONE]'])
    const calls = { tool_calls: [{ index: 0, function: { arguments: '}' } }] }
    expect(closed([{ index: 0, delta: calls, finish_reason: null }])).to.deep.equal([finish('tool_calls'), '[DONE]'])
  })

  it('gets none after a finish, and after what follows one', () => {
    for (const choices of [
      [{ index: 0, delta: {}, finish_reason: 'length' }],
      [],
      [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 44 } }],
    ])
      expect(closed(choices)).to.deep.equal([])
    expect(chat.close?.(asked(), { data: '[DONE]' })).to.deep.equal([])
    expect(chat.close?.(asked())).to.deep.equal([])
  })
})
