import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { password, startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'

const at = '/api/config/providers'
const key = 'sk-the-key-of-a-far-provider'

describe('admin/providers, actions', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    gateway = await startAdmin({
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'cut', type: 'native', base_url: 'http://127.0.0.1:9/v1', api_key: '${NOT_SET}' },
      ],
      models: [{ name: 'echo', provider: 'echo' }],
    })
    const config = { base_url: upstream.url, api_key: key, headers: { 'x-team': 'a team of ours' } }
    const made = await ask('POST @', { name: 'far', type: 'compatible', config, allow_private: true })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    await gateway.asAdmin('POST /api/config/models', { name: 'm', provider: 'far', upstream_model: 'big' })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const ask = (route: string, body?: unknown, headers?: Record<string, string>) =>
    gateway.asAdmin(route.replace('@', at), body, headers)
  const refusal = async (route: string, body?: unknown, headers?: Record<string, string>) => {
    const { status, code, param } = await ask(route, body, headers)
    return `${status} ${String(code)} ${String(param)}`
  }
  const sent = () => JSON.parse(String(upstream.requests.at(-1)?.body)) as JsonObject
  const audited = async (action: string) => {
    const rows = await gateway.engine.database.rows<{ action: string; body: string }>(
      'select action, body from audit order by sequence',
    )
    return rows.filter((row) => row.action === action).map(({ body }) => JSON.parse(body) as JsonObject)
  }

  it('list the types with the forms of their settings, and their presets', async () => {
    const { status, body } = await ask('GET @/types')
    expect(status).to.equal(200)
    const types = body['data'] as readonly (JsonObject & { schema: { properties: Record<string, JsonObject> } })[]
    for (const type of types) expect(type).to.have.all.keys('type', 'summary', 'schema', 'serves', 'presets')
    const compatible = types.find(({ type }) => type === 'compatible')
    const { base_url: base, api_key: secret, headers, endpoint_base_urls: moved } = compatible?.schema.properties ?? {}
    expect(base).to.include({ title: 'Base URL' }).and.not.have.property('writeOnly')
    expect(secret).to.include({ title: 'API key', writeOnly: true })
    expect(headers).to.have.nested.property('additionalProperties.writeOnly', true)
    expect(moved).to.have.nested.property('properties.chat.title', 'Chat')
    expect(compatible?.['serves']).to.include.members(['generate', 'embed'])
    expect(compatible?.['presets']).to.deep.include({
      name: 'openrouter',
      base_url: 'https://openrouter.ai/api/v1',
      env: 'OPENROUTER_API_KEY',
    })
    expect(compatible?.['presets']).to.deep.include({ name: 'vllm', base_url: 'http://127.0.0.1:8000/v1', env: null })
    expect(types.find(({ type }) => type === 'echo')).to.deep.include({ presets: [] })
    expect(await refusal('GET @/types?limit=1')).to.equal('422 unknown_field limit')
    expect((await gateway.asViewer(`GET ${at}/types`)).status).to.equal(403)
  })

  it('show secrets to an admin who repeats the password, once that is in the audit trail', async () => {
    expect(await refusal('POST @/far/reveal-key', { password: 'wrong' })).to.equal('401 wrong_password null')
    expect(await refusal('POST @/far/reveal-key', {})).to.equal('422 missing_field password')
    expect(await refusal('POST @/far/reveal-key', { password, more: 1 })).to.equal('422 unknown_field more')
    expect(await refusal('POST @/cut/reveal-key', { password })).to.equal('409 declared_in_file null')
    expect(await refusal('POST @/nobody/reveal-key', { password })).to.equal('404 not_found null')
    expect(await refusal('POST @/far/reveal-key', { password }, { 'if-match': '"77"' })).to.equal(
      '412 stale_version null',
    )
    expect((await gateway.asViewer(`POST ${at}/far/reveal-key`, { password })).code).to.equal('forbidden')
    expect(await audited('provider.reveal_key')).to.deep.equal([])
    const shown = await ask('POST @/far/reveal-key', { password })
    expect([shown.status, shown.headers.get('cache-control')]).to.deep.equal([200, 'no-store'])
    expect(shown.body).to.deep.equal({ secrets: { 'config.api_key': key, 'config.headers.x-team': 'a team of ours' } })
    const [row, ...others] = await audited('provider.reveal_key')
    expect(others).to.deep.equal([])
    expect(row).to.deep.include({ outcome: 'ok', target: { type: 'provider', id: 'far', name: 'far' } })
    expect(row?.['actor']).to.deep.include({ type: 'member', name: 'admin' })
    expect(JSON.stringify(row) + gateway.lines.join())
      .to.not.include(key)
      .and.not.include(password)
  })

  it('show no secret whose row cannot be written, or where the setting is off', async () => {
    await gateway.engine.database.query.schema.alterTable('audit').renameTo('audit_away').execute()
    const failed = await ask('POST @/far/reveal-key', { password })
    expect([failed.status, failed.code]).to.deep.equal([503, 'store_unavailable'])
    expect(JSON.stringify(failed.body)).to.not.include(key)
    const closed = await startAdmin({ server_config: { security: { reveal_keys: false } } })
    try {
      const refused = await closed.asAdmin(`POST ${at}/echo/reveal-key`, { password })
      expect([refused.status, refused.code]).to.deep.equal([403, 'reveal_off'])
    } finally {
      await closed.close()
    }
  })

  it('list the models of the upstream, with the names they have here', async () => {
    upstream.answer({ body: { data: [{ id: 'big' }, { id: 'small' }, { no: 'id' }] } })
    const { status, body } = await ask('GET @/far/upstream-models')
    expect(status, JSON.stringify(body)).to.equal(200)
    expect(body['fetched_at']).to.match(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
    expect(body['data']).to.deep.equal([
      { id: 'big', name: 'm', known: {} },
      { id: 'small', name: null, known: {} },
    ])
    expect(upstream.requests.at(-1)).to.deep.include({ method: 'GET' })
    expect(upstream.requests.at(-1)?.headers['authorization']).to.equal(`Bearer ${key}`)
    upstream.answer({ status: 401, body: { error: {} } })
    const refused = await ask('GET @/far/upstream-models')
    expect([refused.status, refused.code]).to.deep.equal([502, 'upstream_invalid_response'])
    expect(await refusal('GET @/echo/upstream-models')).to.equal('422 invalid_reference name')
    expect(await refusal('GET @/cut/upstream-models')).to.equal('422 invalid_reference name')
    expect(await refusal('GET @/nobody/upstream-models')).to.equal('404 not_found null')
    expect((await gateway.asViewer(`GET ${at}/far/upstream-models`)).status).to.equal(403)
  })

  it('test a provider with one call, and a failing one is a result', async () => {
    upstream.answer({ body: chatAnswer })
    const good = await ask('POST @/far/test', { model: 'm' })
    expect(good.body).to.have.all.keys('ok', 'status', 'latency_ms', 'error', 'checked')
    expect(good.body).to.deep.include({ ok: true, status: 200, error: null, checked: 'generate' })
    expect(good.body['latency_ms']).to.be.a('number')
    expect([sent()['model'], sent()['max_tokens']]).to.deep.equal(['big', 16])
    const any = await ask('POST @/far/test', { upstream_model: 'unheard-of' })
    expect(any.body['ok']).to.equal(true)
    expect(sent()['model']).to.equal('unheard-of')
    const before = upstream.requests.length
    upstream.answer({ status: 503, body: { error: { message: `down, with ${key}` } } })
    const bad = await ask('POST @/far/test', { model: 'm' })
    expect([bad.status, bad.body['ok'], bad.body['status']]).to.deep.equal([200, false, 503])
    expect(bad.body['error']).to.have.all.keys('code', 'message')
    expect(JSON.stringify(bad.body)).to.not.include(key)
    expect(upstream.requests.length, 'one call').to.equal(before + 1)
    upstream.answer({ body: { data: [{ id: 'big' }] } })
    expect((await ask('POST @/far/test', {})).body).to.deep.include({ ok: true, status: 200, checked: 'models' })
    upstream.answer({ status: 401, body: {} })
    expect((await ask('POST @/far/test', {})).body).to.deep.include({ ok: false, status: 401, checked: 'models' })
    expect((await ask('POST @/cut/test', {})).body).to.deep.include({ ok: false, status: null })
    expect((await ask('POST @/echo/test', { model: 'echo' })).body).to.deep.include({ ok: true, checked: 'generate' })
    expect((await ask('POST @/echo/test', {})).body).to.deep.include({ ok: false, checked: 'models' })
    expect(await refusal('POST @/far/test', { model: 'echo' })).to.equal('422 invalid_reference model')
    expect(await refusal('POST @/far/test', { model: 'nothing' })).to.equal('422 invalid_reference model')
    expect(await refusal('POST @/nobody/test', {})).to.equal('404 not_found null')
    expect((await gateway.asViewer(`POST ${at}/far/test`, {})).status).to.equal(403)
    const rows = (await gateway.rows()).filter(({ type }) => type === 'test')
    expect(rows).to.have.length(4)
    for (const row of rows) expect(row).to.deep.include({ key_id: null })
    expect(await audited('provider.test')).to.have.length(8)
  })
})
