import { expect } from 'chai'
import { mergeUsage, printUsage, parseUsage } from '../../../../plugins/protocols/messages/usage.ts'

describe('messages: usage', () => {
  it('splits counts into disjoint buckets', () => {
    const wire = {
      input_tokens: 10,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 8 },
    }
    const usage = { input: 10, cacheRead: 5, cacheWrite: 7, cacheWriteHour: 4, output: 12, reasoning: 8 }
    expect(parseUsage(wire)).to.deep.equal(usage)
    expect(parseUsage({ ...wire, cache_creation_input_tokens: null })).to.deep.equal(usage)
    expect(parseUsage(printUsage(usage))).to.deep.equal(usage)
    expect(printUsage(undefined)).to.deep.equal({ input_tokens: 0, output_tokens: 0 })
  })

  it('takes caches and thinking that are absent or null as none', () => {
    const none = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }
    expect(parseUsage({ input_tokens: 1, output_tokens: 2 })).to.deep.equal(none)
    expect(
      parseUsage({
        input_tokens: 1,
        output_tokens: 2,
        cache_read_input_tokens: null,
        cache_creation: null,
        output_tokens_details: null,
      }),
    ).to.deep.equal(none)
  })

  it('tells the searches of the web', () => {
    const wire = { input_tokens: 1, output_tokens: 2 }
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }
    const told = (server_tool_use: object) => parseUsage({ ...wire, server_tool_use })
    expect(told({ web_search_requests: 3, web_fetch_requests: 1 })).to.deep.equal({ ...usage, searches: 3 })
    for (const none of [{ web_search_requests: 0 }, { web_search_requests: null }, { web_search_requests: 'x' }])
      expect(told(none)).to.deep.equal(usage)
  })

  const counts = { input_tokens: 1, output_tokens: 2 }
  const unknown: [string, unknown][] = [
    ['no usage', undefined],
    ['no input', { output_tokens: 1 }],
    ['no output', { input_tokens: 1 }],
    ['a negative count', { ...counts, cache_read_input_tokens: -1 }],
    ['a fraction', { ...counts, output_tokens: 1.5 }],
    ['a text', { ...counts, input_tokens: '1' }],
    ['a cache lifetime that is no number', { ...counts, cache_creation: { ephemeral_5m_input_tokens: 'x' } }],
    ['more thinking than output', { ...counts, output_tokens_details: { thinking_tokens: 3 } }],
  ]
  for (const [name, wire] of unknown) it(`does not know ${name}`, () => expect(parseUsage(wire)).to.equal(undefined))

  it('overwrites with what is present alone', () => {
    const known = { input_tokens: 2230, output_tokens: 1, cache_read_input_tokens: 4 }
    expect(mergeUsage(known, { input_tokens: 12284, output_tokens: 9, cache_read_input_tokens: null })).to.deep.equal({
      input_tokens: 12284,
      output_tokens: 9,
      cache_read_input_tokens: 4,
    })
    expect(mergeUsage(undefined, undefined)).to.deep.equal({})
  })
})
