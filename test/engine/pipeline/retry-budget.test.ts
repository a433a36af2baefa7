import { expect } from 'chai'
import fc from 'fast-check'
import { RetryBudget } from '../../../engine/pipeline/retry-budget.ts'
import type { RequestRetries, RetryShare } from '../../../engine/pipeline/retry-budget.ts'

const usual = { floor: 3, share: 0.2 }

/** Retries of each request in turn, as far as they are allowed; how many there are in all. */
function storm(requests: readonly RequestRetries[], provider: string, tries: number, share: RetryShare): number {
  let retries = 0
  for (const request of requests) {
    for (let call = 2; call <= tries && request.allows(provider, share); call++) {
      request.call(provider)
      retries++
    }
    request.end()
  }
  return retries
}

const begin = (budget: RetryBudget, provider: string, count: number) =>
  Array.from({ length: count }, () => {
    const request = budget.request()
    request.call(provider)
    return request
  })

describe('the budget of retries', () => {
  it('is a share of the requests that are active together, however they end one after the other', () => {
    const requests = begin(new RetryBudget(), 'p', 300)
    expect(storm(requests, 'p', 3, usual)).to.equal(60)
  })

  it('is never below its floor', () => {
    expect(storm(begin(new RetryBudget(), 'p', 9), 'p', 2, usual)).to.equal(3)
    expect(storm(begin(new RetryBudget(), 'p', 9), 'p', 2, { floor: 0, share: 0 })).to.equal(0)
    expect(storm(begin(new RetryBudget(), 'p', 9), 'p', 2, { floor: 0, share: 1 })).to.equal(9)
  })

  it('is not spent by requests that are over before others begin', () => {
    const budget = new RetryBudget()
    for (let turn = 0; turn < 20; turn++) expect(storm(begin(budget, 'p', 1), 'p', 3, usual)).to.equal(2)
  })

  it('does not limit a request that retries alone, unless there are no retries at all', () => {
    expect(storm(begin(new RetryBudget(), 'p', 1), 'p', 10, usual)).to.equal(9)
    expect(storm(begin(new RetryBudget(), 'p', 1), 'p', 10, { floor: 0, share: 0.2 })).to.equal(0)
  })

  it('is one for each provider, and the first call of a provider is no retry', () => {
    const budget = new RetryBudget()
    const requests = begin(budget, 'p', 30)
    for (const request of requests) {
      expect(request.allows('q', { floor: 0, share: 0 })).to.equal(true)
      request.call('q')
    }
    expect(requests.filter((request) => request.allows('q', usual) && (request.call('q'), true))).to.have.length(6)
    expect(requests.filter((request) => request.allows('p', usual) && (request.call('p'), true))).to.have.length(6)
  })

  it('takes no call into account that was not made', () => {
    const [request, ...others] = begin(new RetryBudget(), 'p', 4)
    for (const other of others) {
      expect(other.allows('p', usual)).to.equal(true)
      other.call('p')
    }
    expect(request!.allows('p', usual)).to.equal(false)
    others[0]!.undo('p')
    expect(request!.allows('p', usual)).to.equal(true)
  })

  it('holds for requests that begin together, in any order of retries and ends', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 300 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), steps, (count, order) => {
        const active = begin(new RetryBudget(), 'p', count)
        const retried: RequestRetries[] = []
        for (const [retries, number] of order) {
          const request = active[number % active.length]
          if (!request) break
          if (!retries) {
            request.end()
            active.splice(active.indexOf(request), 1)
          } else if (request.allows('p', usual)) {
            request.call('p')
            retried.push(request)
          }
        }
        if (new Set(retried).size > 1) expect(retried.length).to.be.at.most(Math.max(3, count / 5))
      }),
    )
  })
})
