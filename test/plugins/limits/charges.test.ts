import { expect } from 'chai'
import type { Bill } from '../../../engine/index.ts'
import { Charges } from '../../../plugins/limits/charges.ts'
import type { LedgerTable } from '../../../plugins/limits/table.ts'
import { until } from '../../support/until.ts'

type Counting = ConstructorParameters<typeof Charges>[0]

const bill = { tokens: undefined, cost: { micros: 5, origin: 'reported' } } as Bill
const ended = { id: 'exchange', at: 1, principal: undefined, bill, model: undefined }

describe('plugins/limits/charges', () => {
  const chargesWith = (settle: Counting['settle']) => {
    const written: LedgerTable[] = []
    const counting = { settle } as unknown as Counting
    const charges = new Charges(counting, { charge: (row) => void written.push(row) })
    charges.carry = (row) => void written.push(row)
    charges.reserved('exchange', { budgets: [], at: 1, held: 9, lasts: 1, estimates: [], input: 7 })
    return { charges, written }
  }

  it('write a charge once, although shared counters do not answer in time', async () => {
    let answer: () => void = () => undefined
    const { charges, written } = chargesWith(() => new Promise((resolve) => (answer = () => resolve(undefined))))
    const charged = charges.charge(ended)
    expect(written).to.deep.equal([])
    await charged
    expect(written).to.have.length(1)
    answer()
    await new Promise(setImmediate)
    expect(written).to.have.length(1)
  })

  it('write a charge after shared counters have failed, too', async () => {
    const { charges, written } = chargesWith(() => Promise.reject(new Error('away')))
    const failed = await Promise.resolve(charges.charge(ended)).catch((error: unknown) => error)
    expect(failed).to.be.an('error')
    await until(() => written.length === 1)
  })

  it('charge the input of a lost request where the counters do not know its hold', async () => {
    const { charges, written } = chargesWith(() => Promise.resolve(undefined))
    expect((await charges.chargeLost(ended, [], true)).micros).to.equal(7)
    expect(written.map(({ micros }) => micros)).to.deep.equal([7])
  })

  it('charge nothing of a lost request that nobody was asked for', async () => {
    const { charges, written } = chargesWith(() => Promise.resolve(undefined))
    expect((await charges.chargeLost(ended, [], false)).micros).to.equal(0)
    expect(written).to.deep.equal([])
  })
})
