import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { tablesOf } from '../../support/tables.ts'
import { pool } from '../../routing/seeing/rig.ts'

const route = 'POST /api/routing/preview'

describe(route, () => {
  let gateway: AdminGateway
  let upstream: ScriptedUpstream
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startAdmin({
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [...pool, { name: 'other', provider: 'far' }],
      api_keys: [
        { name: 'narrow', key: 'sk-narrow-0123456789', models: ['large'] },
        { name: 'nothing', key: 'sk-nothing-0123456789', models: ['other'] },
      ],
      server_config: { smart_routing: { enabled: true, exploration: { enabled: false } } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const preview = async (body: object) => {
    const { status, body: shown } = await gateway.asAdmin(route, body)
    expect(status, JSON.stringify(shown)).to.equal(200)
    return shown as JsonObject & { readonly candidates: readonly JsonObject[]; readonly error: JsonObject | null }
  }
  const say = (content: unknown, model = 'auto') => ({ model, messages: [{ role: 'user', content }] })
  const picture = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ]

  it('shows the whole decision', async () => {
    const shown = await preview({ model: 'auto', prompt: 'Prove that there are infinitely many primes.' })
    expect(Object.keys(shown)).to.deep.equal([
      'mode',
      'tier',
      'complexity',
      'benefit',
      'confidence',
      'confidence_raw',
      'reasoning',
      'facts',
      'votes',
      'gates',
      'floors',
      'judge',
      'candidates',
      'chosen',
      'estimate',
      'error',
    ])
    expect(shown).to.include({ mode: 'auto', error: null })
    expect(shown['tier']).to.be.oneOf(['SIMPLE', 'MEDIUM', 'COMPLEX'])
    expect(shown['judge']).to.deep.equal({ would_ask: false, because: 'off' })
    expect(shown['reasoning']).to.match(/^tier=[A-Z]+ \| .*chosen=\w+$/)
    expect(shown['reasoning']).not.to.include('primes')
    const [first] = shown.candidates
    expect(first?.['model']).to.equal(shown['chosen'])
    expect(shown.candidates.map(({ rank }) => rank)).to.deep.equal([1, 2, 3])
    expect(first).to.include.keys('level', 'cost', 'c', 'mean', 'score', 'pulls', 'reliability', 'latency')
    expect(shown['estimate']).to.include.keys('input', 'output', 'cost', 'baseline', 'baseline_cost')
  })

  it('routes a whole request in its protocol, as it would be routed', async () => {
    const settings = { floors: { vision: 'COMPLEX' } }
    const chat = await preview({ request: say(picture, 'BEST'), settings })
    expect(chat).to.include({ mode: 'best', tier: 'COMPLEX' })
    expect(chat['gates']).to.deep.include({ gate: 'images', left: 1, removed: ['small', 'mid'] })
    expect(chat['floors']).to.deep.equal(['floor=vision:COMPLEX'])
    expect(chat.candidates.slice(1)).to.deep.equal(
      ['small', 'mid'].map((model) => ({ model, excluded: 'images', because: 'It takes no images.' })),
    )
    const { chosen } = await preview({ protocol: 'messages', request: { ...say('Hello'), max_tokens: 64 } })
    expect(chosen).to.be.a('string')
    const responses = await preview({ protocol: 'responses', request: { model: 'fast', input: 'Hello' } })
    expect(responses).to.include({ mode: 'fast', error: null })
  })

  it('keeps to the models of an API key', async () => {
    expect(await preview({ request: say('Hello'), key: 'narrow' })).to.include({ chosen: 'large' })
    const { error, ...refused } = await preview({ request: say('Hello'), key: 'nothing' })
    expect(error).to.include({ status: 403, code: 'allowlist_exhausted' })
    expect(refused).to.include({ chosen: null, estimate: null })
    expect(refused['gates']).to.deep.equal([{ gate: 'allowlist', left: 0, removed: ['small', 'mid', 'large'] }])
    expect(refused['judge']).to.deep.equal({ would_ask: false, because: 'refused' })
    const unknown = await gateway.asAdmin(route, { request: say('Hello'), key: 'unknown' })
    expect(unknown).to.include({ status: 422, code: 'invalid_reference', param: 'key' })
  })

  it('tries settings that do not run', async () => {
    const mean = { request: say('Hello'), settings: { default_complexity: 0.9 } }
    expect((await preview(mean))['error']).to.equal(null)
    const cheap = await preview({ request: say('Hello', 'best'), settings: { quality_gate: { best: 0 } } })
    const strict = await preview({ request: say('Hello', 'best'), settings: { quality_gate: { best: 1 } } })
    expect(cheap.candidates.filter(({ pass }) => pass === true)).to.have.length(3)
    expect(strict.candidates.filter(({ pass }) => pass === true)).to.have.length(1)
    const off = await preview({ request: say('Hello'), settings: { enabled: false } })
    expect(off.error).to.include({ status: 400, code: 'configuration_error' })
    const wrong = await gateway.asAdmin(route, { request: say('Hello'), settings: { quality_gate: { best: 2 } } })
    expect(wrong).to.include({ status: 422, code: 'invalid_field', param: 'settings.quality_gate.best' })
    const unknown = await gateway.asAdmin(route, { request: say('Hello'), settings: { speed: 1 } })
    expect(unknown).to.include({ status: 422, code: 'unknown_field', param: 'settings.speed' })
    const nobody = await gateway.asAdmin(route, { request: say('Hello'), settings: { baseline_model: 'nobody' } })
    expect(nobody).to.include({ status: 422, code: 'invalid_reference', param: 'settings.baseline_model' })
  })

  it('draws the lots of a request id, again and again', async () => {
    const settings = { exploration: { enabled: true } }
    const draws = (id: string) => preview({ request: say('Hello'), request_id: id, settings })
    const [one, again, other] = [await draws('one'), await draws('one'), await draws('other')]
    const drawn = (shown: typeof one) => shown.candidates.map(({ model, draw }) => [model, draw])
    expect(drawn(again)).to.deep.equal(drawn(one))
    expect(drawn(other)).not.to.deep.equal(drawn(one))
    const seeded = await preview({ request: say('Hello'), request_id: 'one', seed: 'mine', settings })
    expect(drawn(seeded)).not.to.deep.equal(drawn(one))
  })

  it('refuses a body that its protocol refuses, and a model that is not virtual', async () => {
    const ask = (body: object) => gateway.asAdmin(route, body)
    expect(await ask({ request: { model: 'auto', messages: 'Hello' } })).to.include({
      status: 400,
      param: 'request.messages',
    })
    expect((await ask({ protocol: 'messages', request: say('Hello') })).status).to.equal(400)
    expect(await ask({ request: { ...say('Hello'), routing: { max_cost: -1 } } })).to.include({
      status: 400,
      code: 'invalid_value',
      param: 'request.routing.max_cost',
    })
    const words = { ...say('Hello'), routing: { hint: 'clever' } }
    expect(await ask({ request: words })).to.include({ status: 400, param: 'request.routing.hint' })
    expect(await ask({ request: say('Hello', 'large') })).to.include({
      status: 422,
      code: 'invalid_field',
      param: 'request.model',
    })
    expect(await ask({ model: 'gpt', prompt: 'Hello' })).to.include({ status: 422, param: 'model' })
    expect((await ask({ model: 'auto' })).status).to.equal(422)
    expect(await ask({ request: say('Hello'), prompt: 'Hello' })).to.include({ status: 422, param: 'request' })
    expect(await ask({ request: say('Hello'), protocol: 'soap' })).to.include({ status: 422, param: 'protocol' })
    expect(await gateway.asViewer(route, { request: say('Hello') })).to.include({ status: 403 })
  })

  it('calls nobody and leaves no trace', async () => {
    const tables = tablesOf(gateway.engine.database)
    await gateway.engine.flush()
    const requests = await tables.selectFrom('requests').selectAll().execute()
    expect(requests).to.deep.equal([])
    expect(upstream.requests).to.deep.equal([])
    const { pulls } = (await preview({ request: say('Hello') })).candidates[0] ?? {}
    expect(pulls).to.equal(0)
    const kept = await tables.selectFrom('routing_records_prompts').selectAll().execute()
    expect(kept).to.deep.equal([])
  })
})
