import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Limits } from '../../../plugins/limits/limits.ts'
import { chatAnswer } from '../../service/streams.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { redis as startRedis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'
const messages = [{ role: 'user' as const, content: 'Hello' }]

/** USD of one answer: 13 tokens at 100 USD per million. */
const cost = 0.0013

describe('plugins/limits/failover-counters', function () {
  this.timeout(300_000)

  let service: Service
  let upstream: ScriptedUpstream
  let gateways: RunningGateway[]
  before(async function () {
    service = await startRedis(this)
  })
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    gateways = []
  })
  afterEach(async () => {
    signal('SIGCONT')
    for (const gateway of gateways) await gateway.close()
    await upstream.close()
    const redis = new Redis(service.url)
    await redis.flushall()
    redis.disconnect()
  })

  const signal = (name: 'SIGSTOP' | 'SIGCONT') => void (service.pid && process.kill(service.pid, name))
  const start = async (limits: object, rate_limits: object = {}) => {
    const gateway = await startGateway({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 } }],
      api_keys: [{ name: 'limited', key: secret, ...limits }],
      key_value: { url: service.url },
      server_config: { rate_limits },
    })
    gateways.push(gateway)
    return gateway
  }
  const ask = ({ url }: RunningGateway) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'm', messages, max_tokens: 10 }),
    })
  const isBack = ({ lines }: RunningGateway) => until(() => lines.some((line) => line.includes('limits are back')))
  const budget = { usd: 1, period: 'month' } as const
  const state = ({ engine }: RunningGateway) => {
    const limits = engine.live.current.views.of(['limits'])['limits'] as Limits
    return limits.budgetOf({ kind: 'key', id: 'file:limited' }, budget)
  }

  it('counts for itself while the store does not answer, and tells so', async () => {
    const gateway = await start({ rate_limit: { requests: 3, period: '30d' }, budget })
    expect((await ask(gateway)).headers.has('x-gateway-limit')).to.equal(false)
    await gateway.rows(1)
    signal('SIGSTOP')
    for (const left of ['2', '1', '0']) {
      const answer = await ask(gateway)
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('x-gateway-limit')).to.equal('local')
      expect(answer.headers.get('x-ratelimit-remaining-requests')).to.equal(left)
    }
    expect((await ask(gateway)).status).to.equal(429)
    await until(async () => {
      const ready = await fetch(`${gateway.url}/api/health/ready`)
      return ((await ready.json()) as { degraded: string[] }).degraded.join() === 'key_value'
    })
    await gateway.rows(5)
    expect((await state(gateway)).spent).to.be.closeTo(4 * cost, 1e-9)
    signal('SIGCONT')
    await isBack(gateway)
    const answer = await ask(gateway)
    expect(answer.headers.has('x-gateway-limit')).to.equal(false)
    expect((await state(gateway)).spent).to.be.closeTo(4 * cost, cost + 1e-9)
  })

  it('takes an equal share of each limit with other processes', async () => {
    const [gateway, other] = [
      await start({ rate_limit: { requests: 5, period: '30d' } }),
      await start({ rate_limit: { requests: 5, period: '30d' } }),
    ]
    for (const one of [gateway, other]) {
      const limits = one.engine.live.current.views.of(['limits'])['limits'] as Limits
      await limits.counting.refresh()
      await limits.counting.refresh()
    }
    const limits = gateway.engine.live.current.views.of(['limits'])['limits'] as Limits
    await limits.counting.refresh()
    signal('SIGSTOP')
    const statuses: number[] = []
    for (let count = 0; count < 4; count++) statuses.push((await ask(gateway)).status)
    expect(statuses).to.deep.equal([200, 200, 429, 429])
  })

  it('admits nothing, or everything, if the operator wants that', async () => {
    const closed = await start({ rate_limit: { requests: 1, period: '30d' } }, { on_store_failure: 'closed' })
    const open = await start({ rate_limit: { requests: 1, period: '30d' }, budget }, { on_store_failure: 'open' })
    signal('SIGSTOP')
    const refused = await ask(closed)
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '1'])
    expect(((await refused.json()) as { error: { code: string } }).error.code).to.equal('store_unavailable')
    // What is not limited is answered, and says nothing of limits.
    for (const { url } of [closed, open]) {
      const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
      expect([models.status, models.headers.has('x-ratelimit-limit-requests')]).to.deep.equal([200, false])
    }
    for (const _ of [1, 2]) expect((await ask(open)).status).to.equal(200)
    await open.rows(2)
    signal('SIGCONT')
    await Promise.all([isBack(closed), isBack(open)])
    expect((await ask(closed)).status).to.equal(200)
    // What was spent meanwhile was written down.
    expect((await state(open)).spent).to.be.closeTo(2 * cost, cost + 1e-9)
  })

  it('knows what was spent and held when the store comes back empty', async () => {
    const gateway = await start({ budget })
    await ask(gateway)
    await gateway.rows(1)
    const go = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await go.promise
      return { body: chatAnswer }
    })
    const running = ask(gateway)
    await until(() => upstream.requests.length === 2)
    const before = await state(gateway)
    expect(before.held).to.be.greaterThan(0.001)
    const redis = new Redis(service.url)
    await redis.flushall()
    redis.disconnect()
    expect(await state(gateway)).to.deep.equal(before)
    go.resolve()
    await running
    await gateway.rows(2)
    expect(await state(gateway)).to.include({ spent: 2 * cost, held: 0 })
  })
})
