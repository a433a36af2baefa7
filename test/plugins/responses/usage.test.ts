import { expect } from 'chai'
import * as fc from 'fast-check'
import { printUsage, parseUsage, usageOf } from '../../../plugins/responses/usage.ts'

const whole = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 50,
}

describe('responses: usage', () => {
  it('splits counts that include one another', () => {
    expect(parseUsage(whole)).to.deep.equal({ input: 15, cacheRead: 10, cacheWrite: 5, output: 8, reasoning: 12 })
  })

  it('takes details that are missing for 0, and never goes below it', () => {
    const none = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
    expect(parseUsage({ input_tokens: 3, output_tokens: 4 })).to.deep.equal(none)
    expect(parseUsage({ input_tokens: 3, output_tokens: 4, input_tokens_details: null })).to.deep.equal(none)
    expect(parseUsage({ ...whole, input_tokens: 12 })).to.deep.include({ input: 0, cacheRead: 10, cacheWrite: 5 })
  })

  it('counts the searches that are billed, or else those that were made', () => {
    const usage = { input: 15, cacheRead: 10, cacheWrite: 5, output: 8, reasoning: 12 }
    const call = (action: object | undefined, status = 'completed') => ({
      type: 'web_search_call',
      id: 'ws',
      status,
      ...(action ? { action: { ...action } } : {}),
    })
    const output = [
      call({ type: 'search', query: 'q' }),
      call(undefined),
      call({ type: 'open_page', url: 'u' }),
      call({ type: 'search' }, 'failed'),
      { type: 'message', content: [] },
    ]
    expect(usageOf({ usage: whole, output })).to.deep.equal({ ...usage, searches: 2 })
    const told = (num_requests: number) => ({ usage: whole, output, tool_usage: { web_search: { num_requests } } })
    expect(usageOf(told(7))).to.deep.equal({ ...usage, searches: 7 })
    expect(usageOf(told(0))).to.deep.equal(usage)
    expect(usageOf({ usage: whole, output: [], tool_usage: { web_search: null } })).to.deep.equal(usage)
    expect(usageOf({ output })).to.equal(undefined)
  })

  it('knows nothing when any count is not one', () => {
    for (const count of [undefined, null, -1, 1.5, '3', Number.NaN, Infinity, {}]) {
      expect(parseUsage({ ...whole, input_tokens: count as number })).to.equal(undefined)
      expect(parseUsage({ ...whole, output_tokens: count as number })).to.equal(undefined)
      if (count === undefined || count === null) continue
      expect(parseUsage({ ...whole, output_tokens_details: { reasoning_tokens: count as number } })).to.equal(undefined)
    }
    for (const value of [undefined, null, 3, []]) expect(parseUsage(value)).to.equal(undefined)
    expect(printUsage(undefined)).to.equal(null)
  })

  it('reads back what it prints', () => {
    const count = fc.nat(1_000_000)
    const usage = fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count, reasoning: count })
    fc.assert(
      fc.property(usage, (value) => {
        expect(parseUsage(printUsage(value))).to.deep.equal(value)
      }),
    )
  })
})
