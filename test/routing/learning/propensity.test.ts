import { expect } from 'chai'
import { chances } from '../../../plugins/routing/propensity.ts'
import type { Propensity } from '../../../plugins/routing/propensity.ts'
import { Random } from '../../../plugins/routing/random.ts'

const propensity = (given: Partial<Propensity>): Propensity => ({
  policy: 'ts-1',
  seed: '',
  trial_p: 0,
  arms: [],
  ...given,
})
const arm = (model: string, a: number, b: number, c = 0) => ({ model, a, b, c, pass: true })

describe('the propensity of a decision', () => {
  it('is known for betas with a closed form', () => {
    // P(X > Y) for X ~ Beta(2, 1), Y ~ Beta(1, 1) is 2/3; three equal arms have a third each.
    const pair = chances(propensity({ arms: [arm('x', 2, 1), arm('y', 1, 1)] }))
    expect(pair.get('x')).to.be.closeTo(2 / 3, 1e-6)
    expect(pair.get('y')).to.be.closeTo(1 / 3, 1e-6)
    for (const chance of chances(propensity({ arms: ['x', 'y', 'z'].map((name) => arm(name, 4.5, 0.25)) })).values())
      expect(chance).to.be.closeTo(1 / 3, 1e-6)
    // X − Y > 0.5 for two uniform numbers: a triangle of 1/8.
    expect(chances(propensity({ arms: [arm('x', 1, 1, 0.5), arm('y', 1, 1)] })).get('x')).to.be.closeTo(1 / 8, 1e-6)
  })

  it('agrees with draws', () => {
    const arms = [arm('a', 4.5, 0.5, 0.3), arm('b', 3.25, 1.75), arm('c', 4.75, 0.25, 0.45), arm('d', 40, 9, 0.02)]
    const random = new Random('draws')
    const counts = [0, 0, 0, 0]
    const rounds = 40_000
    for (let round = 0; round < rounds; round++) {
      const values = arms.map(({ a, b, c }) => random.beta(a, b) - c)
      counts[values.indexOf(Math.max(...values))]! += 1
    }
    const known = chances(propensity({ arms }))
    arms.forEach(({ model }, index) => {
      expect(known.get(model), model).to.be.closeTo((counts[index] ?? 0) / rounds, 0.01)
    })
    expect([...known.values()].reduce((sum, one) => sum + one, 0)).to.be.closeTo(1, 1e-12)
  })

  it('weighs cost, and all that the score has beside it, by the part of quality', () => {
    const arms = [arm('a', 4.5, 0.5, 0.6), arm('b', 3.25, 1.75, 0.1), arm('c', 4.75, 0.25, 1)]
    const terms = { share: 0.7, rest: [0.01, -0.02, 0], incumbent: { model: 'c', tier: 'MEDIUM' as const, bonus: 0.3 } }
    const random = new Random('terms')
    const counts = [0, 0, 0]
    const rounds = 40_000
    for (let round = 0; round < rounds; round++) {
      const scores = arms.map(({ a, b, c }, index) => {
        const bonus = index === 2 ? 0.3 : 0
        return 0.7 * random.beta(a, b) - 0.3 * c + (terms.rest[index] ?? 0) + bonus
      })
      counts[scores.indexOf(Math.max(...scores))]! += 1
    }
    const known = chances(propensity({ arms, terms }))
    for (const [index, { model }] of arms.entries())
      expect(known.get(model), model).to.be.closeTo((counts[index] ?? 0) / rounds, 0.01)
  })

  it('is 0 for models below the gate of quality', () => {
    const arms = [arm('in', 1, 1), { ...arm('out', 90, 1), pass: false }]
    expect(Object.fromEntries(chances(propensity({ arms })))).to.deep.equal({ in: 1, out: 0 })
  })

  it('is certain where means decide', () => {
    const arms = [arm('a', 4.5, 0.5, 0.3), arm('b', 3.5, 1.5)]
    expect(Object.fromEntries(chances(propensity({ arms, policy: 'mean-1' })))).to.deep.equal({ a: 0, b: 1 })
  })

  it('has the trial in it', () => {
    const arms = [arm('a', 1, 1), { ...arm('b', 1, 1), trial: true as const }]
    const known = chances(propensity({ arms, trial_p: 0.1 }))
    expect(known.get('a')).to.be.closeTo(0.45, 1e-6)
    expect(known.get('b')).to.be.closeTo(0.55, 1e-6)
  })
})
