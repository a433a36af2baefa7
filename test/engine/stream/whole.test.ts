import { expect } from 'chai'
import { Hold, WholeFrames, byteBudgetOf } from '../../../engine/kit.ts'

/** What is passed on of a stream that comes in these pieces, and what is left at its end. */
function passed(...pieces: readonly string[]): { told: string[]; rest: string | undefined } {
  const whole = new WholeFrames()
  const told = pieces.flatMap((piece) =>
    whole.push(Buffer.from(piece)).map(({ bytes }) => Buffer.from(bytes).toString()),
  )
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

  it('waits for the end of a large event', () => {
    const large = 'x'.repeat(300_000)
    const { told, rest } = passed('data: ', large, 'y\n\nda')
    expect(told).to.deep.equal([`data: ${large}y\n\n`])
    expect(rest).to.equal('da')
  })

  it('passes an event on as it arrives when there is no room for it, and the others whole', () => {
    const large = 'x'.repeat(20)
    for (const ending of ['\n', '\r\n', '\r'])
      for (const room of [{ limit: 10 }, { limit: 100, hold: new Hold(byteBudgetOf(10)) }]) {
        const events = ['data: a', '', `data: ${large}`, '', 'data: b', '', 'data: c', '', ''].join(ending)
        for (let at = 0; at <= events.length; at++) {
          const whole = new WholeFrames(room)
          const told = [events.slice(0, at), events.slice(at)].flatMap((piece) => [...whole.push(Buffer.from(piece))])
          const texts = told.map(({ bytes }) => Buffer.from(bytes).toString())
          expect(texts.join('') + Buffer.from(whole.rest() ?? []).toString(), `cut at ${at}`).to.equal(events)
          expect(whole.inside, `cut at ${at}`).to.equal(false)
          for (const [index, { part }] of told.entries())
            if (part === 'whole')
              expect(texts[index], `cut at ${at}`).to.match(/^\n?(data: (a|b|c|x{20})(\n\n|\r\n\r\n?|\r\r)|\n)+$/)
        }
      }
  })

  it('says whether it broke off inside a large event, and holds nothing of it', () => {
    const budget = byteBudgetOf(30)
    const whole = new WholeFrames({ limit: 100, hold: new Hold(budget) })
    expect(whole.push(Buffer.from('data: a\n\ndata: bc'))).to.have.length(1)
    expect([whole.inside, budget.take(23)]).to.deep.equal([false, false])
    expect(whole.push(Buffer.alloc(40, 'x'))).to.have.length(1)
    expect([whole.inside, whole.rest()]).to.deep.equal([true, undefined])
    expect(budget.take(30)).to.equal(true)
  })

  it('keeps bytes of its own', () => {
    const whole = new WholeFrames()
    const bytes = Buffer.from('data: a')
    whole.push(bytes)
    bytes.fill(0)
    expect(Buffer.from(whole.rest() ?? []).toString()).to.equal('data: a')
  })
})
