import { expect } from 'chai'
import { flawsOf } from '../../../console/src/form/check.ts'
import { valueAt } from '../../../console/src/form/draft.ts'
import { fieldsOf } from '../../../console/src/form/schema.ts'
import type { Json, Schema } from '../../../console/src/form/schema.ts'

describe('console/form: what the browser finds wrong', () => {
  const budget: Schema = {
    type: ['object', 'null'],
    required: ['usd'],
    properties: { usd: { type: 'number', minimum: 0 } },
  }
  const flaws = (values: Json) =>
    flawsOf(fieldsOf({ properties: { budget } }), { valueOf: (path) => valueAt(values, path), isKept: () => false })

  it('is nothing inside of an object that is not set', () => {
    expect(flaws({})).to.deep.equal({})
    expect(flaws({ budget: null })).to.deep.equal({})
    expect(flaws({ budget: { usd: 1 } })).to.deep.equal({})
  })

  it('is what an object lacks that is set', () => {
    expect(Object.keys(flaws({ budget: {} }))).to.deep.equal(['budget.usd'])
    expect(Object.keys(flaws({ budget: { usd: -1 } }))).to.deep.equal(['budget.usd'])
  })
})
