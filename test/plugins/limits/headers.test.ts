import { expect } from 'chai'
import { durationText } from '../../../plugins/limits/headers.ts'

describe('limits/headers', () => {
  it('write durations as the vendor does, rounded up before the unit is chosen', () => {
    const written = [0, 12, 0.1, 999.5, 1_000, 6_450, 59_900, 59_901, 59_950, 60_000, 119_001, 3_599_001, 3_723_000]
    expect(written.map(durationText)).to.deep.equal([
      '0ms',
      '12ms',
      '1ms',
      '1s',
      '1s',
      '6.5s',
      '59.9s',
      '1m0s',
      '1m0s',
      '1m0s',
      '2m0s',
      '1h0m0s',
      '1h2m3s',
    ])
  })
})
