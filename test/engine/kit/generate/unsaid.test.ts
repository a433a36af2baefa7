import { expect } from 'chai'
import { unsaid } from '../../../../engine/kit.ts'
import type { GenerateRequest } from '../../../../engine/index.ts'

describe('what a protocol cannot say', () => {
  it('is every wish of the client but those that it can', () => {
    const request: GenerateRequest = {
      items: [],
      tools: [],
      stream: true,
      streamUsage: true,
      topP: 1,
      seed: 0,
      cacheKey: 'k',
    }
    expect(unsaid(request, ['topP', 'stop']).map(({ field }) => field)).to.deep.equal(['seed', 'prompt_cache_key'])
    expect(unsaid(request, ['topP', 'seed', 'cacheKey'])).to.deep.equal([])
  })

  it("is what only the client's own protocol knows", () => {
    const rest = { protocol: 'plain', fields: { logit_bias: {} } }
    expect(unsaid({ items: [], tools: [], stream: false, rest }, [])).to.deep.equal([
      { field: 'logit_bias', because: 'only plain has it' },
    ])
  })
})
