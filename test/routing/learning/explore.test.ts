import { expect } from 'chai'
import { trialOf } from '../../../plugins/routing/explore.ts'
import { ranked } from '../../../plugins/routing/score.ts'

const prices: Readonly<Record<string, number | null>> = {
  winner: 0.001,
  near: 0.0015,
  other: 0.0016,
  dear: 0.01,
  free: null,
}
const order = (models: readonly string[], means: Readonly<Record<string, number>> = {}) =>
  ranked(
    models.map((model) => {
      const mean = means[model] ?? (model === 'winner' ? 0.95 : 0.8)
      const known = { a: 5 * mean, b: 5 * (1 - mean) }
      return { model, level: 0, cost: prices[model] ?? null, ...known, reliability: 1, firstByte: null, bonus: 0 }
    }),
    { mode: 'auto', benefit: 0.5, weight: 1, gate: 0.6 },
  )
const rules = { pulls: 3, ratio: 2.8 }

describe('a trial', () => {
  it('goes to the model that was chosen least', () => {
    const pulls: Record<string, number> = { winner: 0, near: 2, other: 1 }
    const chosen = trialOf(order(['winner', 'near', 'other']), (model) => pulls[model] ?? 0, rules)
    expect(chosen).to.equal('other')
  })

  it('goes to nobody once all were chosen often enough', () => {
    expect(trialOf(order(['winner', 'near', 'other']), () => 3, rules)).to.equal(undefined)
    expect(trialOf(order(['winner']), () => 0, rules)).to.equal(undefined)
  })

  it('does not go to a model that costs too much, or has no price', () => {
    expect(trialOf(order(['winner', 'dear', 'free']), () => 0, rules)).to.equal(undefined)
    expect(trialOf(order(['winner', 'dear']), () => 0, { ...rules, ratio: 10 })).to.equal('dear')
  })

  it('does not go to a model below the gate of quality', () => {
    expect(trialOf(order(['winner', 'near'], { near: 0.4 }), () => 0, rules)).to.equal(undefined)
  })
})
