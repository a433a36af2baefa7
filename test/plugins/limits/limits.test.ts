import { expect } from 'chai'
import type { Limits } from '../../../plugins/limits/limits.ts'
import { periodStart } from '../../../engine/kit.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { tablesOf } from '../../support/tables.ts'

const limitsOf = ({ engine }: RunningGateway) => engine.live.current.views.of(['limits'])['limits'] as Limits

describe('plugins/limits/limits', function () {
  this.timeout(300_000)

  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      server_config: { rate_limits: { budget: { server: { usd: 5, period: 'total' } } } },
    })
    const today = Math.floor(Date.now() / 86_400_000)
    await tablesOf(gateway.engine.database)
      .insertInto('limits_sums')
      .values([
        { bucket: 'key:k', day: today, micros: 1_500_000 },
        { bucket: 'server', day: today - 500, micros: 7_000_001 },
      ])
      .execute()
  })
  after(() => gateway.close())

  it('shows budgets with what is left of them, in their order', async () => {
    const limits = limitsOf(gateway)
    const now = Date.now()
    const month = new Date(periodStart('month', now)).toISOString()
    const key = { kind: 'key', id: 'k' } as const
    const [own, other, whole] = await limits.budgetsOf([
      [key, { usd: 10, period: 'month' }],
      [
        { kind: 'member', id: 'm' },
        { usd: 0, period: 'day' },
      ],
      [
        { kind: 'server', id: '' },
        { usd: 7, period: 'total' },
      ],
    ])
    const next = new Date(month)
    next.setUTCMonth(next.getUTCMonth() + 1)
    expect(own).to.deep.equal({
      usd: 10,
      period: 'month',
      spent: 1.5,
      held: 0,
      remaining: 8.5,
      resets_at: next.toISOString(),
      since: month,
    })
    expect(other).to.include({ usd: 0, period: 'day', spent: 0, remaining: 0 })
    expect(whole).to.include({ spent: 7.000001, remaining: 0, resets_at: null })
    expect(await limits.budgetOf(key, { usd: 1.25, period: 'month' })).to.include({ spent: 1.5, remaining: 0 })
    expect(await limits.serverBudget()).to.include({ usd: 5, spent: 7.000001, remaining: 0 })
  })

  it('resets a budget', async () => {
    const limits = limitsOf(gateway)
    const key = { kind: 'key', id: 'k' } as const
    expect((await limits.budgetOf(key, { usd: 10, period: 'week' })).spent).to.equal(1.5)
    await limits.reset(key)
    const { spent, remaining, since } = await limits.budgetOf(key, { usd: 10, period: 'week' })
    expect({ spent, remaining }).to.deep.equal({ spent: 0, remaining: 10 })
    expect(Date.parse(since)).to.be.closeTo(Date.now(), 60_000)
  })
})
