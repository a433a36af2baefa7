import { expect } from 'chai'
import { duration } from '../../../engine/index.ts'

describe('duration', () => {
  it('reads a whole number and a unit as milliseconds', () => {
    const texts = ['0ms', '250ms', '60s', '5m', '1h', '1d']
    expect(texts.map(duration)).to.deep.equal([0, 250, 60_000, 300_000, 3_600_000, 86_400_000])
  })

  it('refuses anything else', () => {
    for (const text of ['', '5', 's', '1.5s', '-1s', ' 1s', '1s ', '1w', '1S', '1m30s']) {
      expect(() => duration(text), text).to.throw(RangeError)
    }
  })
})
