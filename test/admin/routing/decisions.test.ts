import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { pool } from '../../routing/seeing/rig.ts'
import { chatAnswer } from '../../service/streams.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { onEachDatabase, startLogs } from '../logs/rig.ts'
import type { LogsGateway } from '../logs/rig.ts'

const route = 'GET /api/routing/decisions'

interface Listed {
  readonly data: readonly JsonObject[]
  readonly next_cursor: string | null
}

describe(route, () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    let upstream: ScriptedUpstream
    const ids: string[] = []
    before(async () => {
      upstream = await scriptedUpstream()
      upstream.answer({ body: chatAnswer })
      gateway = await startLogs({
        ...(await settings()),
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
        models: pool,
        server_config: { smart_routing: { enabled: true, exploration: { enabled: false } } },
      })
      const text = { role: 'user', content: 'Explain the proof, step by step.' }
      const image = {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      }
      for (const [model, message] of [
        ['auto', text],
        ['small', text],
        ['best', text],
        ['fast', image],
      ] as const) {
        const body = { model, messages: [message], routing: model === 'fast' ? { max_cost: 1e-9 } : undefined }
        const response = await gateway.post('/v1/chat/completions', body)
        await response.text()
        ids.push(response.headers.get('x-request-id') ?? '')
      }
      await gateway.rows(4)
    })
    after(async () => {
      await gateway.close()
      await upstream.close()
    })
    const list = async (query = '') => {
      const { status, body } = await gateway.asAdmin(`${route}${query}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return body as unknown as Listed
    }

    it('lists the routed requests, refused ones too, the latest first', async () => {
      const { data, next_cursor } = await list()
      expect(next_cursor).to.equal(null)
      expect(data.map((one) => one['request_id'])).to.deep.equal([ids[3], ids[2], ids[0]])
      const [refused, best, auto] = data
      expect(Object.keys(auto ?? {})).to.deep.equal([
        'request_id',
        'at',
        'mode',
        'tier',
        'complexity',
        'benefit',
        'confidence',
        'chosen',
        'served',
        'explored',
        'cost_estimate',
        'cost',
        'savings',
        'judge',
        'error',
      ])
      const { body: row } = await gateway.asAdmin(`GET /api/logs/${ids[0]}`)
      const { routing, at } = row as { readonly routing: JsonObject; readonly at: string }
      const { mode, tier, complexity, benefit, confidence, chosen, served, explored } = routing
      const [estimate, actual] = [routing['estimate'] as JsonObject, routing['actual'] as JsonObject]
      expect(auto).to.deep.equal({
        request_id: ids[0],
        at,
        mode,
        tier,
        complexity,
        benefit,
        confidence,
        chosen,
        served,
        explored,
        cost_estimate: estimate['cost'],
        cost: actual['cost'],
        savings: actual['savings'],
        judge: null,
        error: null,
      })
      expect(auto?.['savings']).to.be.a('number')
      expect(best).to.include({ mode: 'best', error: null })
      expect(refused).to.include({ mode: 'fast', chosen: null, served: null, cost: null, savings: null })
      expect(refused?.['error']).to.be.a('string')
    })

    it('goes on page by page, within two moments', async () => {
      const first = await list('?limit=2')
      expect(first.data).to.have.length(2)
      const second = await list(`?limit=2&cursor=${first.next_cursor}`)
      expect(second.data.map((one) => one['request_id'])).to.deep.equal([ids[0]])
      expect(second.next_cursor).to.equal(null)
      const at = second.data[0]?.['at'] as string
      expect((await list(`?until=${at}`)).data).to.deep.equal([])
      expect((await list(`?since=${at}&sort=at`)).data[0]?.['request_id']).to.equal(ids[0])
    })

    it('is for admins', async () => {
      expect((await gateway.asViewer(route)).status).to.equal(403)
      expect((await gateway.asNobody(route)).status).to.equal(401)
      expect((await gateway.asAdmin(`${route}?tier=SIMPLE`)).code).to.equal('unknown_field')
      expect((await gateway.asAdmin(`${route}?cursor=x`)).code).to.equal('invalid_cursor')
    })
  })
})
