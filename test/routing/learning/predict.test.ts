import { expect } from 'chai'
import { predictedCost, predictedOutput } from '../../../plugins/routing/predict.ts'

const used = { input: 1000, output: 500, cached: 0, written: 0 }

describe('the predicted cost', () => {
  it('is that of input and output', () => {
    expect(predictedCost(used, { input: 2, output: 8 })).to.be.closeTo(0.006, 1e-15)
    expect(predictedCost(used, { input: 0, output: 0 })).to.equal(0)
    expect(predictedCost(used, { input: 2, output: 8, requests: 0.01 })).to.be.closeTo(0.016, 1e-15)
  })

  it('has the shares that a cache reads and writes', () => {
    const prices = { input: 2, output: 8, cache_read: 0.2, cache_write: 2.5 }
    const cost = predictedCost({ ...used, cached: 0.9, written: 0.05 }, prices)
    expect(cost).to.be.closeTo((1000 * (0.05 * 2 + 0.9 * 0.2 + 0.05 * 2.5) + 500 * 8) / 1e6, 1e-15)
    expect(predictedCost({ ...used, cached: 0.9, written: 0.5 }, prices), 'shares of more than all').to.be.closeTo(
      (1000 * (0.9 * 0.2 + 0.1 * 2.5) + 500 * 8) / 1e6,
      1e-15,
    )
    expect(predictedCost({ ...used, cached: 0.9 }, { input: 2, output: 8 }), 'no price of a cache').to.be.closeTo(
      0.006,
      1e-15,
    )
  })

  it('follows the prices of long input', () => {
    const prices = { input: 2, output: 8, tiers: [{ above_input_tokens: 999, input: 4 }] }
    expect(predictedCost(used, prices)).to.be.closeTo(0.008, 1e-15)
    expect(predictedCost({ ...used, input: 999 }, prices)).to.be.closeTo(0.005998, 1e-15)
  })

  it('is unknown without prices', () => {
    expect(predictedCost(used, undefined)).to.equal(null)
    expect(predictedCost(used, { input: 2 })).to.equal(null)
    expect(predictedCost(used, { output: 2 })).to.equal(null)
  })

  it('expects the median of answers, at most what the client allows', () => {
    expect(predictedOutput('SIMPLE', null, 4096)).to.equal(200)
    expect(predictedOutput('MEDIUM', null, 4096)).to.equal(600)
    expect(predictedOutput('COMPLEX', null, 4096)).to.equal(1500)
    expect(predictedOutput('COMPLEX', null, 100)).to.equal(100)
    expect(predictedOutput('SIMPLE', 741, 4096)).to.equal(741)
    expect(predictedOutput('SIMPLE', 741, 50)).to.equal(50)
  })
})
