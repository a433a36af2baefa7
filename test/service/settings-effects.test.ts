import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Candidate } from '../../engine/index.ts'
import { startAdmin, viewOf } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { keysOf } from '../support/keys.ts'
import { redis as startRedis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { arrived, chatAnswer, chatFrames } from './streams.ts'

const chat = (more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...more })
const broken = { status: 500, body: { error: { message: 'broken' } } }

describe('a setting has its effect', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const settings = (server_config: object, more: GatewaySettings = {}): GatewaySettings => ({
    providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
    models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100, cache_read: 10 } }],
    server_config,
    ...more,
  })
  const start = async (server_config: object, more: GatewaySettings = {}) => {
    gateway = await startGateway(settings(server_config, more))
  }
  const ask = async (more: object = {}, key = gateway.key) => {
    const answer = await gateway.post('/v1/chat/completions', chat(more), { authorization: `Bearer ${key}` })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  describe('rate_limits', () => {
    /** Whose limits a setting gives, and a key that they bind. */
    const holders = [
      ['server', 'server', 'server'],
      ['key_default', 'key_default', 'key'],
      ['member_default', 'member_default', 'member'],
    ] as const

    for (const [name, budget, kind] of holders) {
      /** Starts a gateway with a limit. Resolves to a key that it binds. */
      const limited = async (rate_limits: object) => {
        const admin = await startAdmin(settings({ rate_limits }))
        gateway = admin
        if (kind !== 'member') return admin.key
        return (await keysOf(admin.engine).create({ name: 'own', owner: admin.viewer.id })).text
      }

      it(`${name}: requests, tokens and period`, async () => {
        for (const limit of [{ requests: 1 }, { tokens: 5 }]) {
          const key = await limited({ [name]: { ...limit, period: '1h' } })
          expect((await ask({}, key)).status).to.equal(200)
          await gateway.rows(1)
          const { status, headers } = await ask({}, key)
          expect([status, headers.get('x-gateway-limit')]).to.deep.equal([429, kind])
          expect(Number(headers.get('retry-after'))).to.be.above(1_800)
          await gateway.close()
        }
        await limited({})
      })

      it(`${name}: concurrency`, async () => {
        const key = await limited({ [name]: { concurrency: 1 } })
        const gate = Promise.withResolvers<void>()
        upstream.answer(async () => {
          await gate.promise
          return { body: chatAnswer }
        })
        const running = ask({}, key)
        await until(() => upstream.requests.length === 1)
        const { status, headers } = await ask({}, key)
        expect([status, headers.get('x-gateway-limit')]).to.deep.equal([429, kind])
        gate.resolve()
        expect((await running).status).to.equal(200)
      })

      it(`budget.${name}: usd and period`, async () => {
        const key = await limited({ budget: { [budget]: { usd: 0.001, period: 'week' } } })
        expect((await ask({}, key)).status).to.equal(200)
        await gateway.rows(1)
        const { status, headers, text } = await ask({}, key)
        expect([status, headers.get('x-gateway-limit')]).to.deep.equal([429, kind])
        expect(text).to.include('0.001 USD this week')
      })
    }

    it('count_cache_reads: whether they count towards tokens', async () => {
      const usage = { prompt_tokens: 90, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 80 } }
      upstream.answer({ body: { ...chatAnswer, usage } })
      const used = async (rate_limits: object) => {
        await start({ rate_limits: { key_default: { tokens: 1_000, period: '30d' }, ...rate_limits } })
        await ask()
        await gateway.rows(1)
        const { headers } = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': gateway.key } })
        return 1_000 - Number(headers.get('x-ratelimit-remaining-tokens'))
      }
      expect(await used({})).to.equal(14)
      await gateway.close()
      expect(await used({ count_cache_reads: true })).to.equal(94)
    })

    it('assumed_output_tokens: what a request without a maximum reserves', async () => {
      const reserved = async (rate_limits: object) => {
        await start({ rate_limits: { key_default: { tokens: 100_000, period: '30d' }, ...rate_limits } })
        return 100_000 - Number((await ask()).headers.get('x-ratelimit-remaining-tokens'))
      }
      const usual = await reserved({})
      expect(usual).to.be.above(4_096)
      await gateway.close()
      expect(await reserved({ assumed_output_tokens: 1_000 })).to.equal(usual - 3_096)
    })
  })

  describe('resilience', () => {
    const circuit = () =>
      viewOf(gateway.engine, 'resilience').healthOf({
        model: { name: 'm' },
        provider: { name: 'far' },
      } as unknown as Candidate).circuit

    it('breaker.ratio and breaker.minimum: how many of how many open it', async () => {
      const after = async (breaker: object) => {
        await start({ resilience: { retries: { tries: 1 }, breaker: { failures: 100, ...breaker } } })
        for (const script of [{ body: chatAnswer }, broken, { body: chatAnswer }, broken]) {
          upstream.answer(script)
          await ask()
        }
        await gateway.rows(4)
        const { state } = circuit()
        await gateway.close()
        return state
      }
      expect(await after({ ratio: 0.5, minimum: 5 })).to.equal('closed')
      expect(await after({ ratio: 0.6, minimum: 4 })).to.equal('closed')
      expect(await after({ ratio: 0.5, minimum: 4 })).to.equal('open')
      await start({})
    })

    it('breaker.window: for how long a failure counts', async () => {
      await start({ resilience: { retries: { tries: 1 }, breaker: { window: '1s' } } })
      upstream.answer(broken)
      await ask()
      const { resilience } = gateway.engine.live.current.views.of(['resilience'])
      const failures = async () => (await (resilience as { all(): Promise<Rows> }).all()).breakers[0]?.failures
      await until(async () => (await failures()) === 1)
      await until(async () => (await failures()) === 0)
    })

    it('breaker.open_max: how long it is open at most', async () => {
      await start({ resilience: { retries: { tries: 1 }, breaker: { failures: 1, open: '1h', open_max: '20ms' } } })
      upstream.answer(broken)
      await ask()
      await until(() => circuit().openedTimes === 1)
      const { openedAt = 0, retryAt = 0 } = circuit()
      expect(retryAt - openedAt).to.be.within(19, 21)
    })

    it('retries.wait: how long a further try waits at most', async () => {
      const { random } = Math
      Math.random = () => 0.999
      try {
        upstream.answer({ status: 503, body: {} }, { body: chatAnswer })
        await start({ resilience: { retries: { wait: '400ms' } } })
        const began = performance.now()
        expect((await ask()).status).to.equal(200)
        expect(performance.now() - began).to.be.at.least(390)
      } finally {
        Math.random = random
      }
    })

    it('retries.wait_max: a longer wait is not waited for', async () => {
      upstream.answer({ status: 503, body: {}, headers: { 'retry-after': '1' } }, { body: chatAnswer })
      await start({ resilience: { retries: { wait_max: '500ms' } } })
      expect((await ask()).status).to.equal(502)
      expect(upstream.requests).to.have.length(1)
    })

    it('retries.budget: the share of requests that may be tried again', async () => {
      upstream.answer(async () => {
        await upstream.when(() => upstream.requests.length >= 40)
        return { status: 503, body: {} }
      })
      await start({ resilience: { breaker: { enabled: false }, retries: { wait: '1ms', budget: 0.5 } } })
      await Promise.all(Array.from({ length: 40 }, () => ask()))
      expect(upstream.requests).to.have.length(60)
    })

    it('timeouts.connect: a provider that takes a connection, and says nothing', async () => {
      const sockets: Socket[] = []
      // It never answers the handshake of TLS.
      const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const base_url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
      try {
        await start(
          { resilience: { timeouts: { connect: '100ms' }, retries: { tries: 1 } } },
          { providers: [{ name: 'far', type: 'compatible', base_url }] },
        )
        expect((await ask()).status).to.equal(504)
      } finally {
        for (const socket of sockets) socket.destroy()
        server.close()
      }
    })

    it('timeouts.idle: a stream that falls silent', async () => {
      upstream.answer({ ...arrived(chatFrames('Hello').slice(0, 2)), ending: 'hang' })
      await start({ resilience: { timeouts: { idle: '200ms' } } })
      const { status, text } = await ask({ stream: true })
      expect(status).to.equal(200)
      expect(text).to.include('upstream_timeout')
    })

    it('timeouts.total: an answer that never comes', async () => {
      upstream.answer({ silent: true })
      await start({ resilience: { timeouts: { total: '200ms' }, retries: { tries: 1 } } })
      expect((await ask()).status).to.equal(504)
    })
  })

  it('provider_selection.sticky_ttl: how long a conversation stays', async function () {
    const { url } = await startRedis(this)
    const far = { name: 'far', type: 'compatible', base_url: upstream.url }
    const deployments = [{ provider: 'far', upstream_model: 'other' }]
    await start(
      { provider_selection: { sticky_ttl: '7m' } },
      { key_value: { url }, providers: [far], models: [{ name: 'm', provider: 'far', deployments }] },
    )
    const redis = new Redis(url)
    const lasting = async () => {
      const times = await Promise.all((await redis.keys('*')).map((key) => redis.pttl(key)))
      return times.filter((time) => time > 6 * 60_000 && time <= 7 * 60_000)
    }
    try {
      await redis.flushall()
      expect((await ask()).status).to.equal(200)
      await until(async () => (await lasting()).length > 0)
    } finally {
      redis.disconnect()
    }
  })

  it('security.password_min_length: what a password must have', async () => {
    const password = 'twenty characters...'
    const setUp = async (length: number) => {
      gateway = await startGateway({ server_config: { security: { password_min_length: length } } })
      const token = viewOf(gateway.engine, 'members').setupToken()
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ token, username: 'ann', password })
      return (await fetch(`${gateway.url}/api/auth/setup`, { method: 'POST', headers, body })).status
    }
    expect(await setUp(21)).to.equal(422)
    await gateway.close()
    expect(await setUp(20)).to.be.oneOf([200, 201])
  })

  it('logging.level: what the process logs', async () => {
    const logged = async (level: string) => {
      await start({ logging: { level } })
      upstream.answer(broken)
      await ask()
      await gateway.rows(1)
      return gateway.lines.filter((line) => line.includes('a provider failed')).length
    }
    expect(await logged('warn')).to.be.above(0)
    await gateway.close()
    expect(await logged('error')).to.equal(0)
  })
})

interface Rows {
  readonly breakers: readonly { readonly failures: number }[]
}
