import { expect } from 'chai'
import { packSeal } from '../../../../engine/kit.ts'
import type { Reasoning } from '../../../../engine/index.ts'
import { clientThinking, parseThinking, upstreamThinking } from '../../../../plugins/protocols/messages/thinking.ts'
import type { ThinkingBlock } from '../../../../plugins/protocols/messages/wire.ts'

const seal = { origin: 'a/b', kind: 'encrypted', data: 'E' } as const

describe('messages: thinking', () => {
  const items: [string, Reasoning][] = [
    ['one summary', { type: 'reasoning', parts: [{ kind: 'summary', text: 'one' }], seal }],
    ['an id', { type: 'reasoning', id: 'rs_1', parts: [], seal }],
    ['raw text', { type: 'reasoning', parts: [{ kind: 'text', text: 'raw' }], seal: { ...seal, kind: 'signature' } }],
    [
      'several parts, empty and with blank lines',
      {
        type: 'reasoning',
        parts: [
          { kind: 'summary', text: 'a\n\nb' },
          { kind: 'summary', text: '' },
          { kind: 'text', text: 'c' },
        ],
        seal,
      },
    ],
    ['nothing to read', { type: 'reasoning', parts: [], seal: { ...seal, kind: 'redacted' } }],
    ['a signature alone', { type: 'reasoning', parts: [], seal: { ...seal, kind: 'signature' } }],
  ]
  for (const [name, item] of items)
    it(`comes back from a client: ${name}`, () => {
      const block = clientThinking(item, 'a/b')
      expect(block && parseThinking(block)).to.deep.equal(item)
    })

  it('has a signature that states its origin where there is no seal', () => {
    const item: Reasoning = { type: 'reasoning', parts: [{ kind: 'summary', text: 'one' }] }
    const block = clientThinking(item, 'a/b')
    const stated = { ...item, seal: { origin: 'a/b', kind: 'signature', data: '' } }
    expect(block && parseThinking(block)).to.deep.equal(stated)
  })

  it('shows nothing where there is nothing', () => {
    expect(clientThinking({ type: 'reasoning', parts: [] }, 'a/b')).to.equal(undefined)
  })

  it('takes a text that a client changed as one part', () => {
    const parts = [
      { kind: 'summary', text: 'a' },
      { kind: 'summary', text: 'b' },
    ] as const
    const block = clientThinking({ type: 'reasoning', parts, seal }, 'a/b') as ThinkingBlock
    expect(parseThinking({ ...block, thinking: 'other' }).parts).to.deep.equal([{ kind: 'summary', text: 'other' }])
  })

  it('takes a packed text that a client wrote itself as far as it makes sense', () => {
    for (const shape of ['x', [5], [['summary', -1]], [['other', 1]], [['summary', 'x']]]) {
      const signature = packSeal('a/b', { kind: 'encrypted', data: 'E', shape })
      expect(parseThinking({ type: 'thinking', thinking: 'one', signature })).to.deep.equal({
        type: 'reasoning',
        parts: [{ kind: 'summary', text: 'one' }],
        seal,
      })
    }
  })

  it('takes packed texts of another shape as foreign', () => {
    const signature = packSeal('a/b', { kind: 'strange', data: 'x' })
    expect(parseThinking({ type: 'thinking', thinking: '', signature }).seal).to.deep.equal({
      kind: 'signature',
      data: signature,
    })
  })

  it('goes upstream only to its origin, and only in the form that one made', () => {
    const item: Reasoning = {
      type: 'reasoning',
      parts: [{ kind: 'text', text: 't' }],
      seal: { origin: 'a/b', kind: 'signature', data: 's' },
    }
    expect(upstreamThinking(item, 'a/b')).to.deep.equal({ type: 'thinking', thinking: 't', signature: 's' })
    expect(upstreamThinking(item, 'a/c')).to.equal(undefined)
    expect(upstreamThinking({ ...item, seal }, 'a/b')).to.equal(undefined)
    expect(upstreamThinking({ type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'd' } }, 'a/b')).to.equal(
      undefined,
    )
  })
})
