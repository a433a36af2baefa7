import { expect } from 'chai'
import { meter, parseUsage, printUsage } from '../../../../plugins/protocols/decisions/usage.ts'

const complete = {
  input_tokens: 100,
  input_tokens_details: { cache_write_tokens: 20, cached_tokens: 30 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 110,
}
const zero = {
  input_tokens: 0,
  input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

describe('the usage of decisions', () => {
  it('is split into disjoint buckets', () => {
    expect(parseUsage(complete).usage).to.deep.equal({
      input: 50,
      cacheRead: 30,
      cacheWrite: 20,
      output: 6,
      reasoning: 4,
    })
    expect(parseUsage({ input_tokens: 7 }).usage).to.deep.equal({
      input: 7,
      cacheRead: 0,
      cacheWrite: 0,
      output: 0,
      reasoning: 0,
    })
  })

  it('is unknown where nothing is told', () => {
    for (const value of [
      undefined,
      null,
      'x',
      [],
      {},
      { output_tokens: 1 },
      { input_tokens: -1 },
      { input_tokens: 1.5 },
    ])
      expect(parseUsage(value).usage).to.equal(undefined)
  })

  it('is printed verbatim when it is complete, with whatever else it says', () => {
    const rawUsage = { ...complete, total_tokens: 1, cost: 0.5 }
    expect(printUsage({ answers: [], rawUsage })).to.equal(rawUsage)
  })

  it('has every field, 0 for what was not told', () => {
    const of = (rawUsage: unknown) => printUsage({ answers: [], ...parseUsage(rawUsage as null) })
    expect(of(undefined)).to.deep.equal(zero)
    expect(of({ input_tokens: 7, output_tokens: 2, cost: 1 })).to.deep.equal({
      ...zero,
      input_tokens: 7,
      output_tokens: 2,
      total_tokens: 9,
    })
    expect(of({ ...complete, output_tokens_details: null })).to.deep.equal({
      ...complete,
      output_tokens_details: { reasoning_tokens: 0 },
    })
    expect(of({ ...complete, input_tokens: '100' })).to.deep.include({ input_tokens: 0, output_tokens: 10 })
  })

  it('is printed out of buckets', () => {
    const usage = { input: 50, cacheRead: 30, cacheWrite: 20, output: 6, reasoning: 4 }
    expect(printUsage({ answers: [], usage })).to.deep.equal(complete)
  })

  it('is metered with the model', () => {
    expect(meter.reply({ model: 'v1', usage: complete, answers: [] })).to.deep.equal({
      model: 'v1',
      usage: { input: 50, cacheRead: 30, cacheWrite: 20, output: 6, reasoning: 4 },
    })
    for (const body of [null, [], {}, { usage: 'x', model: 1 }]) expect(meter.reply(body)).to.deep.equal({})
    expect(meter.stream([], [])).to.deep.equal({ complete: false })
  })
})
