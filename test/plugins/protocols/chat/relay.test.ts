import { expect } from 'chai'
import chat from '../../../../plugins/protocols/chat/codec.ts'
import { asked } from './support.ts'

const closed = (choices: readonly object[]) =>
  chat.close?.(asked(), { data: JSON.stringify({ id: 'c', choices }) }).map(({ data }) => data)

describe('a chat stream that is passed on', () => {
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
