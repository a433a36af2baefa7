import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { startServe } from '../../engine/cli/process.ts'
import type { Serving } from '../../engine/cli/process.ts'
import { chatAnswer } from '../../service/streams.ts'
import { redis as startRedis } from '../../support/services.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const secret = 'sk-limited-0123456789abcdef0123456789abcdef'
const messages = [{ role: 'user', content: 'Hello' }]

/** USD and micro-USD of one answer: 13 tokens at 100 USD per million. */
const cost = 1_300

describe('limits over several processes', function () {
  this.timeout(600_000)

  let folder: string
  let upstream: ScriptedUpstream
  let serving: Serving[]
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-limits-'))
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    serving = []
  })
  afterEach(async () => {
    for (const process of serving) await process.remove()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts a gateway. Resolves to its address. */
  const start = async (limits: object, more: object = {}): Promise<string> => {
    const settings = {
      listen: { port: 0 },
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 } }],
      api_keys: [{ name: 'limited', key: secret, ...limits }],
      ...more,
    }
    const name = `sluice-${serving.length}.yaml`
    await writeFile(join(folder, name), stringify(settings))
    const process = startServe(
      folder,
      { SLUICE_SECRET: 'secret-of-the-test-0123456789' },
      '--config',
      name,
      '--json',
      '--no-watch',
    )
    serving.push(process)
    const url = () =>
      process.out.map((line) => (JSON.parse(line) as { url?: string }).url).find((one) => one !== undefined)
    await process.until(() => url() !== undefined)
    return url() as string
  }
  const ask = async (url: string, more: object = {}): Promise<number> => {
    try {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify({ model: 'm', messages, max_tokens: 10, ...more }),
      })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      // The process was killed.
      return 0
    }
  }
  /** Asks until a limit refuses. Returns how many were served. */
  const useUp = async (urls: readonly string[]): Promise<number> => {
    for (let served = 0, asked = 0; ; asked++) {
      const status = await ask(urls[asked % urls.length] ?? '')
      if (status === 429) return served
      if (status === 200) served++
    }
  }

  describe('with Redis', () => {
    let key_value: { url: string }
    before(async function () {
      key_value = { url: (await startRedis(this)).url }
    })

    /** Three gateways that admit nothing without the store. */
    const startThree = (limits: object) => {
      const server_config = { rate_limits: { on_store_failure: 'closed' } }
      return Promise.all([1, 2, 3].map(() => start(limits, { key_value, server_config })))
    }

    it('exceed a budget by one request at most, however many race for it and whichever is killed', async () => {
      const usd = 0.1
      const urls = await startThree({ budget: { usd, period: 'total' } })
      const gate = Promise.withResolvers<void>()
      upstream.answer(async () => {
        await gate.promise
        return { body: chatAnswer }
      })
      const statuses: number[] = []
      const asked = urls.flatMap((url) => Array.from({ length: 300 }, async () => void statuses.push(await ask(url))))
      await until(() => statuses.length + upstream.requests.length === 900)
      expect(statuses).not.to.include(200)
      // As many are held as their estimates fit in.
      const held = upstream.requests.length
      expect(held).to.be.within(1, 80)
      serving[0]?.signal('SIGKILL')
      gate.resolve()
      await Promise.all(asked)
      upstream.answer({ body: chatAnswer })
      const served = statuses.filter((status) => status === 200).length
      const killed = held - served
      // What the killed process holds stays held, so that less than the budget is spent.
      const more = await useUp(urls.slice(1))
      expect((served + more - 1) * cost).to.be.lessThan(usd * 1e6)
      expect((held + more + 1) * 2 * cost).to.be.at.least(usd * 1e6 - killed)
    })

    it('admit a full bucket of requests over all processes, and not one more', async () => {
      const urls = await startThree({ rate_limit: { requests: 100, period: '30d' } })
      const statuses = await Promise.all(urls.flatMap((url) => Array.from({ length: 100 }, () => ask(url))))
      const served = statuses.filter((status) => status === 200).length
      // A busy machine may be too slow for the store, which is then not waited for.
      expect(served).to.be.within(statuses.includes(503) ? 0 : 100, 100)
      expect(served + (await useUp(urls))).to.be.within(statuses.includes(503) ? 0 : 100, 100)
    })
  })

  it('exceed a budget by one request at most without Redis, when several processes serve and one is killed', async () => {
    const usd = 0.05
    const url = await start({ budget: { usd, period: 'total' } }, { listen: { port: 0, workers: 3 } })
    const process = serving[0] as Serving
    const pids = () => [
      ...new Set(
        process.error.flatMap((line) => {
          const { msg, pid } = JSON.parse(line) as { msg: string; pid: number }
          return msg === 'the configuration is live' ? [pid] : []
        }),
      ),
    ]
    await process.until(() => pids().length === 3)
    const gate = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await gate.promise
      return { body: chatAnswer }
    })
    const statuses: number[] = []
    const asked = Array.from({ length: 300 }, async () => void statuses.push(await ask(url)))
    await until(() => statuses.length + upstream.requests.length === 300)
    expect(statuses.filter((status) => status !== 429)).to.deep.equal([])
    const [victim = 0] = pids()
    globalThis.process.kill(victim, 'SIGKILL')
    gate.resolve()
    await Promise.all(asked)
    upstream.answer({ body: chatAnswer })
    const served = statuses.filter((status) => status === 200).length
    // What the killed process held is free again.
    const more = await useUp([url])
    expect((served + more - 1) * cost).to.be.lessThan(usd * 1e6)
    expect((served + more) * cost).to.be.at.least(usd * 1e6)
    // The processes share rates, too.
  })

  it('admit exactly a full bucket of requests over all processes without Redis', async () => {
    const url = await start({ rate_limit: { requests: 40, period: '30d' } }, { listen: { port: 0, workers: 3 } })
    const agent = new Agent()
    const statuses = await Promise.all(Array.from({ length: 120 }, () => ask(url)))
    agent.destroy()
    expect(statuses.filter((status) => status === 200)).to.have.length(40)
    expect(statuses.filter((status) => status === 429)).to.have.length(80)
  })
})
