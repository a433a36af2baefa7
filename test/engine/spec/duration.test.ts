import { expect } from 'chai'
import { duration } from '../../../engine/kit.ts'
import { printDuration } from '../../../engine/spec/duration.ts'

describe('duration', () => {
  it('reads a whole number and a unit as milliseconds', () => {
    const texts = ['0ms', '250ms', '60s', '5m', '1h', '1d']
    expect(texts.map(duration)).to.deep.equal([0, 250, 60_000, 300_000, 3_600_000, 86_400_000])
  })

  it('prints milliseconds as the shortest such text', () => {
    const texts = ['0ms', '250ms', '1500ms', '90s', '1m', '1h', '2d']
    expect(texts.map((text) => printDuration(duration(text)))).to.deep.equal(texts)
    expect(printDuration(60_000)).to.equal('1m')
  })

  it('refuses anything else', () => {
    for (const text of ['', '5', 's', '1.5s', '-1s', ' 1s', '1s ', '1w', '1S', '1m30s']) {
      expect(() => duration(text), text).to.throw(RangeError)
    }
  })
})
