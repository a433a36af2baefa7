import { expect } from 'chai'
import fc from 'fast-check'
import { FrameDecoder, Hold, byteBudgetOf } from '../../../engine/kit.ts'
import type { GatewayError } from '../../../engine/index.ts'
import { JsonLines } from '../../../plugins/translation/json-lines.ts'

/** The data of the events of a stream that arrives in pieces. */
function read(pieces: readonly Uint8Array[], lines = new JsonLines()): readonly string[] {
  const decoder = new FrameDecoder()
  const bytes = [...pieces.map((piece) => lines.data(piece)), lines.end()]
  return bytes.flatMap((one) => (one ? decoder.push(one) : [])).map(({ data }) => data)
}

describe('lines of JSON', () => {
  it('are events, however they are cut', () => {
    const texts = fc.array(fc.json({ stringUnit: 'grapheme' }))
    fc.assert(
      fc.property(texts, fc.constantFrom('\n', '\r\n', '\n\n \n'), fc.boolean(), fc.nat(), (given, end, ended, cut) => {
        const all = Buffer.from(given.join(end) + (ended ? end : ''))
        const at = cut % (all.length + 1)
        expect(read([all.subarray(0, at), all.subarray(at)])).to.deep.equal(given)
        expect(read(Array.from(all, (byte) => Uint8Array.of(byte)))).to.deep.equal(given)
      }),
    )
  })

  it('fail where one is too long, or where there is no room for it', () => {
    const refusal = (run: () => unknown) => {
      try {
        run()
      } catch (error) {
        return (error as GatewayError).code
      }
      return undefined
    }
    const lines = new JsonLines({ limit: 10 })
    expect(read([Buffer.from('12345678\n')], lines)).to.deep.equal(['12345678'])
    expect(refusal(() => lines.data(Buffer.from('"a long one"')))).to.equal('upstream_invalid_response')
    const budget = byteBudgetOf(8)
    const held = new JsonLines({ limit: 100, hold: new Hold(budget) })
    expect(refusal(() => held.data(Buffer.from('123456789')))).to.equal('overloaded')
  })
})
