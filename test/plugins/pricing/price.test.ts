import { expect } from 'chai'
import type { Bill, Host, Metered, Scope, Usage } from '../../../engine/index.ts'
import price from '../../../plugins/pricing/price.ts'

const usage: Usage = { input: 100, cacheRead: 40, cacheWrite: 0, output: 10, reasoning: 5 }
const model = {
  model: { name: 'small', pricing: { input: 1, output: 2, cache_read: 0.1 } },
  provider: { name: 'acme' },
}
const outcome = { status: 200, result: 'completed', duration: 1, bytes: 1 }
const measurementOf = (metered: Metered) => ({ read: () => ({ complete: true, losses: [], ...metered }) })

const find = (name: string) =>
  name === 'acme/writer-2026' ? { name: 'writer', pricing: { input: 10, output: 20 } } : undefined

function billOf(slots: object, tokens = 'all'): Bill {
  const run = price.build({ tokens }, { catalog: { find } } as unknown as Host)
  return (run({ outcome, ...slots }, {} as Scope) as { bill: Bill }).bill
}

describe('plugins/pricing/price', () => {
  it('needs only the outcome', () => {
    expect(price).to.deep.include({ name: 'price', needs: ['outcome'], provides: ['bill'] })
  })

  it('says what was used and what that costs', () => {
    expect(billOf({ model, measurement: measurementOf({ usage }) })).to.deep.equal({
      tokens: usage,
      cost: { micros: 134, origin: 'reported' },
    })
  })

  it('bills cached tokens without a price of their own by that of the input, and says so', () => {
    const used = { ...usage, cacheWrite: 8 }
    const notes = new Map<string, unknown>()
    const run = price.build({ tokens: 'all' }, { catalog: { find } } as unknown as Host)
    const plain = { ...model, model: { name: 'small', pricing: { input: 1, output: 2 } } }
    const scope = { note: (key: string, value: unknown) => void notes.set(key, value) } as unknown as Scope
    const slots = { outcome, model: plain, measurement: measurementOf({ usage: used }) }
    const { bill } = run(slots, scope) as { bill: Bill }
    expect(bill.cost).to.deep.equal({ micros: 100 + 40 + 10 + 20 + 10, origin: 'reported' })
    expect([...notes]).to.deep.equal([['priced_as_input', ['cache_read', 'cache_write']]])
  })

  it('counts the input alone where that is all that costs', () => {
    const { tokens, cost } = billOf({ model, measurement: measurementOf({ usage }) }, 'input')
    expect(tokens).to.deep.equal(usage)
    expect(cost.micros).to.equal(104)
  })

  it('is free where nothing is billed, whatever the answer says', () => {
    for (const metered of [{}, { usage }]) {
      const { cost } = billOf({ model, measurement: measurementOf(metered) }, 'none')
      expect(cost.micros).to.equal(0)
    }
  })

  it('says that it is estimated', () => {
    expect(billOf({ model, measurement: measurementOf({ usage, estimated: true }) }).cost.origin).to.equal('estimated')
  })

  it('says what was used beside tokens', () => {
    const speech = { ...model, model: { name: 'tts', pricing: { characters: 15 } } }
    expect(billOf({ model: speech, measurement: measurementOf({ units: { characters: 1000 } }) })).to.deep.equal({
      characters: 1000,
      tokens: undefined,
      cost: { micros: 15_000, origin: 'reported' },
    })
  })

  it('adds what further models cost that the provider used, at their own prices', () => {
    const further = (name: string) => [{ model: name, usage: { ...usage, cacheRead: 0 } }]
    const cost = (name: string) => billOf({ model, measurement: measurementOf({ usage, further: further(name) }) }).cost
    expect(cost('writer-2026')).to.deep.equal({ micros: 134 + 1_300, origin: 'reported' })
    expect(cost('other')).to.deep.equal({ micros: undefined, origin: 'unknown' })
  })

  it('knows no cost where nobody knows what was used or what that costs', () => {
    const unpriced = { ...model, model: { name: 'small' } }
    expect(billOf({ model: unpriced, measurement: measurementOf({ usage }) })).to.deep.equal({
      tokens: usage,
      cost: { micros: undefined, origin: 'unknown' },
    })
    const unknown = { tokens: undefined, cost: { micros: undefined, origin: 'unknown' } }
    expect(billOf({ model })).to.deep.equal(unknown)
    expect(billOf({ model, measurement: measurementOf({ usage: { ...usage, output: -1 } }) })).to.deep.equal(unknown)
    const lost = { outcome: { ...outcome, error: { code: 'worker_lost', message: '' } } }
    expect(billOf(lost)).to.deep.equal(unknown)
  })

  it('costs nothing where no provider was asked', () => {
    expect(billOf({})).to.deep.equal({
      tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
      cost: { micros: 0, origin: 'unasked' },
    })
  })
})
