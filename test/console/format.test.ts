import { expect } from 'chai'
import fc from 'fast-check'
import {
  ahead,
  bytes,
  change,
  clock,
  count,
  duration,
  exactMoney,
  money,
  points,
  share,
  shortId,
  tick,
} from '../../console/src/format.ts'
import { csvOf } from '../../console/src/parts/csv.ts'

describe('console/format', () => {
  it('groups counts, and shortens them from a million on', () => {
    expect([0, 184_203, 999_999, 1_240_000, 999_999_999, 2.5e9].map(count)).to.deep.equal([
      '0',
      '184,203',
      '999,999',
      '1.24 M',
      '1 G',
      '2.5 G',
    ])
    expect(count(null)).to.equal('—')
    expect([900, 4500, 412_000, 6_000_000].map(tick)).to.deep.equal(['900', '4.5 k', '412 k', '6 M'])
  })

  it('shows shares with two digits below ten per cent, and changes with a true minus', () => {
    expect([0, 0.0042, 0.4213, null].map(share)).to.deep.equal(['0 %', '0.42 %', '42.1 %', '—'])
    expect(points(0.0073, 0.0042)).to.equal('+0.31 pt')
    expect(change(97, 100)).to.equal('−3 %')
    expect(change(100, 100)).to.equal('0 %')
    expect(change(97, 0)).to.equal(undefined)
  })

  it('shows durations in the unit that rounding ends in', () => {
    const shown = [0.05, 0.996, 356, 999.7, 8420, 59_999, 125_000, undefined].map(duration)
    expect(shown).to.deep.equal(['0.05 ms', '0.996 ms', '356 ms', '1.00 s', '8.42 s', '1 min 0 s', '2 min 5 s', '—'])
  })

  it('never shows money as nothing that is more, and says what is not known', () => {
    expect([318.42, 0, 0.02246, 0.022455, -0.0391, 0.999999, null].map(money)).to.deep.equal([
      '$318.42',
      '$0.00',
      '$0.02246',
      '$0.02246',
      '−$0.0391',
      '$1.00',
      'unknown',
    ])
    const micros = fc.integer({ min: 1, max: 1e15 })
    fc.assert(fc.property(micros, (cost) => !/^\$[0.]+$/.test(money(cost / 1e6)) && !money(cost / 1e6).includes('e')))
    expect([0.022455, 1234.5, null].map(exactMoney)).to.deep.equal(['$0.022455', '$1,234.500000', 'unknown'])
  })

  it('shows times of other days with their date, in the zone that was chosen', () => {
    const now = Date.parse('2026-11-22T20:00:00Z')
    expect(clock('2026-11-22T12:41:07.482Z', 'utc', now)).to.equal('12:41:07.482')
    expect(clock('2026-11-21T00:00:00.000Z', 'utc', now)).to.match(/21.*2026.*, 00:00:00\.000$/)
  })

  it('says how far ahead a moment is', () => {
    const now = Date.parse('2026-11-22T20:00:00Z')
    const shown = ['20:00:05', '20:06:00', '23:30:00', '19:00:00'].map((time) => ahead(`2026-11-22T${time}Z`, now))
    expect([...shown, ahead('2026-12-01T00:00:00Z', now)]).to.deep.equal([
      'in 5 s',
      'in 6 min',
      'in 3 h',
      'in 0 s',
      'in 8 days',
    ])
  })

  it('shortens ids and sizes', () => {
    expect(shortId('0199c4d7-aaaa-7bbb-8ccc-00008b7a21ff')).to.equal('0199c4d7…21ff')
    expect(shortId('short')).to.equal('short')
    expect([999, 4100].map(bytes)).to.deep.equal(['999 B', '4.1 kB'])
  })

  it('writes CSV in which no text is a formula', () => {
    const rows = ['=1+1', '+1', '-1', '@x', '\tx', 'a,b', 'a"b', 'a\nb', 'plain'].map((text) => [text])
    expect(csvOf(['name'], rows)).to.equal(
      `name\r\n'=1+1\r\n'+1\r\n'-1\r\n'@x\r\n'\tx\r\n"a,b"\r\n"a""b"\r\n"a\nb"\r\nplain`,
    )
    expect(csvOf(['cost', 'model'], [[-0.5, null]])).to.equal('cost,model\r\n-0.5,')
  })
})
