import { expect } from 'chai'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { evaluationOf } from '../../../plugins/routing/evaluation.ts'
import { evaluated } from '../../../plugins/routing/evaluate.ts'
import type { LoggedDecision } from '../../../plugins/routing/evaluate.ts'
import { chances } from '../../../plugins/routing/propensity.ts'
import type { Propensity } from '../../../plugins/routing/propensity.ts'
import { noise, tiers } from './worlds.ts'

const names = ['a', 'b', 'c', 'd']
/** How a decision is drawn in each tier: what is known of the models, and what they cost. */
const propensities = tiers.map((_, tier): Propensity => ({
  policy: 'ts-1',
  seed: '',
  trial_p: 0.1,
  arms: names.map((model, index) => ({
    model,
    a: 4.2 + tier + index / 2,
    b: 1.5 + (3 - index) / 2,
    c: index * 0.04,
    pass: tier < 2 || index > 0,
    ...(index === 1 ? { trial: true as const } : {}),
  })),
}))
const logged = propensities.map(chances)
/** The policy to evaluate: what is surest. */
const wanted = propensities.map((one) => chances({ ...one, policy: 'mean-1', trial_p: 0 }))
const truth = tiers.reduce(
  (sum, { share, quality }, tier) =>
    sum + share * names.reduce((all, name, model) => all + (wanted[tier]?.get(name) ?? 0) * (quality[model] ?? 0), 0),
  0,
)

function drawn(probabilities: ReadonlyMap<string, number>, at: number): string {
  let left = at
  return [...probabilities].find(([, chance]) => (left -= chance) < 0)?.[0] ?? 'a'
}

function logOf(seed: number, length: number): readonly LoggedDecision[] {
  const random = noise(seed)
  return Array.from({ length }, () => {
    const at = random()
    const tier = at < 0.55 ? 0 : at < 0.85 ? 1 : 2
    const probabilities = logged[tier] ?? new Map<string, number>()
    const chosen = drawn(probabilities, random())
    const quality = tiers[tier]?.quality[names.indexOf(chosen)] ?? 0
    const reward = random() < quality ? 1 : 0
    return { context: `auto ${tier}`, chosen, reward, logged: probabilities, wanted: wanted[tier] ?? new Map() }
  })
}

describe('the evaluation of a policy from decisions of another one', () => {
  it('has the truth within its interval in 93 of 100 logs', () => {
    const runs = Array.from({ length: 100 }, (_, seed) => evaluated(logOf(seed, 800)))
    for (const estimator of ['snips', 'doubly_robust'] as const) {
      const right = runs.filter(({ [estimator]: one }) => one && one.low <= truth && truth <= one.high)
      expect(right.length, estimator).to.be.at.least(93)
    }
    const mean = runs.reduce((sum, { snips }) => sum + (snips?.value ?? 0), 0) / runs.length
    expect(mean).to.be.closeTo(truth, 0.01)
    expect(Math.abs((runs[0]?.logged ?? 0) - truth), 'it is another policy').to.be.above(0.005)
  })

  it('refuses what says too little', () => {
    const few = evaluated(logOf(1, 60))
    expect(few).to.include({ rows: 60, snips: null, doubly_robust: null })
    expect(few.ess).to.be.below(100)
    expect(evaluated([])).to.deep.equal({
      rows: 0,
      logged: 0,
      ess: 0,
      clipped: 0,
      snips: null,
      doubly_robust: null,
    })
  })

  it('cuts weights at 20, and leaves out what could not have been chosen', () => {
    const row = (chosen: string, chance: number, reward: number): LoggedDecision => ({
      context: 'auto SIMPLE',
      chosen,
      reward,
      logged: new Map([[chosen, chance]]),
      wanted: new Map([[chosen, 1]]),
    })
    const usual = Array.from({ length: 1980 }, () => row('a', 1, 0))
    const rare = Array.from({ length: 1 }, () => row('b', 0.001, 1))
    const { clipped, snips, rows } = evaluated([...usual, ...rare, row('c', 0, 1)])
    expect(rows).to.equal(1981)
    expect(clipped).to.be.closeTo(1 / 1981, 1e-12)
    expect(snips?.value).to.be.closeTo(20 / 2000, 1e-12)
  })

  it('is the same each time', () => {
    expect(evaluated(logOf(7, 500))).to.deep.equal(evaluated(logOf(7, 500)))
  })
})

describe('the evaluation of rows', () => {
  const [propensity] = propensities as [Propensity]
  const row = (chosen: string, more: object = {}) => {
    const routing = { mode: 'auto', tier: 'SIMPLE', chosen, served: chosen, propensity, ...more }
    return { reward: 1, routing: JSON.parse(JSON.stringify(routing)) as JsonObject }
  }
  const many = (count: number, more: object = {}) => Array.from({ length: count }, () => row('d', more))

  it('knows what would have been chosen: one model, one per tier, or the best by means or draws', () => {
    const ess = (policy: Json) => Math.round(evaluationOf(many(200), policy).ess)
    const tiersOf = (model: string) => ({ tiers: { SIMPLE: model, MEDIUM: 'x', COMPLEX: 'y' } })
    expect([{ model: 'd' }, { model: 'a' }, tiersOf('d'), tiersOf('a')].map(ess)).to.deep.equal([200, 0, 200, 0])
    expect([{ policy: 'mean-1' }, { policy: 'ts-1' }].map(ess)).to.deep.equal([200, 200])
  })

  it('leaves out rows that do not say how they were decided, or were served by another model', () => {
    const arm = { model: 'd', a: 1, b: 1, c: 0, pass: true }
    const wrong = [
      { propensity: null },
      { propensity: { ...propensity, policy: 'ts-9' } },
      { propensity: { ...propensity, arms: [{ ...arm, a: 'x' }] } },
      { served: 'a' },
      { mode: null },
    ].map((more) => row('d', more))
    expect(evaluationOf([...wrong, row('d')], { model: 'd' }).rows).to.equal(1)
  })

  it('refuses what is no policy', () => {
    for (const policy of [
      null,
      [],
      {},
      'd',
      { model: 1 },
      { model: 'd', policy: 'ts-1' },
      { policy: 'best' },
      { model: 'd', x: 1 },
      { tiers: { SIMPLE: 'd' } },
    ])
      expect(() => evaluationOf([], policy), JSON.stringify(policy)).to.throw(/a policy has|"tiers"/)
  })
})
