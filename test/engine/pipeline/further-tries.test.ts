import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { ErrorOptions } from '../../../engine/index.ts'
import { FurtherTries } from '../../../engine/pipeline/further-tries.ts'

const busy = (options: ErrorOptions = {}) => new GatewayError('overloaded', {}, options)
const failed = (options: ErrorOptions = {}) => new GatewayError('upstream_error', {}, options)
const waits = { wait: 200, waitMax: 5_000 }

describe('further tries', () => {
  it('wait at random, up to a time that doubles with every try of a candidate and is never above the longest wait', () => {
    const longest = new FurtherTries(1, waits, () => 1)
    const found = Array.from({ length: 7 }, () => longest.after(0, busy(), 0)?.wait)
    expect(found).to.deep.equal([200, 400, 800, 1_600, 3_200, 5_000, 5_000])
    const half = new FurtherTries(1, waits, () => 0.5)
    expect(half.after(0, busy(), 0)).to.deep.equal({ index: 0, wait: 100 })
  })

  it('go to the next candidate without a wait, and wait for none but one that was tried', () => {
    const tries = new FurtherTries(2, waits, () => 1)
    expect(tries.after(0, failed(), 0)).to.deep.equal({ index: 1, wait: 0 })
    expect(tries.after(1, failed(), 0)).to.deep.equal({ index: 0, wait: 200 })
    expect(tries.after(0, failed(), 0)).to.deep.equal({ index: 1, wait: 200 })
    expect(tries.after(1, failed(), 0)).to.deep.equal({ index: 0, wait: 400 })
  })

  it('wait as long as a candidate asked for, from when it asked', () => {
    const alone = new FurtherTries(1, waits, () => 1)
    expect(alone.after(0, busy({ retryAfter: 3 }), 10_000)).to.deep.equal({ index: 0, wait: 3_000 })
    const two = new FurtherTries(2, waits, () => 0)
    expect(two.after(0, busy({ retryAfter: 3 }), 10_000)).to.deep.equal({ index: 1, wait: 0 })
    expect(two.after(1, failed(), 12_000)).to.deep.equal({ index: 0, wait: 1_000 })
    expect(two.after(0, failed(), 13_000)).to.deep.equal({ index: 1, wait: 0 })
  })

  it('leave out a candidate that asked for more than the longest wait, for good', () => {
    expect(new FurtherTries(1, waits).after(0, busy({ retryAfter: 6 }), 0)).to.equal(undefined)
    const two = new FurtherTries(2, waits, () => 0)
    expect(two.after(0, busy({ retryAfter: 6 }), 0)?.index).to.equal(1)
    expect(two.after(1, busy(), 9_000)?.index).to.equal(1)
  })

  it('do not follow at once at a provider whose error says that only another one can help', () => {
    expect(new FurtherTries(1, waits).after(0, failed(), 0)).to.equal(undefined)
  })
})
