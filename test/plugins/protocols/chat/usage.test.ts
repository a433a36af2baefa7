import { expect } from 'chai'
import * as fc from 'fast-check'
import { parseUsage, printUsage } from '../../../../plugins/protocols/chat/usage.ts'

const whole = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 12 },
}

describe('chat usage', () => {
  it('is split into buckets that sum to the total', () => {
    expect(parseUsage(whole)).to.deep.equal({ input: 30, cacheRead: 60, cacheWrite: 10, output: 18, reasoning: 12 })
  })

  it('tells how much of it is audio and pictures, never more than there is', () => {
    const details = { cached_tokens: 60, audio_tokens: 25, image_tokens: 20 }
    const heard = { ...whole, prompt_tokens_details: details, completion_tokens_details: { audio_tokens: 7 } }
    const read = { input: 40, inputAudio: 25, inputImage: 15, cacheRead: 60, cacheWrite: 0 }
    expect(parseUsage(heard)).to.deep.equal({ ...read, output: 30, outputAudio: 7, reasoning: 0 })
    expect(parseUsage(heard)).to.deep.equal(
      parseUsage({ ...heard, completion_tokens_details: { audio_tokens: 7, image_tokens: 'x' } }),
    )
    expect(printUsage({ ...read, output: 30, outputAudio: 7, reasoning: 0 })).to.deep.include({
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 0, audio_tokens: 25 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 7 },
    })
  })

  it('tells the searches that a vendor reports, in its own words', () => {
    const searched = { input: 30, cacheRead: 60, cacheWrite: 10, output: 18, reasoning: 12, searches: 2 }
    expect(parseUsage({ ...whole, num_search_queries: 2 })).to.deep.equal(searched)
    expect(parseUsage({ ...whole, server_tool_use: { web_search_requests: 2 } })).to.deep.equal(searched)
    for (const none of [{ num_search_queries: 0 }, { server_tool_use: {} }, { num_search_queries: -1 }])
      expect(parseUsage({ ...whole, ...none })).to.deep.equal(parseUsage(whole))
  })

  it('takes missing details for none', () => {
    const bare = { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
    expect(parseUsage({ prompt_tokens: 3, completion_tokens: 4 })).to.deep.equal(bare)
    expect(parseUsage({ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: null })).to.deep.equal(bare)
  })

  it('sees by the total that reasoning is counted apart', () => {
    const apart = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    expect(parseUsage(apart)).to.deep.equal({ input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 20 })
  })

  it('never goes below zero', () => {
    const odd = { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } }
    expect(parseUsage(odd)).to.deep.equal({ input: 0, cacheRead: 9, cacheWrite: 0, output: 1, reasoning: 0 })
  })

  for (const bad of [undefined, null, -1, 1.5, '3', Number.POSITIVE_INFINITY]) {
    it(`is unknown with a count of ${String(bad)}`, () => {
      expect(parseUsage({ ...whole, prompt_tokens: bad })).to.equal(undefined)
      expect(parseUsage({ ...whole, completion_tokens: bad })).to.equal(undefined)
    })
  }

  it('is unknown with a broken detail', () => {
    expect(parseUsage({ ...whole, prompt_tokens_details: { cached_tokens: -3 } })).to.equal(undefined)
    expect(parseUsage({ ...whole, completion_tokens_details: { reasoning_tokens: '3' } })).to.equal(undefined)
  })

  it('comes back as it was printed', () => {
    const count = fc.nat(1_000_000)
    const usage = fc.record({ input: count, cacheRead: count, cacheWrite: count, output: count, reasoning: count })
    fc.assert(
      fc.property(usage, (given) => {
        expect(parseUsage(printUsage(given))).to.deep.equal(given)
      }),
    )
    expect(printUsage({ input: 30, cacheRead: 60, cacheWrite: 10, output: 18, reasoning: 12 })).to.deep.equal(whole)
  })
})
