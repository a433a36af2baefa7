import { expect } from 'chai'
import { GatewayError, passedOver } from '../../../engine/index.ts'
import type { Candidate, ErrorOptions } from '../../../engine/index.ts'
import { FurtherTries } from '../../../engine/pipeline/further-tries.ts'
import type { TryRules } from '../../../engine/pipeline/further-tries.ts'
import { RetryBudget } from '../../../engine/pipeline/retry-budget.ts'

const busy = (options: ErrorOptions = {}) => new GatewayError('overloaded', {}, options)
const failed = (options: ErrorOptions = {}) => new GatewayError('upstream_error', {}, options)
const rules: TryRules = {
  tries: 10,
  wait: 200,
  waitMax: 5_000,
  budget: { floor: 3, share: 0.2 },
  where: ({ retry }) => retry,
}

/**
 * Candidates by letters, each at a provider of its own; `after` tells who is next, and after which wait. What is foreseen
 * is what comes, and changes nothing.
 */
function line(names: string, random: () => number, others: Partial<TryRules> = {}) {
  const candidates = Array.from(names, (name) => ({ model: { name }, provider: { name } }) as unknown as Candidate)
  const calls = new RetryBudget().request()
  calls.call(candidates[0]!.provider.name)
  const tries = new FurtherTries(candidates, calls, { ...rules, ...others }, random)
  return (error: GatewayError, now = 0) => {
    const foreseen = tries.following(error, now)
    const next = tries.after(error, now)
    if (!error.tags.includes(passedOver)) expect(foreseen?.candidate).to.equal(next?.candidate)
    return next && `${next.candidate.model.name} ${next.wait}`
  }
}

describe('further tries', () => {
  it('wait at random, up to a time that doubles with every try of a candidate and is never above the longest wait', () => {
    const after = line('a', () => 1)
    const found = Array.from({ length: 7 }, () => after(busy()))
    expect(found).to.deep.equal(['a 200', 'a 400', 'a 800', 'a 1600', 'a 3200', 'a 5000', 'a 5000'])
    expect(line('a', () => 0.5)(busy())).to.equal('a 100')
  })

  it('go to the next candidate without a wait, and wait for none but one that was tried', () => {
    const after = line('ab', () => 1)
    const found = Array.from({ length: 4 }, () => after(failed()))
    expect(found).to.deep.equal(['b 0', 'a 200', 'b 200', 'a 400'])
  })

  it('wait as long as a candidate asked for, from when it asked', () => {
    expect(line('a', () => 1)(busy({ retryAfter: 3 }), 10_000)).to.equal('a 3000')
    const after = line('ab', () => 0)
    expect(after(busy({ retryAfter: 3 }), 10_000)).to.equal('b 0')
    expect(after(failed(), 12_000)).to.equal('a 1000')
    expect(after(failed(), 13_000)).to.equal('b 0')
  })

  it('leave out a candidate that asked for more than the longest wait, for good', () => {
    expect(line('a', () => 0)(busy({ retryAfter: 6 }))).to.equal(undefined)
    const after = line('ab', () => 0)
    expect(after(busy({ retryAfter: 6 }))).to.equal('b 0')
    expect(after(busy(), 9_000)).to.equal('b 0')
  })

  it('do not follow at once at a provider whose error says that only another one can help', () => {
    expect(line('a', () => 0)(failed())).to.equal(undefined)
    const after = line('ab', () => 0)
    expect(after(failed())).to.equal('b 0')
    expect(after(failed({ tags: [passedOver] })), 'the other one was passed over').to.equal(undefined)
  })

  it('are as many as allowed, and none after an error that no word allows', () => {
    const after = line('abc', () => 0, { tries: 2 })
    expect([after(failed()), after(failed())]).to.deep.equal(['b 0', undefined])
    expect(line('ab', () => 0, { where: () => 'never' })(failed())).to.equal(undefined)
    expect(line('a', () => 0, { where: () => 'same' })(failed())).to.equal('a 0')
  })
})
