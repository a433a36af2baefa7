import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'

const at = '/api/config/providers'
const fields = [
  'name',
  'type',
  'config',
  'secrets',
  'has_api_key',
  'enabled',
  'allow_private',
  'status',
  'serves',
  'models',
  'source',
  'version',
  'created_at',
  'updated_at',
]
const operations = [
  'generate',
  'compact',
  'count',
  'decide',
  'embed',
  'image',
  'edit',
  'speak',
  'transcribe',
  'translate',
  'realtime',
]
/** A public address, which nothing here connects to. */
const far = 'https://198.41.0.4/v1'

describe('admin/providers', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  let database: string | undefined
  let service: Service | undefined

  const suite = () => {
    before(async () => {
      gateway = await startAdmin({
        ...(database === undefined ? {} : { database }),
        providers: [
          { name: 'echo', type: 'echo' },
          { name: 'cut', type: 'native', base_url: 'http://127.0.0.1:9/v1', api_key: '${NOT_SET}' },
        ],
      })
    })
    after(() => gateway.close())
    afterEach(async () => {
      const { body } = await gateway.asAdmin(`GET ${at}?source=database`)
      for (const { name } of body['data'] as readonly JsonObject[])
        await gateway.asAdmin(`DELETE ${at}/${name as string}?cascade=true`)
    })
    const ask = (route: string, body?: unknown, headers?: Record<string, string>) =>
      gateway.asAdmin(route.replace('@', at), body, headers)
    const refusal = async (route: string, body?: unknown, headers?: Record<string, string>) => {
      const { status, code, param } = await ask(route, body, headers)
      return `${status} ${String(code)} ${String(param)}`
    }
    const names = async (query: string) => {
      const { body } = await ask(`GET @${query}`)
      return (body['data'] as readonly JsonObject[]).map(({ name }) => name)
    }

    it('are shown with all their fields and without what is secret', async () => {
      const made = await ask('POST @', {
        name: 'far',
        type: 'native',
        config: {
          base_url: far,
          api_key: 'sk-a-long-secret-key-1234',
          headers: { 'x-team': 'short', 'x-other': 'a-long-header-value-9876' },
        },
      })
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      expect(made.headers.get('location')).to.equal(`${at}/far`)
      expect(made.headers.get('etag')).to.equal(`"${made.body['version'] as number}"`)
      expect(made.headers.get('cache-control')).to.equal('no-store')
      expect(made.headers.get('x-content-type-options')).to.equal('nosniff')
      expect(made.body).to.have.all.keys(fields)
      const { created_at: created, updated_at: updated, version, ...rest } = made.body
      expect(version).to.be.a('number')
      expect(created).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(updated).to.equal(created)
      expect(rest).to.deep.equal({
        name: 'far',
        type: 'native',
        config: { base_url: far, headers: {}, conversations: 'gateway' },
        secrets: {
          'config.api_key': { set: true, hint: '1234' },
          'config.headers.x-team': { set: true, hint: null },
          'config.headers.x-other': { set: true, hint: '9876' },
        },
        has_api_key: true,
        enabled: true,
        allow_private: false,
        status: { state: 'on', reason: null },
        serves: operations,
        models: 0,
        source: 'database',
      })
      expect((await ask('GET @/far')).body).to.deep.equal(made.body)
      expect((await gateway.asViewer(`GET ${at}/far`)).status).to.equal(403)
      expect((await gateway.asNobody(`GET ${at}`)).code).to.equal('invalid_token')
      expect((await gateway.asKey(`GET ${at}`)).code).to.equal('invalid_token')
    })

    it('are listed with what the file declares, filtered, sorted and searched', async () => {
      for (const name of ['b-one', 'a-two'])
        expect((await ask('POST @', { name, type: 'echo', config: {} })).status).to.equal(201)
      await ask('PATCH @/a-two', { enabled: false })
      expect(await names('')).to.deep.equal(['a-two', 'b-one', 'cut', 'echo'])
      expect(await names('?sort=-name&limit=2')).to.deep.equal(['echo', 'cut'])
      expect(await names('?sort=created_at&source=database')).to.deep.equal(['b-one', 'a-two'])
      expect(await names('?type=native')).to.deep.equal(['cut'])
      expect(await names('?state=off')).to.deep.equal(['a-two', 'cut'])
      expect(await names('?state=on&state=error')).to.deep.equal(['b-one', 'echo'])
      expect(await names('?not_state=off')).to.deep.equal(['b-one', 'echo'])
      expect(await names('?search=ONE')).to.deep.equal(['b-one'])
      const first = (await ask('GET @?limit=3')).body['next_cursor'] as string
      expect(await names(`?limit=3&cursor=${first}`)).to.deep.equal(['echo'])
      expect(await refusal(`GET @?limit=3&sort=-name&cursor=${first}`)).to.equal('422 invalid_cursor cursor')
      expect(await refusal('GET @?status=on')).to.equal('422 unknown_field status')
      expect(await refusal('GET @?state=fine')).to.equal('422 invalid_field state')
      expect(await refusal('GET @?sort=type')).to.equal('422 invalid_field sort')
      const declared = (await ask('GET @/cut')).body
      expect(declared).to.have.all.keys([...fields, 'declared_at'])
      expect(declared).to.deep.include({
        source: 'file',
        version: null,
        created_at: null,
        updated_at: null,
        status: { state: 'off', reason: 'NOT_SET is not set' },
        serves: operations,
      })
      expect((await ask('GET @/echo')).headers.get('etag')).to.equal(null)
    })

    it('are changed field by field; a secret that is not sent is kept, null removes it, a text replaces it', async () => {
      const config = { base_url: far, api_key: 'sk-the-first-key-000001', headers: { 'x-a': 'one', 'x-b': 'two' } }
      const made = await ask('POST @', { name: 'far', type: 'compatible', config, enabled: null })
      const tag = made.headers.get('etag') ?? ''
      const same = await ask('PATCH @/far', {}, { 'content-type': 'application/merge-patch+json' })
      expect([same.status, same.headers.get('etag')]).to.deep.equal([200, tag])
      // Nor does it have a new version where it has no fields of its type.
      const plain = await ask('POST @', { name: 'plain', type: 'echo' })
      const still = await ask('PATCH @/plain', { enabled: null })
      expect([still.status, still.headers.get('etag')]).to.deep.equal([200, plain.headers.get('etag')])
      expect((await ask('DELETE @/plain')).status).to.equal(204)
      const moved = await ask('PATCH @/far', { config: { base_url: 'https://198.41.0.4/v2' } }, { 'if-match': tag })
      expect(moved.body['config']).to.include({ base_url: 'https://198.41.0.4/v2' })
      expect(moved.body['secrets']).to.have.property('config.api_key').that.deep.equals({ set: true, hint: '0001' })
      expect(await refusal('PATCH @/far', { enabled: false }, { 'if-match': tag })).to.equal('412 stale_version null')
      const next = await ask('PATCH @/far', {
        config: { api_key: 'sk-the-second-key-00002', headers: { 'x-a': null } },
      })
      expect(next.body['secrets']).to.deep.equal({
        'config.api_key': { set: true, hint: '0002' },
        'config.headers.x-b': { set: true, hint: null },
      })
      const bare = await ask('PATCH @/far', { config: { api_key: null } })
      expect(bare.body).to.include({ has_api_key: false })
      expect(bare.body['secrets']).to.not.have.property('config.api_key')
      expect((await ask('DELETE @/far', undefined, { 'if-match': '*' })).status).to.equal(204)
      expect(await refusal('GET @/far')).to.equal('404 not_found null')
      expect(await refusal('DELETE @/far')).to.equal('404 not_found null')
    })

    it('are refused with all mistakes at once, also without a name', async () => {
      const mistakes = async (body: JsonObject) => {
        const { status, body: answer } = await ask('POST @', body)
        const { errors } = answer as unknown as { readonly errors: readonly { code: string; param: string }[] }
        return [status, ...errors.map(({ code, param }) => `${code} ${param}`)]
      }
      const wrong = { base_url: far, base_ulr: 'x', max_connections: 0 }
      expect(await mistakes({ type: 'compatible', enabled: 'no', config: wrong })).to.have.members([
        422,
        'unknown_field config.base_ulr',
        'invalid_field config.max_connections',
        'invalid_field enabled',
        'missing_field name',
      ])
      expect(await mistakes({ type: 'compatible', base_url: far, base_ulr: 'x' })).to.have.members([
        422,
        'unknown_field base_ulr',
        'missing_field name',
      ])
    })

    it('are refused with the place of each mistake', async () => {
      const made = (more: object) => refusal('POST @', { name: 'far', type: 'compatible', ...more })
      const config = { base_url: far }
      expect(await made({ config: { ...config, base_ulr: 'x' } })).to.equal('422 unknown_field config.base_ulr')
      expect(await made({ config: { ...config, max_connections: 0 } })).to.equal(
        '422 invalid_field config.max_connections',
      )
      expect(await made({ config: { ...config, offers: ['chat', 'walk'] } })).to.equal(
        '422 invalid_field config.offers[1]',
      )
      expect(await made({ config: {}, version: 3 })).to.equal('422 unknown_field version')
      for (const field of ['source', 'status', 'serves', 'models', 'secrets', 'has_api_key', 'created_at'])
        expect(await made({ config, [field]: 'x' }), field).to.equal(`422 unknown_field ${field}`)
      expect(await made({ config: { base_url: 'https://${HOST}/v1' } })).to.equal('422 invalid_field config.base_url')
      expect(await made({ config, enabled: 'no' })).to.equal('422 invalid_field enabled')
      expect(await refusal('POST @', { name: 'far', type: 'compatibel', config })).to.equal(
        '422 invalid_reference type',
      )
      expect(await refusal('POST @', { type: 'echo', config: {} })).to.equal('422 missing_field name')
      expect(await refusal('POST @', { name: 'far', config: {} })).to.equal('422 missing_field type')
      const bare = { name: 'far', type: 'native', config: { api_key: 'sk-a-key' } }
      expect(await refusal('POST @', bare)).to.equal('422 missing_field config.base_url')
      for (const name of ['types', 'names', 'status', 'reset', 'sync-pricing', 'sync-metadata'])
        expect(await refusal('POST @', { name, type: 'echo', config: {} }), name).to.equal('422 reserved_name name')
      expect(await refusal('POST @', { name: 'a b', type: 'echo', config: {} })).to.equal('422 invalid_field name')
      expect(await refusal('POST @', { name: 'echo', type: 'echo', config: {} })).to.equal('409 declared_in_file null')
      expect(await refusal('PATCH @/echo', { enabled: false })).to.equal('409 declared_in_file null')
      expect(await refusal('DELETE @/echo')).to.equal('409 declared_in_file null')
      expect(await refusal('PATCH @/nobody', {})).to.equal('404 not_found null')
      expect(await refusal('POST @', '{')).to.equal('400 invalid_json null')
      expect(await refusal('POST @', '{"name":"a","name":"b"}')).to.equal('400 invalid_json null')
      expect(await refusal('POST @', 'name', { 'content-type': 'text/plain' })).to.match(/^415 /)
      expect(await refusal('POST @?force=true', { name: 'far', type: 'echo' })).to.equal('422 unknown_field force')
      expect((await gateway.asViewer(`POST ${at}`, { name: 'far', type: 'echo' })).code).to.equal('forbidden')
      const many = await ask('POST @', { config: { a: 1, b: 2 }, type: 'echo', name: 'far' })
      expect((many.body['errors'] as readonly JsonObject[]).map(({ param }) => param)).to.deep.equal([
        'config.a',
        'config.b',
      ])
      await ask('POST @', { name: 'far', type: 'echo', config: {} })
      expect(await refusal('POST @', { name: 'far', type: 'echo', config: {} })).to.equal('409 name_taken null')
      expect(await refusal('PATCH @/far', { name: 'near' })).to.equal('422 invalid_field name')
      expect(await refusal('PATCH @/far', { type: 'bridge_b' })).to.equal('422 invalid_field type')
      expect(await refusal('PATCH @/far', { type: null })).to.equal('422 invalid_field type')
      const same = await ask('PATCH @/far', { name: 'far', type: 'echo' })
      expect(same.headers.get('etag')).to.equal((await ask('GET @/far')).headers.get('etag'))
    })

    it('may not be at private addresses, unless they are allowed to', async () => {
      const config = { base_url: 'http://127.0.0.1:9/v1' }
      const made = (config: object, more: object = {}) =>
        refusal('POST @', { name: 'near', type: 'compatible', config, ...more })
      expect(await made(config)).to.equal('422 private_address config.base_url')
      for (const host of ['10.1.2.3', '192.168.0.1', '169.254.169.254', '[::1]', '[fe80::1]', '0.0.0.0', 'localhost'])
        expect(await made({ base_url: `http://${host}/v1` }), host).to.equal('422 private_address config.base_url')
      const elsewhere = { base_url: far, endpoint_base_urls: { embeddings: 'http://172.16.0.1/v1' } }
      expect(await made(elsewhere)).to.equal('422 private_address config.endpoint_base_urls.embeddings')
      expect(await made({ preset: 'vllm' })).to.equal('422 private_address allow_private')
      expect(await names('')).to.deep.equal(['cut', 'echo'])
      const allowed = await ask('POST @', { name: 'near', type: 'compatible', config, allow_private: true })
      expect([allowed.status, allowed.body['allow_private']]).to.deep.equal([201, true])
      expect(await refusal('PATCH @/near', { allow_private: false })).to.equal('422 private_address config.base_url')
      expect((await ask('PATCH @/near', { allow_private: false, config: { base_url: far } })).status).to.equal(200)
      expect(await refusal('PATCH @/near', { config })).to.equal('422 private_address config.base_url')
    })

    it('cannot be deleted while models need them, unless their models go too', async () => {
      await ask('POST @', { name: 'far', type: 'echo', config: {} })
      const model = (body: object) => gateway.asAdmin('POST /api/config/models', body)
      const model201 = async (body: object) => expect((await model(body)).status).to.equal(201)
      await model201({ name: 'one', provider: 'far' })
      await model201({ name: 'two', deployments: [{ provider: 'echo' }, { provider: 'far', upstream_model: 'x' }] })
      await model201({ name: 'three', provider: 'far', deployments: [{ provider: 'echo' }] })
      expect((await ask('GET @/far')).body['models']).to.equal(3)
      const refused = await ask('DELETE @/far')
      expect([refused.status, refused.code]).to.deep.equal([409, 'in_use'])
      expect(JSON.stringify(refused.body)).to.include('one').and.include('two').and.include('three')
      expect(await refusal('DELETE @/far?cascade=yes')).to.equal('422 invalid_field cascade')
      expect((await ask('DELETE @/far?cascade=true')).status).to.equal(204)
      const left = await gateway.asAdmin('GET /api/config/models?source=database')
      expect(
        (left.body['data'] as readonly JsonObject[]).map(({ name, provider, deployments }) => [
          name,
          provider,
          deployments,
        ]),
      ).to.deep.equal([
        ['three', null, [{ provider: 'echo', upstream_model: 'three', weight: 1 }]],
        ['two', null, [{ provider: 'echo', upstream_model: 'two', weight: 1 }]],
      ])
      const rows = await gateway.engine.database.rows<{ action: string; target_id: string }>(
        'select action, target_id from audit order by sequence desc limit 4',
      )
      expect(rows.map(({ action, target_id: target }) => `${action} ${target}`)).to.have.members([
        'provider.delete far',
        'model.delete one',
        'model.update two',
        'model.update three',
      ])
      for (const name of ['two', 'three']) await gateway.asAdmin(`DELETE /api/config/models/${name}`)
    })

    it('are sealed in the database, and their secrets reach no answer and no log', async () => {
      const api_key = 'sk-nobody-may-read-this-in-clear'
      const headers = { 'x-hidden': 'nor-this-header-of-a-provider' }
      await ask('POST @', { name: 'far', type: 'compatible', config: { base_url: far, api_key, headers } })
      await ask('PATCH @/far', { config: { api_key: 'also-not-a-key-for-reading' } })
      const wrong = await ask('PATCH @/far', { config: { api_key: 'nor a wrong key with spaces' } })
      expect([wrong.status, wrong.param]).to.deep.equal([422, 'config.api_key'])
      const rows = await gateway.engine.database.rows<{ value: string; sealed: number }>(
        'select value, sealed from records',
      )
      const audit = await gateway.engine.database.rows<{ body: string }>('select body from audit')
      const seen = [rows, audit, gateway.lines, (await ask('GET @/far')).body, (await ask('GET @')).body, wrong.body]
      for (const text of seen.map((one) => JSON.stringify(one)))
        for (const secret of [api_key, headers['x-hidden'], 'also-not-a-key', 'nor a wrong key'])
          expect(text).to.not.include(secret)
      expect(rows.map(({ sealed }) => sealed)).to.deep.equal([1])
    })
  }

  describe('in SQLite', suite)
  describe('in PostgreSQL', () => {
    before(async function () {
      service = await postgres(this)
      database = service.url
    })
    after(() => service?.stop())
    suite()
  })
})
