import { mkdtemp, rm, writeFile } from 'node:fs/promises'
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

/** The texts of three keys: one has a budget, one a rate limit, one a number of places. */
const bought = 'sk-bought-0123456789abcdef0123456789abcdef'
const rated = 'sk-rated-0123456789abcdef0123456789abcdef'
const placed = 'sk-placed-0123456789abcdef0123456789abcdef'
const messages = [{ role: 'user', content: 'Hello' }]

/** USD and micro-USD of one answer: 13 tokens at 100 USD per million. */
const cost = 1_300

describe('limits over several processes', function () {
  this.timeout(600_000)

  let folder: string
  let upstream: ScriptedUpstream
  let serving: Serving[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-limits-'))
    upstream = await scriptedUpstream()
  })
  beforeEach(() => upstream.answer({ body: chatAnswer }))
  after(async () => {
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts a gateway on a database of its own or of others. Resolves to its address. */
  const start = async (name: string, usd: number, requests: number, more: object): Promise<string> => {
    const settings = {
      database: { url: `sqlite:${join(folder, name)}.db` },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100, output: 100 } }],
      api_keys: [
        { name: 'bought', key: bought, budget: { usd, period: 'total' } },
        { name: 'rated', key: rated, rate_limit: { requests, period: '30d' } },
        { name: 'placed', key: placed, rate_limit: { concurrency: 2 } },
      ],
      ...more,
    }
    const file = `${name}-${serving.length}.yaml`
    await writeFile(join(folder, file), stringify(settings))
    const process = startServe(
      folder,
      { SLUICE_SECRET: 'secret-of-the-test-0123456789' },
      '--config',
      file,
      '--json',
      '--no-watch',
    )
    serving.push(process)
    const url = () =>
      process.out.map((line) => (JSON.parse(line) as { url?: string }).url).find((one) => one !== undefined)
    await process.until(() => url() !== undefined)
    return url() as string
  }
  const end = async () => {
    for (const process of serving) await process.remove()
  }
  const ask = async (url: string, key: string): Promise<number> => {
    try {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'm', messages, max_tokens: 10 }),
      })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      // The process was killed.
      return 0
    }
  }
  /** Asks again while the store is too slow on a busy machine. Without it, gateways that are `closed` admit nothing. */
  const askAgain = async (url: string, key: string): Promise<number> => {
    for (;;) {
      const status = await ask(url, key)
      if (status !== 503) return status
    }
  }
  /** Asks until a limit refuses. Returns how many were served. */
  const useUp = async (urls: readonly string[], key: string): Promise<number> => {
    for (let served = 0, asked = 0; ; asked++) {
      const status = await ask(urls[asked % urls.length] ?? '', key)
      if (status === 429) return served
      if (status === 200) served++
    }
  }

  /** Sends many requests with the key that has a budget, all of which wait for the provider until `goOn`. */
  const race = async (urls: readonly string[], each: number, key = bought) => {
    const gate = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await gate.promise
      return { body: chatAnswer }
    })
    const before = upstream.requests.length
    const held = () => upstream.requests.length - before
    const statuses: number[] = []
    const asked = urls.flatMap((url) =>
      Array.from({ length: each }, async () => void statuses.push(await askAgain(url, key))),
    )
    await until(() => statuses.length + held() >= asked.length)
    const refusals = [...statuses]
    const goOn = async () => {
      gate.resolve()
      await Promise.all(asked)
      upstream.answer({ body: chatAnswer })
      return statuses.filter((status) => status === 200).length
    }
    return { held: held(), refusals, goOn }
  }

  // Without the store, they admit nothing.
  const server_config = { rate_limits: { on_store_failure: 'closed' } }

  describe('with Redis', () => {
    const usd = 0.1
    let urls: readonly string[]
    before(async function () {
      const key_value = { url: (await startRedis(this)).url }
      const more = { listen: { port: 0 }, key_value, server_config }
      serving = []
      urls = await Promise.all([1, 2, 3].map(() => start('redis', usd, 100, more)))
    })
    after(end)

    it('admit a full bucket of requests over all processes, and not one more', async () => {
      const statuses = await Promise.all(urls.flatMap((url) => Array.from({ length: 100 }, () => ask(url, rated))))
      const served = statuses.filter((status) => status === 200).length
      // A busy machine may be too slow for the store, which is then not waited for.
      expect(served).to.be.within(statuses.includes(503) ? 0 : 100, 100)
      expect(served + (await useUp(urls, rated))).to.be.within(statuses.includes(503) ? 0 : 100, 100)
    })

    it('exceed a budget by one request at most, however many race for it and whichever is killed', async () => {
      const { held, refusals, goOn } = await race(urls, 300)
      expect(refusals).not.to.include(200)
      // As many are held as their estimates fit in.
      expect(held).to.be.within(1, 80)
      serving[0]?.signal('SIGKILL')
      const served = await goOn()
      const killed = held - served
      // What the killed process holds stays held, so that less than the budget is spent.
      const more = await useUp(urls.slice(1), bought)
      expect((served + more - 1) * cost).to.be.lessThan(usd * 1e6)
      expect((held + more + 1) * 2 * cost).to.be.at.least(usd * 1e6 - killed)
    })
  })

  describe('with Redis, when one of two is killed', () => {
    let urls: readonly string[]
    before(async function () {
      const key_value = { url: (await startRedis(this)).url }
      serving = []
      urls = await Promise.all(
        [1, 2].map(() => start('killed', 0.003, 100, { listen: { port: 0 }, key_value, server_config })),
      )
    })
    after(end)

    it('give back its places and money, so that others are admitted within half a minute', async () => {
      const [first = '', second = ''] = urls
      const [money, places] = [await race([first], 3), await race([first], 3, placed)]
      expect(money.held).to.be.within(1, 2)
      // What was too late for a busy machine keeps its place, too.
      expect(places.held).to.be.within(1, 2)
      for (const { held, refusals } of [money, places]) expect(refusals).to.deep.equal(Array(3 - held).fill(429))
      expect([await askAgain(second, bought), await askAgain(second, placed)]).to.deep.equal([429, 429])
      serving[0]?.signal('SIGKILL')
      await places.goOn()
      await money.goOn()
      // A busy machine takes longer than half a minute; the time limit of a test ends a wait for the hold's own end.
      await until(async () => (await ask(second, bought)) === 200)
      // A place is given back a moment after its answer.
      const both = () => Promise.all([1, 2].map(() => ask(second, placed)))
      await until(async () => (await both()).every((status) => status === 200))
    })
  })

  describe('without Redis', () => {
    const usd = 0.05
    let url: string
    before(async () => {
      serving = []
      url = await start('workers', usd, 40, { listen: { port: 0, workers: 3 } })
    })
    after(end)

    it('admit exactly a full bucket of requests over all processes', async () => {
      const statuses = await Promise.all(Array.from({ length: 120 }, () => ask(url, rated)))
      expect(statuses.filter((status) => status === 200)).to.have.length(40)
      expect(statuses.filter((status) => status === 429)).to.have.length(80)
    })

    it('exceed a budget by one request at most, when several processes serve and one is killed', async () => {
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
      const { held, refusals, goOn } = await race([url], 300)
      expect(refusals.filter((status) => status !== 429)).to.deep.equal([])
      const [victim = 0] = pids()
      globalThis.process.kill(victim, 'SIGKILL')
      const served = await goOn()
      // What the killed process held is free again, but for what it charged and could not answer any more.
      const more = await useUp([url], bought)
      expect((served + more - 1) * cost).to.be.lessThan(usd * 1e6)
      expect((held + more) * cost).to.be.at.least(usd * 1e6)
    })
  })
})
