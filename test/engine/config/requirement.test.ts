import { expect } from 'chai'
import { requirement } from '../../../engine/config/requirement.ts'

describe('spec/requirement', () => {
  const sentences: [keyword: string, params: Record<string, unknown>, sentence: string][] = [
    ['type', { type: 'string' }, 'must be a string'],
    ['type', { type: 'integer' }, 'must be an integer'],
    ['type', { type: ['object', 'array', 'null'] }, 'must be an object or an array or null'],
    ['enum', { allowedValues: ['a', 1, null] }, 'must be one of "a", 1, null'],
    ['const', { allowedValue: 'x' }, 'must be "x"'],
    ['pattern', { pattern: '^a$' }, 'does not have the required form'],
    ['minimum', { limit: 0 }, 'must be at least 0'],
    ['maximum', { limit: 9 }, 'must be at most 9'],
    ['exclusiveMinimum', { limit: 0 }, 'must be more than 0'],
    ['minLength', { limit: 1 }, 'must not be empty'],
    ['minLength', { limit: 4 }, 'must have at least 4 characters'],
    ['maxLength', { limit: 64 }, 'must have at most 64 characters'],
    ['minItems', { limit: 2 }, 'must have at least 2 items'],
    ['maxItems', { limit: 255 }, 'must have at most 255 items'],
    ['minProperties', { limit: 1 }, 'must not be empty'],
    ['maxProperties', { limit: 16 }, 'must have at most 16 members'],
    ['uniqueItems', { i: 0, j: 1 }, 'must not have the same item twice'],
  ]
  for (const [keyword, params, sentence] of sentences)
    it(`says what ${keyword} asks for: ${sentence}`, () =>
      expect(requirement({ keyword, params, message: 'is told otherwise' })).to.equal(sentence))

  it('leaves the words of any other keyword as they are', () =>
    expect(requirement({ keyword: 'format', params: {}, message: 'must match format "uri"' })).to.equal(
      'must match format "uri"',
    ))
})
