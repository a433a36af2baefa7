import { expect } from 'chai'
import { chatAnswer } from '../../service/streams.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'

/** Micro-USD of one answer: 13 tokens at 100 USD per million. */
const cost = 1_300

describe('limits over several machines without a key-value store', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateways: RunningGateway[]
  let database: string
  before(async function () {
    database = (await postgres(this)).url
  })
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    gateways = []
  })
  afterEach(async () => {
    for (const gateway of gateways) await gateway.close()
    await upstream.close()
  })

  const start = async (limits: object) => {
    const gateway = await startGateway({
      database,
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 } }],
      api_keys: [{ name: 'limited', key: secret, ...limits }],
    })
    gateways.push(gateway)
    return gateway
  }
  const ask = async (gateway: RunningGateway) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 }
    const answer = await gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${secret}` })
    await answer.text()
    return answer.status
  }
  const spent = async ({ engine }: RunningGateway) => {
    const limits = viewOf(engine, 'limits')
    await limits.counting.refresh()
    const { spent: usd } = await limits.budgetOf({ kind: 'key', id: 'file:limited' }, { usd: 1, period: 'month' })
    return Math.round(usd * 1e6)
  }

  it('are counted by each for itself, and what was spent is known to all', async () => {
    const budget = { usd: 0.004, period: 'month' }
    const limits = { rate_limit: { requests: 3, period: '30d' }, budget }
    const [one, other] = [await start(limits), await start(limits)]
    expect([await ask(one), await ask(other), await ask(one)]).to.deep.equal([200, 200, 200])
    for (const gateway of [one, other]) await until(async () => (await spent(gateway)) === 3 * cost)
    // The last request may use up the rest; the rates of the two machines are their own.
    expect(await ask(one)).to.equal(200)
    for (const gateway of [one, other]) await until(async () => (await spent(gateway)) === 4 * cost)
    expect([await ask(one), await ask(other)]).to.deep.equal([429, 429])
  })

  it('are told of in one warning at the start', async () => {
    const { lines } = await start({})
    expect(lines.filter((line) => line.includes('no key-value store is configured'))).to.have.length(1)
  })
})
