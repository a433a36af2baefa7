import { expect } from 'chai'
import fc from 'fast-check'
import type { GenerateEvent, GenerateReply, Item, Part } from '../../../engine/index.ts'
import { Fold, fold, unfold } from '../../../engine/kit.ts'

const text = fc.string({ minLength: 1 })
const message = fc
  .array(
    fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: fc.string() }),
      fc.record({ type: fc.constant('refusal' as const), text: fc.string() }),
      fc.record({
        type: fc.constant('text' as const),
        text,
        annotations: fc.constant([{ type: 'url' as const, url: 'u', title: 't', start: 0, end: 1 }]),
      }),
    ),
  )
  .map((content): Item => ({ type: 'message', role: 'assistant', content: content as Part[] }))
const reasoning = fc
  .record({
    parts: fc.array(fc.record({ kind: fc.constantFrom('summary' as const, 'text' as const), text: fc.string() })),
    sealed: fc.boolean(),
  })
  .map(({ parts, sealed }): Item => ({
    type: 'reasoning',
    parts,
    ...(sealed ? { seal: { kind: 'signature', data: 's' } } : {}),
  }))
const call = fc
  .record({ callId: text, name: text, input: fc.string() })
  .map((value): Item => ({ type: 'call', kind: 'function', ...value }))
const opaque = fc.constant<Item>({ type: 'opaque', protocol: 'p', value: { type: 'search' } })
const reply = fc.array(fc.oneof(message, reasoning, call, opaque)).map((items): GenerateReply => ({
  id: 'a',
  model: 'm',
  created: 1,
  items,
  stop: 'tool',
  usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 },
}))

describe('fold and unfold', () => {
  it('fold undoes unfold, for any answer', () => {
    fc.assert(
      fc.property(reply, (whole) => {
        expect(fold(unfold(whole))).to.deep.equal(whole)
      }),
    )
  })

  it('takes as many log probabilities as come at once', () => {
    const logprobs = Array.from({ length: 200_000 }, () => ({ token: 'a', logprob: 0 }))
    const { items } = fold([
      { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'part', index: 0, kind: 'text' },
      { type: 'delta', index: 0, text: 'a', logprobs },
    ])
    expect(items).to.have.nested.property('[0].content[0].logprobs').that.has.length(200_000)
  })

  it('assembles calls whose pieces interleave', () => {
    const folded = new Fold()
    const piece = (index: number, input: string): GenerateEvent => ({ type: 'delta', index, text: input })
    for (const index of [0, 1])
      folded.add({
        type: 'item',
        index,
        item: { type: 'call', kind: 'function', callId: `c${index}`, name: 'f', input: '' },
      })
    for (const event of [piece(0, '{"a"'), piece(1, '{}'), piece(0, ':1}')]) folded.add(event)
    expect(folded.items().map((item) => item.type === 'call' && item.input)).to.deep.equal(['{"a":1}', '{}'])
  })

  it('throws the failure a stream ends with, and refuses text for an item that never opened', () => {
    const failure = { status: 503, code: 'busy', type: 'server_error', message: 'no room', param: null }
    expect(() => fold([{ type: 'start' }, { type: 'failure', failure }]))
      .to.throw('no room')
      .with.nested.property('failure.status', 503)
    expect(() => fold([{ type: 'delta', index: 3, text: 'x' }])).to.throw('item 3 was never opened')
  })
})
