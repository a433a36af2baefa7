import { expect } from 'chai'
import fc from 'fast-check'
import { chosenPlace, strategies } from '../../../plugins/resilience/strategy.ts'
import type { PlaceFacts } from '../../../plugins/resilience/strategy.ts'

const place = (facts: Partial<PlaceFacts> = {}): PlaceFacts => ({
  weight: 1,
  price: undefined,
  latency: undefined,
  active: 0,
  ...facts,
})
const never = () => expect.fail('nothing is drawn')

describe('the strategy', () => {
  it('order takes the first place', () => {
    expect(chosenPlace('order', [place({ active: 9 }), place()], never)).to.equal(0)
  })

  it('weighted takes each place as often as its weight says', () => {
    const places = [place({ weight: 1 }), place({ weight: 0 }), place({ weight: 3 })]
    const counts = [0, 0, 0]
    for (let step = 0; step < 400; step++) counts[chosenPlace('weighted', places, () => step / 400)]! += 1
    expect(counts).to.deep.equal([100, 0, 300])
    expect(chosenPlace('weighted', [place({ weight: 0 }), place({ weight: 0 })], () => 0.9)).to.equal(0)
  })

  it('fastest takes the one that began to answer soonest, and tries those that are not known', () => {
    expect(chosenPlace('fastest', [place({ latency: 30 }), place({ latency: 10 })], never)).to.equal(1)
    expect(chosenPlace('fastest', [place({ latency: 1 }), place(), place()], never)).to.equal(1)
  })

  it('cheapest takes the lowest price, and an unknown one last', () => {
    expect(chosenPlace('cheapest', [place(), place({ price: 3 }), place({ price: 2 })], never)).to.equal(2)
    expect(chosenPlace('cheapest', [place(), place()], never)).to.equal(0)
  })

  it('least_busy takes the one with the fewest requests', () => {
    expect(
      chosenPlace('least_busy', [place({ active: 2 }), place({ active: 1 }), place({ active: 1 })], never),
    ).to.equal(1)
  })

  it('always takes a place that is there', () => {
    const facts = fc.record({
      weight: fc.nat(),
      price: fc.option(fc.float({ min: 0, noNaN: true }), { nil: undefined }),
      latency: fc.option(fc.float({ min: 0, noNaN: true }), { nil: undefined }),
      active: fc.nat(),
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...strategies),
        fc.array(facts, { minLength: 1, maxLength: 16 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (strategy, places, drawn) => places[chosenPlace(strategy, places, () => drawn)] !== undefined,
      ),
    )
  })
})
