import { expect } from 'chai'
import { GatewayError, WholeFrames } from '../../../engine/index.ts'

/** What is passed on of a stream that comes in these pieces, and what is left at its end. */
function passed(...pieces: readonly string[]): { told: string[]; rest: string | undefined } {
  const whole = new WholeFrames()
  const told = pieces.flatMap((piece) => {
    const bytes = whole.push(Buffer.from(piece))
    return bytes ? [Buffer.from(bytes).toString()] : []
  })
  const rest = whole.rest()
  return { told, rest: rest && Buffer.from(rest).toString() }
}

describe('WholeFrames', () => {
  it('passes whole events on as they come', () => {
    expect(passed('data: a\n\n', 'data: b\n\ndata: c\n\n')).to.deep.equal({
      told: ['data: a\n\n', 'data: b\n\ndata: c\n\n'],
      rest: undefined,
    })
  })

  it('keeps the beginning of an event until its end is there', () => {
    expect(passed('data: a\n\nda', 'ta: ', 'b\n', '\ndata: c')).to.deep.equal({
      told: ['data: a\n\n', 'data: b\n\n'],
      rest: 'data: c',
    })
  })

  for (const [name, ending] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' }))
    it(`finds the end of an event wherever it is cut, with ${name}`, () => {
      const events = ['event: a', 'data: 1', '', 'data: 2', '', ''].join(ending)
      for (let at = 0; at <= events.length; at++) {
        const { told, rest } = passed(events.slice(0, at), events.slice(at))
        expect(told.join('') + (rest ?? ''), `cut at ${at}`).to.equal(events)
        for (const text of told) expect(text, `cut at ${at}`).to.match(/(\n\n|\r\n\r\n?|\r\r|^\n)$/)
        if (name !== 'CRLF') expect(rest, `cut at ${at}`).to.equal(undefined)
      }
    })

  it('waits for the end of a large event, and refuses one of more than 64 MiB', () => {
    const large = 'x'.repeat(300_000)
    const { told, rest } = passed('data: ', large, 'y\n\nda')
    expect(told).to.deep.equal([`data: ${large}y\n\n`])
    expect(rest).to.equal('da')
    const whole = new WholeFrames()
    const piece = Buffer.alloc(8 * 1024 * 1024, 'x')
    for (let count = 0; count < 8; count++) expect(whole.push(piece)).to.equal(undefined)
    expect(() => whole.push(piece))
      .to.throw(GatewayError)
      .that.has.property('code', 'upstream_invalid_response')
    expect(whole.rest()).to.equal(undefined)
  })

  it('keeps bytes of its own', () => {
    const whole = new WholeFrames()
    const bytes = Buffer.from('data: a')
    whole.push(bytes)
    bytes.fill(0)
    expect(Buffer.from(whole.rest() ?? []).toString()).to.equal('data: a')
  })
})
