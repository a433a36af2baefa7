import { expect } from 'chai'
import fc from 'fast-check'
import { parseVerbatim } from '../../../engine/json/parse.ts'
import { repeatedKey } from '../../../engine/json/reader.ts'
import { repeatsKey } from '../../../engine/json/repeats-key.ts'
import type { Json } from '../../../engine/spec/json.ts'

const scalar = fc.constantFrom('1', '1.0', '12345678901234567890', '"a"', '"\\"b\\":1"', 'null')
const key = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"1"', '"0"', '"__proto__"', '"rawJSON"')

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }).map((list) => `[${list.join()}]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, one]) => `${name} : ${one}`).join()}}`),
  ),
}))

describe('repeatsKey', () => {
  it('finds what the reader finds, whatever is around it', () => {
    let repeated = 0
    fc.assert(
      fc.property(value, (text) => {
        const expected = repeatedKey(text) !== undefined
        repeated += Number(expected)
        for (const verbatim of ['all', new Set<string>()] as const)
          expect(repeatsKey(text, parseVerbatim(text, verbatim) as Json), text).to.equal(expected)
      }),
      { numRuns: 3_000, seed: 7 },
    )
    expect(repeated).to.be.within(100, 2_900)
  })
})
