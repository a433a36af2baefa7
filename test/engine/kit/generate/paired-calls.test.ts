import { expect } from 'chai'
import { PairedCalls } from '../../../../engine/kit.ts'
import type { Item, Message, ToolCall, ToolResult } from '../../../../engine/index.ts'

const call = (callId: string): ToolCall => ({ type: 'call', kind: 'function', callId, name: 'f', input: '{}' })
const result = (callId: string): ToolResult => ({ type: 'result', kind: 'function', callId, content: [] })
const message = (role: Message['role']): Message => ({ type: 'message', role, content: [] })

/** Which result each call has, and which results have none, by their places among the items. */
function places(items: readonly Item[]) {
  const paired = new PairedCalls(items)
  const calls = items.flatMap((item) => (item.type === 'call' ? [paired.answer(item)?.at] : []))
  const orphans = items.flatMap((item, at) => (item.type === 'result' && !paired.call(item) ? [at] : []))
  return { calls, orphans }
}

describe('paired calls', () => {
  it('take results in the order of the calls of a turn', () => {
    expect(places([call('a'), call('a'), result('a'), result('a')])).to.deep.equal({ calls: [2, 3], orphans: [] })
  })

  it('take the result of their own turn where an earlier one with the same id was never answered', () => {
    const items = [call('a'), message('user'), call('a'), result('a')]
    expect(places(items)).to.deep.equal({ calls: [undefined, 3], orphans: [] })
    expect(places([...items, result('a')])).to.deep.equal({ calls: [4, 3], orphans: [] })
  })

  it('go on in one turn over what the assistant says', () => {
    const items = [call('a'), message('assistant'), call('a'), result('a'), result('a')]
    expect(places(items)).to.deep.equal({ calls: [3, 4], orphans: [] })
  })

  it('leave results without a call, and those beyond the calls, to themselves', () => {
    const items = [result('a'), call('a'), result('a'), result('a'), result('b')]
    expect(places(items)).to.deep.equal({ calls: [2], orphans: [0, 3, 4] })
  })

  it('have ids that no two of them share and every protocol accepts', () => {
    const items = ['a', 'a_2', 'a', 'a', 'not legal', 'not legal'].map(call)
    const paired = new PairedCalls(items)
    const ids = items.map((item) => paired.id(item))
    expect(new Set(ids).size).to.equal(items.length)
    for (const id of ids) expect(id).to.match(/^[\w-]{1,64}$/)
    expect(ids[0]).to.equal('a')
  })
})
