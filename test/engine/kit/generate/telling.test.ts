import { expect } from 'chai'
import fc from 'fast-check'
import { Telling, fold, unfold } from '../../../../engine/kit.ts'
import type { GenerateEvent, GenerateReply } from '../../../../engine/index.ts'

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }

type Said = readonly ['text' | 'reasoning' | 'input', string] | readonly ['call', string]

function told(said: readonly Said[]): GenerateEvent[] {
  const telling = new Telling()
  const events = said.flatMap(([word, text]) => [
    ...(word === 'call' ? telling.call({ kind: 'function', callId: text, name: 'f' }) : telling[word](text)),
  ])
  return [...events, ...telling.finish('end', usage), ...telling.end()]
}

describe('telling an answer', () => {
  it('opens and closes what is said by itself', () => {
    expect(
      told([
        ['reasoning', 'hm'],
        ['text', 'a'],
        ['text', 'b'],
        ['call', 'c1'],
        ['input', '{}'],
        ['text', 'c'],
      ]),
    ).to.deep.equal([
      { type: 'start' },
      { type: 'item', index: 0, item: { type: 'reasoning', parts: [] } },
      { type: 'part', index: 0, kind: 'reasoning' },
      { type: 'delta', index: 0, text: 'hm' },
      { type: 'item-end', index: 0 },
      { type: 'item', index: 1, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 1, kind: 'text' },
      { type: 'delta', index: 1, text: 'a' },
      { type: 'delta', index: 1, text: 'b' },
      { type: 'item-end', index: 1 },
      { type: 'item', index: 2, item: { type: 'call', kind: 'function', callId: 'c1', name: 'f', input: '' } },
      { type: 'delta', index: 2, text: '{}' },
      { type: 'item-end', index: 2 },
      { type: 'item', index: 3, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 3, kind: 'text' },
      { type: 'delta', index: 3, text: 'c' },
      { type: 'item-end', index: 3 },
      { type: 'finish', stop: 'end', usage },
    ])
  })

  it('amounts to the same answer whatever is said, in whichever order', () => {
    const words = fc.oneof(
      fc.tuple(fc.constantFrom('text' as const, 'reasoning' as const, 'input' as const), fc.string()),
      fc.tuple(fc.constant('call' as const), fc.string({ minLength: 1 })),
    )
    fc.assert(
      fc.property(fc.array(words), (said) => {
        const reply: GenerateReply = fold(told(said))
        expect(fold(unfold(reply))).to.deep.equal(reply)
        const spoken = (word: string) => said.flatMap(([one, text]) => (one === word ? [text] : [])).join('')
        const texts = reply.items.flatMap((item) => (item.type === 'message' ? item.content : []))
        expect(texts.map((part) => ('text' in part ? part.text : '')).join('')).to.equal(spoken('text'))
        expect(reply.items.filter(({ type }) => type === 'call')).to.have.length(
          said.filter(([word]) => word === 'call').length,
        )
      }),
    )
  })

  it('begins and fails by itself where it was cut short', () => {
    const types = (events: Iterable<GenerateEvent>) => [...events].map(({ type }) => type)
    expect(types(new Telling().end())).to.deep.equal(['start', 'failure'])
    const begun = new Telling()
    expect([...begun.start({ model: 'm' })]).to.deep.equal([{ type: 'start', model: 'm' }])
    expect(types(begun.text(''))).to.deep.equal(['item', 'part'])
    expect(types(begun.end())).to.deep.equal(['failure'])
    expect(types(begun.end())).to.deep.equal([])
  })
})
