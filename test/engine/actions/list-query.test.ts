import { expect } from 'chai'
import fc from 'fast-check'
import { negated, readList, readQuery } from '../../../engine/actions/list-query.ts'
import type { ListKey } from '../../../engine/spec/query.ts'
import { GatewayError } from '../../../engine/spec/error.ts'

const params = (text: string) => new URLSearchParams(text)

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof GatewayError) return `${error.failure.status} ${error.code} ${error.failure.param}`
    throw error
  }
  return expect.fail('it was accepted')
}

describe('engine/http/list-query', () => {
  const filters = { owner: 'text', since: 'time', min: 'number', on: 'boolean', state: ['a', 'b'] } as const
  const options = { filters, sorts: ['name', 'age'], usualSort: '-age' }

  it('reads each kind of parameter', () => {
    const query = readQuery(
      params('owner=x&owner=y&since=2026-11-22T05:00:00%2B01:00&min=0.5&on=true&state=b'),
      filters,
    )
    expect(query.values('owner')).to.deep.equal(['x', 'y'])
    expect(query.time('since')).to.equal(Date.UTC(2026, 10, 22, 4))
    expect([query.number('min'), query.flag('on'), query.text('state')]).to.deep.equal([0.5, true, 'b'])
    expect([query.values('none'), query.time('until'), query.flag('off')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('has no default for what leaves out', () => {
    const open = { type: 'boolean', default: true, description: 'Whether it is open.' } as const
    expect(negated({ open })).to.deep.equal({
      not_open: { type: 'boolean', description: 'Leaves out what "open" asks for.' },
    })
  })

  it('refuses whatever a parameter does not accept', () => {
    for (const [text, expected] of [
      ['owners=x', '422 unknown_field owners'],
      ['constructor=x', '422 unknown_field constructor'],
      ['since=yesterday', '422 invalid_field since'],
      ['since=2026-02-30T00:00:00Z', '422 invalid_field since'],
      ['min=1&min=2', '422 invalid_field min'],
      ['min=-1', '422 invalid_field min'],
      ['on=yes', '422 invalid_field on'],
      ['state=a&state=c', '422 invalid_field state'],
      ['sort=size', '422 invalid_field sort'],
      ['limit=0', '422 invalid_field limit'],
      ['limit=201', '422 invalid_field limit'],
      ['limit=1.5', '422 invalid_field limit'],
      ['cursor=', '422 invalid_cursor cursor'],
      ['cursor=bm90aGluZw', '422 invalid_cursor cursor'],
    ] as const)
      expect(
        refusal(() => readList(params(text), options)),
        text,
      ).to.equal(expected)
  })

  it('binds a cursor to sort and filters, in any order of the parameters', () => {
    const first = readList(params('limit=1&state=a&owner=x'), options)
    const { next_cursor } = first.page([1, 2], (id) => [id, String(id)])
    const cursor = `cursor=${next_cursor}`
    expect(readList(params(`${cursor}&owner=x&state=a&limit=9`), options).after).to.deep.equal([2, '2'])
    for (const other of ['owner=x', 'owner=x&state=b', 'owner=x&state=a&sort=age'])
      expect(refusal(() => readList(params(`${cursor}&${other}`), options))).to.equal('422 invalid_cursor cursor')
  })

  it('gives each item once, in order, whatever the values', () => {
    const value = fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 3 }))
    const texts = fc.oneof(fc.constant(null), fc.constantFrom('', 'a', 'B', 'ä'))
    const keys = (values: fc.Arbitrary<number | string | null>) =>
      fc.uniqueArray(fc.tuple(values, fc.string({ maxLength: 3 })), { selector: ([, id]) => id, maxLength: 30 })
    fc.assert(
      fc.property(
        fc.oneof(keys(value), keys(texts)),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('age', '-age'),
        (items, limit, sort) => {
          const keyOf = (item: ListKey) => item
          const all = readList(params(`limit=200&sort=${sort}`), options).page(items, keyOf).data
          const paged: ListKey[] = []
          let cursor: string | null = ''
          while (cursor !== null) {
            const query = params(`limit=${limit}&sort=${sort}${cursor === '' ? '' : `&cursor=${cursor}`}`)
            const page = readList(query, options).page(items, keyOf)
            expect(page.data.length).to.be.at.most(limit)
            paged.push(...page.data)
            cursor = page.next_cursor
          }
          expect(paged).to.deep.equal(all)
          expect(all).to.have.deep.members(items)
        },
      ),
      { numRuns: 100 },
    )
  })
})
