import { expect } from 'chai'
import { compileSchema, proveSchema } from '../../../engine/config/validate.ts'
import { budgetSchema, rateLimitSchema } from '../../../engine/kit/allowance.ts'
import { momentIn, timeText } from '../../../engine/json/moment.ts'

const accepts = (schema: object, value: unknown) => compileSchema(schema)(structuredClone(value))

describe('engine/spec/allowance', () => {
  it('accepts money in whole millionths, and nothing finer', () => {
    proveSchema(budgetSchema)
    for (const usd of [0, 0.000001, 0.1, 19.99, 123456.654321, 999_999_999.999999, 1_000_000_000])
      expect(accepts(budgetSchema, { usd }), String(usd)).to.equal(true)
    for (const usd of [-1, 0.0000001, 0.1234567, 1_000_000_001, '1', null])
      expect(accepts(budgetSchema, { usd }), String(usd)).to.equal(false)
    expect(accepts(budgetSchema, null)).to.equal(true)
    expect(accepts(budgetSchema, {})).to.equal(false)
    expect(accepts(budgetSchema, { usd: 1, period: 'year' })).to.equal(false)
  })

  it('accepts a rate limit of at least one kind, over 1 s to 30 d', () => {
    proveSchema(rateLimitSchema)
    for (const limit of [null, { requests: 1 }, { tokens: 5, requests: null }, { concurrency: 2, period: '1s' }])
      expect(accepts(rateLimitSchema, limit), JSON.stringify(limit)).to.equal(true)
    for (const limit of [{}, { requests: null }, { period: '60s' }, { requests: 0 }, { requests: 1.5 }, { size: 1 }])
      expect(accepts(rateLimitSchema, limit), JSON.stringify(limit)).to.equal(false)
    for (const period of ['999ms', '31d', '0s', 'soon'])
      expect(accepts(rateLimitSchema, { requests: 1, period }), period).to.equal(false)
    expect(accepts(rateLimitSchema, { requests: 1, period: '720h' })).to.equal(true)
  })
})

describe('engine/json/moment', () => {
  it('reads a date and time with any offset, and no other text', () => {
    expect(momentIn('2026-11-22T04:56:23.123456Z')).to.equal(Date.UTC(2026, 10, 22, 4, 56, 23, 123))
    expect(momentIn('2028-02-29t00:00:00-05:30')).to.equal(Date.UTC(2028, 1, 29, 5, 30))
    for (const text of ['2026-02-29T00:00:00Z', '2026-11-22', '2026-11-22T04:56:23', '2026-11-22 04:56:23Z', '1', ''])
      expect(momentIn(text), text).to.equal(undefined)
    expect(timeText(0)).to.equal('1970-01-01T00:00:00.000Z')
  })
})
