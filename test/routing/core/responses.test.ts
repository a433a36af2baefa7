import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { says } from '../../service/background.ts'
import { openSession } from '../../service/responses-session.ts'
import { chatFrames, responsesAnswer } from '../../service/streams.ts'
import { redis } from '../../support/services.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import { until } from '../../support/until.ts'
import { startRouting, threeModels } from './rig.ts'
import type { Routing } from './rig.ts'

const input = (complexity: number) => `complexity ${complexity}`

describe('routing/responses', () => {
  let rig: Routing
  afterEach(() => rig.close())

  const blocks = async (least: number) =>
    (await rig.gateway.rows(least)).map(({ metadata }) => (JSON.parse(metadata) as JsonObject)['routing'] as JsonObject)

  it('are routed over HTTP and WebSocket, each turn anew', async () => {
    rig = await startRouting()
    expect((await rig.gateway.post('/v1/responses', { model: 'auto', input: input(0.1) })).status).to.equal(200)
    const session = await openSession(rig.gateway)
    for (const complexity of [0.5, 0.95]) {
      rig.upstream.answer({ frames: chatFrames('Hello') })
      await session.turn({ model: 'auto', input: input(complexity) })
    }
    session.socket.close()
    expect((await blocks(3)).map(({ served }) => served)).to.deep.equal(['small', 'mid', 'large'])
  })

  it('in the background are served as was decided when they were asked for', async function () {
    const { url } = await redis(this)
    rig = await startRouting({ key_value: { url } })
    rig.upstream.answer(says('chat', 'Hello'))
    const begun = await rig.gateway.post('/v1/responses', { model: 'auto', input: input(0.95), background: true })
    expect([begun.status, begun.headers.get('x-gateway-tier')]).to.deep.equal([200, 'COMPLEX'])
    const { id } = (await begun.json()) as { id: string }
    await until(async () => {
      const headers = { authorization: `Bearer ${rig.gateway.key}` }
      const answer = await fetch(`${rig.gateway.url}/v1/responses/${id}`, { headers })
      return ((await answer.json()) as JsonObject)['status'] === 'completed'
    })
    const rows = await rig.gateway.rows(1)
    const [row, ...others] = rows.filter(({ metadata }) => metadata.includes('routing_tier'))
    expect(others).to.deep.equal([])
    const metadata = JSON.parse(row?.metadata ?? '{}') as JsonObject
    expect(metadata).to.deep.include({ background: true, routing_tier: 'COMPLEX', resolved_model: 'large' })
    expect(metadata['routing']).to.deep.include({ chosen: 'large', served: 'large' })
    // It was classified once, when it was asked for.
    expect(JSON.stringify(metadata['laps'])).not.to.include('classify')
  })

  it('that continue a part that is known here go to the place that has the rest', async () => {
    const upstreams = [await scriptedUpstream(), await scriptedUpstream()]
    upstreams.forEach((upstream, index) => upstream.answer({ body: { ...responsesAnswer, id: `resp_${index}` } }))
    const models = ['one', 'other'].map((name, index) => ({ ...threeModels[index], name, provider: name }))
    rig = await startRouting({
      providers: ['one', 'other'].map((name, index) => {
        return { name, type: 'native', base_url: upstreams[index]?.url, api_key: 'upstream-key' }
      }),
      models,
    })
    const ask = async (body: object) => {
      const answer = await rig.gateway.post('/v1/responses', { model: 'auto', input: input(0.1), ...body })
      expect(answer.status).to.equal(200)
      return (await answer.json()) as { readonly id: string }
    }
    const unknown = { previous_response_id: 'resp_of_somebody_else' }
    const { id } = await ask({ ...unknown, routing: { allow: ['other'] } })
    await ask(unknown)
    await ask({ previous_response_id: id })
    const routed = (await blocks(3)).map(({ candidates }) => candidates)
    // Nobody knows who has the first one; who has the second one is known.
    expect(routed).to.deep.equal([['other'], ['one', 'other'], ['other']])
    await Promise.all(upstreams.map((upstream) => upstream.close()))
  })

  it('that continue what the gateway does not know go to providers that may know it', async () => {
    const upstream = await scriptedUpstream()
    const native = { name: 'own', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }
    const chat = { name: 'far', type: 'compatible', base_url: upstream.url }
    const unknown = { model: 'auto', input: input(0.1), previous_response_id: 'resp_of_somebody_else' }
    rig = await startRouting({
      providers: [chat, native],
      models: [...threeModels, { ...threeModels[2], name: 'native', provider: 'own' }],
    })
    upstream.answer({ body: responsesAnswer })
    expect((await rig.gateway.post('/v1/responses', unknown)).status).to.equal(200)
    expect((await blocks(1))[0]).to.deep.include({ candidates: ['native'], served: 'native' })
    expect(JSON.parse(String(upstream.requests[0]?.body))).to.include({ previous_response_id: 'resp_of_somebody_else' })
    await rig.close()
    rig = await startRouting()
    const answer = await rig.gateway.post('/v1/responses', unknown)
    expect(answer.status).to.equal(400)
    expect(await answer.json()).to.have.nested.property('error.code', 'previous_response_not_found')
    expect(rig.asked).to.deep.equal([])
    await upstream.close()
  })
})
