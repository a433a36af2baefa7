import { expect } from 'chai'
import { traceContext } from '../../../engine/telling/trace-context.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const stateOf = (tracestate: string) => traceContext({ traceparent, tracestate })?.tracestate

describe('trace context', () => {
  it('is what the client says, as the standard has it', () => {
    expect(traceContext({ traceparent })).to.deep.equal({ traceparent })
    const tracestate = 'rojo=00f067aa0ba902b7,fw529a3039@dt=FfRzZzoO|a b'
    expect(traceContext({ traceparent, tracestate })).to.deep.equal({ traceparent, tracestate })
  })

  it('is nothing where the header is not right', () => {
    for (const wrong of [
      '',
      'x',
      traceparent.toUpperCase(),
      traceparent.slice(0, -1),
      `${traceparent} `,
      `${traceparent}-more`,
      `ff${traceparent.slice(2)}`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
      // It came twice.
      `${traceparent}, ${traceparent}`,
      `${traceparent}-${'x'.repeat(5_000)}`,
    ])
      expect(traceContext({ traceparent: wrong, tracestate: 'a=1' }), wrong).to.equal(undefined)
    expect(traceContext({ tracestate: 'a=1' })).to.equal(undefined)
  })

  it('of a version to come is passed on in the version that is known', () => {
    const later = `cc${traceparent.slice(2)}`
    expect(traceContext({ traceparent: later })).to.deep.equal({ traceparent })
    expect(traceContext({ traceparent: `${later}-what-comes` })).to.deep.equal({ traceparent })
    expect(traceContext({ traceparent: `${later}what-comes` })).to.equal(undefined)
  })

  it('keeps a state that is right, and leaves a wrong one out', () => {
    expect(stateOf(' a=1 ,\t b=2,,')).to.equal('a=1,b=2')
    const many = Array.from({ length: 32 }, (_, index) => `k${index}=v`)
    expect(stateOf(many.join(','))).to.equal(many.join(','))
    for (const wrong of [
      '',
      'a',
      'a=',
      'A=1',
      '@a=1',
      'a=1=2',
      'a=ü',
      'a=1,a=2',
      'a b=1',
      [...many, 'one=more'].join(','),
      `a=${'x'.repeat(257)}`,
      `${'a'.repeat(257)}=1`,
    ])
      expect(traceContext({ traceparent, tracestate: wrong }), wrong).to.deep.equal({ traceparent })
  })
})
