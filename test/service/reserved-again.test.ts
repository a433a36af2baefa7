import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { root } from '../rules/sources.ts'
import { viewOf } from '../support/admin.ts'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'
import { redis } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from './streams.ts'

const secret = 'sk-bounded-0123456789abcdef0123456789abcdef'
const budget = { usd: 0.01, period: 'month' } as const
/** USD of one answer of the dear model: 13 tokens at 100 USD per million. */
const cost = 0.0013

const modelOf = (body: Buffer) => (JSON.parse(body.toString()) as { model: string }).model

for (const store of ['memory', 'Redis'] as const)
  describe(`candidates that are chosen anew, with counters in ${store}`, function () {
    this.timeout(300_000)

    let keyValue: object
    let upstream: ScriptedUpstream
    /** Name of the key: counters in Redis outlive a test. */
    let name: string
    let tests = 0
    let gateway: FolderGateway
    /** Lets the second model answer. */
    let go: PromiseWithResolvers<void>
    before(async function () {
      keyValue = store === 'Redis' ? { key_value: { url: (await redis(this)).url } } : {}
    })
    beforeEach(async () => {
      name = `bounded-${++tests}`
      go = Promise.withResolvers()
      upstream = await scriptedUpstream()
      const recipe = await readFile(join(root, 'docs/recipes/last-resort.yaml'), 'utf8')
      gateway = await startFolder(
        {
          providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
          models: [
            { name: 'cheap', provider: 'far', pricing: { input: 1, output: 1 } },
            { name: 'small', provider: 'far', pricing: { input: 100, output: 100 } },
          ],
          api_keys: [{ name, key: secret, budget }],
          server_config: { resilience: { breaker: { enabled: false } } },
          ...keyValue,
        },
        { 'pipelines/last-resort.yaml': recipe },
      )
    })
    afterEach(async () => {
      go.resolve()
      await gateway.close()
      await upstream.close()
    })

    const ask = async (max_tokens: number) => {
      const body = { model: 'cheap', messages: [{ role: 'user', content: 'Hello' }], max_tokens }
      const answer = await gateway.ask('/last-resort/v1/chat/completions', body, { authorization: `Bearer ${secret}` })
      return { status: answer.status, body: (await answer.json()) as { error?: { code: string } } }
    }
    const state = () => viewOf(gateway.engine, 'limits').budgetOf({ kind: 'key', id: `file:${name}` }, budget)
    const held = async () => (await state()).held
    /** The first model fails, and the answers of the other one wait for `go`. */
    const failing = () =>
      upstream.answer(async ({ body }) => {
        if (modelOf(body) === 'cheap') return { status: 503, body: { error: { message: 'busy' } } }
        await go.promise
        return { body: chatAnswer }
      })
    const models = () => upstream.requests.map(({ body }) => modelOf(body))

    it('hold their own cost, once, and are charged what they cost', async () => {
      failing()
      const running = [ask(10), ask(10)]
      await until(() => models().filter((model) => model === 'small').length === 2)
      // Ten tokens of output and the text, of two requests.
      const during = await held()
      expect(during).to.be.within(0.0024, 0.004)
      go.resolve()
      for (const one of running) expect((await one).status).to.equal(200)
      await until(async () => (await held()) === 0)
      expect((await state()).spent).to.be.closeTo(2 * cost, 1e-9)
    })

    it('are refused when they cost more than is left, and leave nothing held', async () => {
      failing()
      const running = ask(60)
      await until(() => models().includes('small'))
      // Most of the budget is held; what the cheap model costs still fits.
      const refused = await ask(60)
      expect([refused.status, refused.body.error?.code]).to.deep.equal([429, 'budget_exceeded'])
      expect(models().filter((model) => model === 'small')).to.have.length(1)
      go.resolve()
      expect((await running).status).to.equal(200)
      await until(async () => (await held()) === 0)
      expect((await state()).spent).to.be.closeTo(cost, 1e-9)
    })

    it('overspend nothing when many requests fall back at once', async () => {
      failing()
      const all = Array.from({ length: 20 }, () => ask(15))
      const asked = () => models().filter((model) => model === 'small').length
      const ended: number[] = []
      for (const one of all) void one.then(({ status }) => ended.push(status))
      await until(() => ended.length + asked() === 20)
      expect(await held()).to.be.at.most(budget.usd)
      go.resolve()
      const statuses = (await Promise.all(all)).map(({ status }) => status)
      const served = statuses.filter((status) => status === 200).length
      expect(served).to.be.within(3, 7)
      expect(statuses.filter((status) => status === 429)).to.have.length(20 - served)
      await until(async () => (await held()) === 0)
      expect((await state()).spent).to.be.closeTo(served * cost, 1e-9)
    })
  })
