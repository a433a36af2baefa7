import { expect } from 'chai'
import fc from 'fast-check'
import type { Mode } from '../../../engine/index.ts'
import { Random } from '../../../plugins/routing/random.ts'
import { costScale, levelOf, needOf, priorMean, qualityShare, ranked } from '../../../plugins/routing/score.ts'
import type { Arm, Rules } from '../../../plugins/routing/score.ts'

const arm = (model: string, given: Partial<Arm> = {}): Arm => ({
  model,
  level: 0.5,
  cost: 0.001,
  a: 4.5,
  b: 0.5,
  reliability: 1,
  firstByte: null,
  bonus: 0,
  ...given,
})
const rules = (given: Partial<Rules> = {}): Rules => ({
  mode: 'auto',
  benefit: 0.5,
  weight: 0.65,
  gate: 0.6,
  ...given,
})
const names = (arms: readonly { readonly model: string }[]) => arms.map(({ model }) => model)

describe('the score of a model', () => {
  it('knows the level of each class, and takes any other word as economy', () => {
    expect(['economy', 'balanced', 'premium', undefined, 'luxury'].map(levelOf)).to.deep.equal([0, 0.5, 1, 0, 0])
  })

  it('needs more for more benefit, half of it in fast, and at least half in best', () => {
    const needs = (mode: Mode) => [0, 0.165, 0.5, 0.835, 1].map((benefit) => Number(needOf(benefit, mode).toFixed(12)))
    expect(needs('auto')).to.deep.equal([0, 0, 0.5, 1, 1])
    expect(needs('fast')).to.deep.equal([0, 0, 0.25, 0.5, 0.5])
    expect(needs('best')).to.deep.equal([0.5, 0.5, 0.5, 1, 1])
  })

  it('expects less of a model below what is needed, and a little more of one above', () => {
    const means = [
      [0, 0],
      [0, 1],
      [0.5, 0],
      [0.5, 0.5],
      [1, 0],
      [1, 0.5],
      [1, 1],
    ].map(([need = 0, level = 0]) => Number(priorMean(need, level).toFixed(4)))
    expect(means).to.deep.equal([0.9, 0.95, 0.65, 0.9, 0.4, 0.65, 0.9])
  })

  it('weighs quality more the more complex a request is', () => {
    expect(qualityShare(0, 0.65)).to.equal(0.65)
    expect(qualityShare(0.5, 0.65)).to.be.closeTo(0.79, 1e-12)
    expect(qualityShare(0.7, 1)).to.equal(1)
  })

  it('counts cost in doublings, of which six are the whole scale', () => {
    expect(costScale(0.004, 0.004)).to.equal(0)
    expect(costScale(0.008, 0.004)).to.be.closeTo(1 / 6, 1e-12)
    expect(costScale(0.256, 0.004)).to.equal(1)
    expect(costScale(25, 0.004)).to.equal(1)
    expect(costScale(null, 0.004), 'a model without a price').to.equal(1)
    expect(costScale(0, 0), 'free models').to.equal(0)
    expect(costScale(2e-7, 0), 'beside a free one').to.be.closeTo(1 / 6, 1e-12)
  })

  it('is made of quality, cost, reliability, latency and continuity', () => {
    const [one] = ranked([arm('a', { reliability: 0.9, firstByte: 1500, bonus: 0.05 })], rules())
    expect(one?.score).to.be.closeTo(0.79 * 0.9 - 0.21 * 0 + 0.1 * (0.9 - 1) + 0.05 * (0.5 - 0.5) + 0.05, 1e-12)
    const [fast] = ranked([arm('a', { firstByte: 0 })], rules({ mode: 'fast', weight: 0.35 }))
    expect(fast?.score).to.be.closeTo(0.61 * 0.9 + 0.1 * 0.5, 1e-12)
    const dear = ranked([arm('a'), arm('b', { cost: 0.004 })], rules()).find(({ model }) => model === 'b')
    // Seven digits, as rows have them.
    expect(dear).to.include({ c: 0.3333333, mean: 0.9, draw: 0.9, pass: true, latency: 0.5, continuity: 0 })
    expect(dear?.score).to.be.closeTo(0.79 * 0.9 - 0.21 * 0.3333333, 1e-12)
  })

  it('decides ties of decisions that are made again by the costs of then', () => {
    const again = (model: string, cost: number, c: number) => arm(model, { cost, recorded: { c, rest: 0 } })
    // Both cost the same then, whatever they cost by now.
    expect(names(ranked([again('a', 0.02, 0.3), again('b', 0.01, 0.3)], rules()))).to.deep.equal(['a', 'b'])
    expect(names(ranked([again('a', 0.02, 1), again('b', 0.01, 1)], rules()))).to.deep.equal(['b', 'a'])
    expect(names(ranked([arm('a', { cost: 0.01 }), arm('b', { cost: 0.01 })], rules()))).to.deep.equal(['a', 'b'])
  })

  it('decides ties alike when it is made again, though the costs are other ones by now', () => {
    // The share of cost is 0, so all scores are equal. `a` and `b` are one place on the scale of seven digits.
    const costs = { a: 0.002 * (1 + 1e-9), b: 0.002, c: 0.001 }
    const shareless = rules({ weight: 1, benefit: 0 })
    const first = ranked(
      Object.entries(costs).map(([model, cost]) => arm(model, { cost })),
      shareless,
    )
    expect(names(first)).to.deep.equal(['c', 'a', 'b'])
    const again = first.map(({ model, c, rest }) =>
      arm(model, { cost: 1 / costs[model as 'a'], recorded: { c, rest } }),
    )
    expect(names(ranked(again.toReversed(), shareless))).to.deep.equal(names(first))
  })

  it('puts models below a share of the best mean last, and gives them no bonus', () => {
    const weak = arm('weak', { a: 2.5, b: 2.5, cost: 0.00001, bonus: 0.5 })
    const order = ranked([weak, arm('good', { cost: 0.01 })], rules())
    expect(names(order)).to.deep.equal(['good', 'weak'])
    expect(order[1]).to.include({ pass: false, continuity: 0 })
    expect(names(ranked([weak, arm('good', { cost: 0.01 })], rules({ gate: 0.5 })))).to.deep.equal(['weak', 'good'])
  })

  it('leaves only premium in best from the border of COMPLEX on, and at least balanced always', () => {
    const passed = (benefit: number) =>
      ranked(
        [0, 0.5, 1].map((level) => {
          const mean = priorMean(needOf(benefit, 'best'), level)
          return arm(String(level), { level, a: 5 * mean, b: 5 * (1 - mean) })
        }),
        rules({ mode: 'best', benefit, weight: 1, gate: 0.85 }),
      ).filter(({ pass }) => pass)
    expect(names(passed(0))).to.have.members(['0.5', '1'])
    expect(names(passed(0.65))).to.have.members(['0.5', '1'])
    expect(names(passed(0.67))).to.have.members(['1'])
  })

  it('decides between equal scores by cost, in best by level, and at last by name', () => {
    const free = { cost: 0 }
    const equal = [arm('c', { cost: 5e-8 }), arm('b', free), arm('a', free)]
    expect(names(ranked(equal, rules()))).to.deep.equal(['a', 'b', 'c'])
    const levels = [arm('low', { level: 0 }), arm('high', { level: 1 })]
    expect(names(ranked(levels, rules({ mode: 'best' })))).to.deep.equal(['high', 'low'])
    expect(names(ranked(levels, rules()))).to.deep.equal(['high', 'low'].toSorted())
  })

  it('chooses the same model again for the same request, whatever the order of the records', () => {
    const arms = fc.uniqueArray(
      fc.record({
        model: fc.string({ minLength: 1 }),
        level: fc.constantFrom(0, 0.5, 1),
        cost: fc.option(fc.double({ min: 0, max: 10, noNaN: true })),
        a: fc.double({ min: 0.1, max: 105, noNaN: true }),
        b: fc.double({ min: 0.1, max: 105, noNaN: true }),
        reliability: fc.double({ min: 0, max: 1, noNaN: true }),
        firstByte: fc.option(fc.nat(60_000)),
        bonus: fc.constantFrom(0, 0.05),
      }),
      { minLength: 1, maxLength: 8, selector: ({ model }) => model },
    )
    fc.assert(
      fc.property(
        arms,
        fc.constantFrom<Mode>('fast', 'auto', 'best'),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.uuid(),
        (models, mode, benefit, id) => {
          const played = () => rules({ mode, benefit, random: new Random(id, 'seed') })
          const first = ranked(models, played())
          expect(ranked(models.toReversed(), played())).to.deep.equal(first)
          expect(first[0]?.pass).to.equal(true)
          expect(first).to.have.length(models.length)
          const won = first
            .filter(({ pass }) => pass)
            .map(({ draw, share, c, rest, continuity }) => share * draw - (1 - share) * c + rest + continuity)
          expect((won[0] ?? 0) - Math.max(...won), 'these are all that the score has').to.be.closeTo(0, 1e-9)
        },
      ),
    )
  })
})
