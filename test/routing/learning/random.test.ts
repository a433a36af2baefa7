import { hash01 } from '../../../engine/kit.ts'
import { expect } from 'chai'
import { betaBelow, betaQuantile } from '../../../plugins/routing/beta.ts'
import { Random } from '../../../plugins/routing/random.ts'

/** The largest distance between the distribution of a sample and Beta(a, b) (Kolmogorov-Smirnov). */
function distance(sample: readonly number[], a: number, b: number): number {
  const sorted = sample.toSorted((one, other) => one - other)
  return Math.max(...sorted.map((value, index) => Math.abs(betaBelow(value, a, b) - (index + 0.5) / sample.length)))
}

describe('the random numbers of a decision', () => {
  it('are those of xoshiro128**', () => {
    // SHA-256("abc") as state: ba7816bf 8f01cfea 414140de 5dae2223, each little-endian.
    const state = [0xbf1678ba, 0xeacf018f, 0xde404141, 0x2322ae5d].map(BigInt)
    const mask = 0xffffffffn
    const rotated = (bits: bigint, by: bigint) => ((bits << by) | (bits >> (32n - by))) & mask
    const random = new Random('a', 'bc')
    for (let step = 0; step < 1000; step++) {
      let [s0, s1, s2, s3] = state as [bigint, bigint, bigint, bigint]
      expect(random.bits()).to.equal(Number((rotated((s1 * 5n) & mask, 7n) * 9n) & mask))
      const t = (s1 << 9n) & mask
      s2 ^= s0
      s3 ^= s1
      s1 ^= s2
      s0 ^= s3
      s2 ^= t
      s3 = rotated(s3, 11n)
      state.splice(0, 4, s0, s1, s2, s3)
    }
  })

  it('depend on the id and the seed', () => {
    const first = (id: string, seed?: string) => new Random(id, seed).bits()
    expect(first('id', 'seed')).to.equal(first('id', 'seed'))
    expect(new Set([first('id'), first('id', 'seed'), first('other', 'seed'), first('id', 'other')]).size).to.equal(4)
  })

  it('have the distribution Beta(a, b)', () => {
    for (const [a, b] of [
      [4.5, 0.5],
      [0.3, 0.25],
      [1, 1],
      [2, 3],
      [80, 25],
    ] as const) {
      const random = new Random(`${a} ${b}`)
      const sample = Array.from({ length: 4000 }, () => random.beta(a, b))
      expect(distance(sample, a, b), `Beta(${a}, ${b})`).to.be.below(1.63 / Math.sqrt(sample.length))
    }
  })

  it('of a text lie evenly between 0 and 1', () => {
    expect(hash01('abc')).to.equal(0xba7816bf8f01 / 2 ** 48)
    const sample = Array.from({ length: 4000 }, (_, index) => hash01(`request ${index}`))
    expect(distance(sample, 1, 1)).to.be.below(1.63 / Math.sqrt(sample.length))
  })
})

describe('the distribution Beta(a, b)', () => {
  it('has known values', () => {
    expect(betaBelow(0.3, 1, 1)).to.be.closeTo(0.3, 1e-14)
    expect(betaBelow(0.5, 2, 3)).to.be.closeTo(0.6875, 1e-14)
    expect(betaBelow(0.9, 4, 1)).to.be.closeTo(0.9 ** 4, 1e-14)
    expect(betaBelow(0.2, 0.5, 0.5)).to.be.closeTo((2 / Math.PI) * Math.asin(Math.sqrt(0.2)), 1e-13)
    expect(betaBelow(0.8, 80, 25)).to.be.closeTo(1 - betaBelow(0.2, 25, 80), 1e-13)
    expect([betaBelow(0, 2, 3), betaBelow(1, 2, 3), betaBelow(-1, 2, 3), betaBelow(2, 2, 3)]).to.deep.equal([
      0, 1, 0, 1,
    ])
  })

  it('has quantiles', () => {
    expect(betaQuantile(0.6875, 2, 3)).to.be.closeTo(0.5, 1e-9)
    expect(betaBelow(betaQuantile(0.025, 80, 25), 80, 25)).to.be.closeTo(0.025, 1e-9)
  })
})
