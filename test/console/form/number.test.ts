import { expect } from 'chai'
import { numberOf } from '../../../console/src/format.ts'

describe('console/form: a number that somebody types', () => {
  it('has commas between its thousands, or one before its decimals', () => {
    const typed = { '1,000': 1000, '67,108,864': 67_108_864, '1,000.5': 1000.5, ' 12 ': 12, '-1,000': -1000 }
    for (const [text, number] of Object.entries(typed)) expect(numberOf(text), text).to.equal(number)
    for (const [text, number] of Object.entries({ '0,5': 0.5, '12,5': 12.5, '0,125': 0.125, '1e3': 1000 }))
      expect(numberOf(text), text).to.equal(number)
  })

  it('is none where it cannot be read', () => {
    for (const text of ['-', 'many', '1,00,000', '1.000,5', '1,000,00'])
      expect(Number.isNaN(numberOf(text)), text).to.equal(true)
  })
})
