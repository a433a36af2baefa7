import { expect } from 'chai'
import { mergePatch, patchSchema } from '../../../engine/json/merge-patch.ts'
import { compileSchema } from '../../../engine/config/validate.ts'
import { budgetSchema } from '../../../engine/kit/allowance.ts'
import type { Json } from '../../../engine/index.ts'

/** RFC 7396, appendix A: the original, the patch, the result. */
const examples: readonly (readonly [Json, Json, Json])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

describe('merge patches', () => {
  for (const [value, patch, result] of examples)
    it(`${JSON.stringify(patch)} makes ${JSON.stringify(result)} of ${JSON.stringify(value)}`, () => {
      expect(mergePatch(value, patch)).to.deep.equal(result)
    })

  it('make a member of a prototype a member like any other', () => {
    expect(mergePatch({}, JSON.parse('{"__proto__": {"a": 1}}') as Json)).to.have.own.property('__proto__')
  })

  it('are checked without what they may leave out, and know no other members', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: { type: 'string' },
        size: { enum: ['small', 'large'], default: 'small' },
        budget: budgetSchema,
        tags: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
      },
    }
    const valid = compileSchema(patchSchema(schema))
    const patch = { budget: { usd: 2 } }
    expect(valid(patch)).to.equal(true)
    expect(patch, 'nothing is filled in').to.deep.equal({ budget: { usd: 2 } })
    for (const good of [
      {},
      { size: null },
      { budget: null },
      { budget: { period: null } },
      { budget: { period: 'day' } },
      { tags: { a: null, b: 'c' } },
    ])
      expect(valid(good), JSON.stringify(good)).to.equal(true)
    for (const bad of [
      { name: null },
      { other: null },
      { size: 'huge' },
      { budget: { other: null } },
      { budget: { usd: -1 } },
      { budget: { usd: null } },
      { tags: { a: 1 } },
    ])
      expect(valid(bad), JSON.stringify(bad)).to.equal(false)
  })
})
