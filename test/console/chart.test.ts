import { expect } from 'chai'
import { axisTime, durationTick, minute } from '../../console/src/format.ts'
import { findingOf, linesTo } from '../../console/src/parts/series.ts'
import { intervalFor, intervalsOf } from '../../console/src/parts/intervals.ts'

describe('console/chart', () => {
  const at = (hours: number) => new Date(Date.UTC(2020, 0, 2, hours)).toISOString()
  const times = [at(0), at(1), at(2)]
  const series = (name: string, values: readonly (number | null)[]) => ({ name, color: '--series-1', values })
  const shown = { times, zone: 'utc' } as const

  it('says sums of parts and their highest interval', () => {
    const finding = findingOf({
      ...shown,
      series: [series('completed', [1000, 5000, 0]), series('refused', [0, 0, 0]), series('failed', [0, 412, null])],
      unit: 'count',
      stacked: true,
    })
    expect(finding).to.equal(`6,412 in all, 6,000 completed, 412 failed, highest 5,412 at ${minute(at(1), 'utc')}`)
  })

  it('says the highest of each line, and of those without values nothing', () => {
    const lines = [series('p50', [null, 20, 356]), series('p95', [null, 1200, 8420]), series('p99', [null, null, null])]
    expect(findingOf({ ...shown, series: lines, unit: 'duration', stacked: false })).to.equal(
      `p50 highest 356 ms at ${minute(at(2), 'utc')}, p95 highest 8.42 s at ${minute(at(2), 'utc')}`,
    )
  })

  it('says that there is nothing', () => {
    for (const stacked of [true, false])
      expect(findingOf({ ...shown, series: [series('completed', [0, null, 0])], unit: 'count', stacked })).to.equal(
        'No requests in this range',
      )
  })

  it('has every interval of a span, and begins with the one that holds its start', () => {
    expect(intervalsOf({ interval: '1h', since: '2020-01-02T00:30:00Z', until: '2020-01-02T03:00:00Z' })).to.deep.equal(
      times,
    )
    expect(intervalsOf({ interval: '5m', since: at(0), until: at(24) })).to.have.length(288)
    expect(intervalsOf({ interval: '1m', since: at(1), until: at(1) })).to.deep.equal([])
  })

  it('has intervals that make bars wide enough to be seen', () => {
    const spans = [0.25, 1, 6, 24, 7 * 24, 30 * 24, 400 * 24].map((hours) => intervalFor(hours * 3_600_000))
    expect(spans).to.deep.equal(['1m', '1m', '5m', '1h', '1h', '1d', '1d'])
  })

  it('has at most five lines, of which the highest is above all values, at figures that are easily read', () => {
    expect(linesTo(5412, 4, true)).to.deep.equal([0, 1500, 3000, 4500, 6000])
    expect(linesTo(2.36, 4, false)).to.deep.equal([0, 0.6, 1.2, 1.8, 2.4])
    expect(linesTo(0.00031, 4, false)).to.deep.equal([0, 0.00008, 0.00016, 0.00024, 0.00032])
    expect([1, 3, 4, 5, 100].map((highest) => linesTo(highest, 4, true))).to.deep.equal([
      [0, 1],
      [0, 1, 2, 3],
      [0, 1, 2, 3, 4],
      [0, 2, 4, 6],
      [0, 25, 50, 75, 100],
    ])
    expect(linesTo(0, 4, true)).to.deep.equal([0, 1])
  })

  it('has units at the ticks, and days where ticks are days apart', () => {
    expect([0, 250, 1200, 24_000].map(durationTick)).to.deep.equal(['0', '250 ms', '1.2 s', '24 s'])
    expect(axisTime(Date.parse(at(13)), 3_600_000, 'utc')).to.equal('13:00')
    const day = axisTime(Date.parse(at(0)), 3_600_000, 'utc')
    expect(day).not.to.contain(':')
    expect(axisTime(Date.parse(at(13)), 86_400_000, 'utc')).to.equal(day)
    expect(minute(at(13), 'utc', Date.parse(at(14)))).to.equal('13:00')
  })
})
