import { expect } from 'chai'
import * as fc from 'fast-check'
import { packSeal } from '../../../../engine/kit.ts'
import type { Reasoning } from '../../../../engine/index.ts'
import { parseDetails, printDetails } from '../../../../plugins/protocols/chat/details.ts'
import type { Offset } from '../../../../plugins/protocols/chat/details.ts'
import { origin } from './support.ts'

function block(fields: Partial<Reasoning>): Reasoning {
  return { type: 'reasoning', parts: [], ...fields }
}

describe('chat reasoning details', () => {
  it('carry a signature on the text it proves', () => {
    const item = block({ parts: [{ kind: 'text', text: 'hm' }], seal: { kind: 'signature', data: 's1' } })
    const signature = packSeal(origin, { kind: 'signature', data: 's1', parts: 1, place: [0, 2] })
    expect(printDetails(item, [0, 2], 3, origin)).to.deep.equal([
      { type: 'reasoning.text', text: 'hm', index: 3, signature },
    ])
  })

  it('carry what has no readable text as an entry of its own', () => {
    const item = block({ id: 'rs_1', parts: [{ kind: 'summary', text: 'a' }], seal: { kind: 'encrypted', data: 'e' } })
    const data = packSeal(origin, { kind: 'encrypted', data: 'e', id: 'rs_1', parts: 1, place: [0, 0] })
    expect(printDetails(item, [0, 0], 0, origin)).to.deep.equal([
      { type: 'reasoning.summary', summary: 'a', index: 0 },
      { type: 'reasoning.encrypted', data, index: 1 },
    ])
  })

  it('leave out what nobody sealed', () => {
    expect(printDetails(block({ parts: [{ kind: 'text', text: 'hm' }] }), [0, 0], 0, origin)).to.deep.equal([])
  })

  it('of a client that spoke to an upstream itself have no origin', () => {
    const native = [
      { type: 'reasoning.text', text: 'hm', signature: 'native', index: 0 },
      { type: 'reasoning.encrypted', data: 'cipher', index: 1 },
      { type: 'reasoning.text', text: 'loose', signature: null, index: 2 },
    ]
    expect(parseDetails(native).map(({ reasoning }) => reasoning)).to.deep.equal([
      { type: 'reasoning', parts: [{ kind: 'text', text: 'hm' }], seal: { kind: 'signature', data: 'native' } },
      { type: 'reasoning', parts: [], seal: { kind: 'encrypted', data: 'cipher' } },
      { type: 'reasoning', parts: [{ kind: 'text', text: 'loose' }] },
    ])
  })

  it('stay apart from readable text that nobody sealed', () => {
    const sealed = block({ parts: [{ kind: 'text', text: 'hm' }], seal: { kind: 'signature', data: 's1' } })
    const entries = [{ type: 'reasoning.text', text: 'loose' }, ...printDetails(sealed, [3, 0], 0, origin)]
    expect(parseDetails(entries)).to.deep.equal([
      { reasoning: block({ parts: [{ kind: 'text', text: 'loose' }] }), place: [0, 0] },
      { reasoning: { ...sealed, seal: { origin, kind: 'signature', data: 's1' } }, place: [3, 0] },
    ])
  })

  it('survive a packed value of another shape', () => {
    const data = packSeal(origin, { something: 'else' })
    expect(parseDetails([{ type: 'reasoning.encrypted', data }, { type: 'odd' }])).to.deep.equal([])
  })

  it('give every block back as it was, in order', () => {
    const part = fc.record({ kind: fc.constantFrom('summary' as const, 'text' as const), text: fc.string() })
    const seal = fc.record({
      kind: fc.constantFrom('signature' as const, 'redacted' as const, 'encrypted' as const),
      data: fc.string(),
    })
    const item = fc.record({ type: fc.constant('reasoning' as const), parts: fc.array(part, { maxLength: 3 }), seal })
    const place = fc.tuple(fc.nat(99), fc.nat(9))
    fc.assert(
      fc.property(fc.array(fc.tuple(item, place)), (blocks: [Reasoning, Offset][]) => {
        const entries = blocks.flatMap(([reasoning, at], index) => printDetails(reasoning, at, index * 10, origin))
        const back = parseDetails(entries)
        const expected = blocks.map(([reasoning, at]) => ({
          reasoning: { ...reasoning, seal: { origin, ...reasoning.seal } },
          place: at,
        }))
        expect(back).to.deep.equal(expected)
      }),
    )
  })
})
