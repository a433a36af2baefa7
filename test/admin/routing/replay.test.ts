import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'
import { pool } from '../../routing/seeing/rig.ts'
import { onEachDatabase, startLogs } from '../logs/rig.ts'
import type { LogsGateway } from '../logs/rig.ts'

const route = 'POST /api/routing/replay'
const since = '2020-01-01T00:00:00Z'

interface Replayed {
  readonly rows: number
  readonly changed: number
  readonly cost_change: number
  readonly data: readonly { readonly request_id: string; readonly was: JsonObject; readonly would: JsonObject }[]
}

describe(route, () => {
  onEachDatabase((settings) => {
    const asked = 12
    let gateway: LogsGateway
    let upstream: ScriptedUpstream
    before(async () => {
      upstream = await scriptedUpstream()
      upstream.answer({ body: chatAnswer })
      gateway = await startLogs({
        ...(await settings()),
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
        models: pool,
        server_config: { smart_routing: { enabled: true } },
      })
      for (let time = 0; time < asked; time++) {
        const model = ['auto', 'fast', 'best', 'large'][time % 4]
        const messages = [{ role: 'user', content: `Explain the proof number ${time}, step by step.` }]
        await (await gateway.post('/v1/chat/completions', { model, messages })).text()
      }
      await gateway.rows(asked)
    })
    after(async () => {
      await gateway.close()
      await upstream.close()
    })
    const replay = async (body: object) => {
      const { status, body: value } = await gateway.asAdmin(route, { since, ...body })
      expect(status, JSON.stringify(value)).to.equal(200)
      return value as unknown as Replayed
    }

    it('decides the same by the settings that run', async () => {
      const { rows, changed, cost_change, data } = await replay({ settings: {} })
      expect({ rows, changed, cost_change }).to.deep.equal({ rows: 9, changed: 0, cost_change: 0 })
      expect(Object.keys(data[0] ?? {})).to.deep.equal(['request_id', 'at', 'was', 'would'])
      for (const { was, would } of data) {
        expect(Object.keys(was)).to.deep.equal(['model', 'tier', 'cost_estimate'])
        expect(would).to.deep.equal({ ...was, because: 'same' })
      }
    })

    it('decides otherwise by other settings, and says what that would cost', async () => {
      const weights = { fast: 1, auto: 1, best: 1 }
      const gate = { fast: 1, auto: 1, best: 1 }
      const dear = await replay({
        settings: { quality_weights: weights, quality_gate: gate, exploration: { enabled: false } },
      })
      const free = { fast: 0, auto: 0, best: 0 }
      const cheap = await replay({
        settings: { quality_weights: free, quality_gate: free, exploration: { enabled: false } },
      })
      expect(dear.cost_change).to.be.above(cheap.cost_change)
      expect(dear.changed + cheap.changed).to.be.above(0)
      const off = await replay({ settings: { enabled: false } })
      expect(off.data[0]?.would).to.deep.equal({ model: null, tier: null, cost_estimate: null, because: 'off' })
      expect((await gateway.asAdmin('GET /api/config/server/smart_routing')).body['enabled']).not.to.equal(false)
    })

    it('decides the latest ones, calls nobody and writes nothing', async () => {
      const calls = upstream.requests.length
      const { data } = await replay({ settings: {}, limit: 2 })
      expect(data).to.have.length(2)
      const all = await replay({ settings: {} })
      expect(data.map(({ request_id: id }) => id)).to.deep.equal(all.data.slice(0, 2).map(({ request_id: id }) => id))
      expect(upstream.requests).to.have.length(calls)
      expect(await gateway.rows()).to.have.length(asked)
      expect((await replay({ settings: {}, since: '2999-01-01T00:00:00Z' })).rows).to.equal(0)
    })

    it('refuses what is wrong', async () => {
      const wrong = [
        [{ since }, 'settings'],
        [{ settings: {} }, 'since'],
        [{ settings: {}, since: 'now' }, 'since'],
        [{ settings: {}, since, limit: 1_001 }, 'limit'],
        [{ settings: { speed: 1 }, since }, 'settings.speed'],
      ] as const
      for (const [body, param] of wrong)
        expect(await gateway.asAdmin(route, body), param).to.include({ status: 422, param })
      expect((await gateway.asViewer(route, { settings: {}, since })).status).to.equal(403)
    })
  })
})
