import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const at = '/api/config/models'
const fields = [
  'name',
  'provider',
  'upstream_model',
  'aliases',
  'context_length',
  'max_output_tokens',
  'supports_images',
  'supports_tools',
  'supports_mapeval',
  'supports_realtime',
  'auto_eligible',
  'quality_tier',
  'routing_assignments',
  'pricing',
  'fallbacks',
  'guards',
  'protocols',
  'deployments',
  'display_name',
  'description',
  'enabled',
  'pricing_source',
  'priced_at',
  'source',
  'version',
  'created_at',
  'updated_at',
  'available',
  'problem',
]

describe('admin/models', function () {
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
        models: [
          { name: 'echo', provider: 'echo', aliases: ['again'] },
          { name: 'lost', provider: 'cut', quality_tier: 'luxury' },
        ],
      })
    })
    after(() => gateway.close())
    afterEach(async () => {
      const { body } = await gateway.asAdmin(`GET ${at}?source=database`)
      for (const { name } of body['data'] as readonly JsonObject[])
        await gateway.asAdmin(`DELETE ${at}/${encodeURIComponent(name as string)}?force=true`)
    })
    const ask = (route: string, body?: unknown, headers?: Record<string, string>) =>
      gateway.asAdmin(route.replace('@', at), body, headers)
    const refusal = async (route: string, body?: unknown) => {
      const { status, code, param } = await ask(route, body)
      return `${status} ${String(code)} ${String(param)}`
    }
    const names = async (query: string) => {
      const { body } = await ask(`GET @${query}`)
      return (body['data'] as readonly JsonObject[]).map(({ name }) => name)
    }
    const chat = (model: string) =>
      gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hello' }] })

    it('are shown with every field, also with those that are unset', async () => {
      const made = await ask('POST @', {
        name: 'a/b',
        provider: 'echo',
        context_length: null,
        pricing: { input: 0.25 },
      })
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      expect(made.headers.get('location')).to.equal(`${at}/a%2Fb`)
      expect(made.body).to.have.all.keys(fields)
      const { version, created_at: created, updated_at: updated, priced_at: priced, ...rest } = made.body
      expect([version, updated, priced]).to.deep.equal([
        Number(made.headers.get('etag')?.slice(1, -1)),
        created,
        created,
      ])
      expect(rest).to.deep.equal({
        name: 'a/b',
        provider: 'echo',
        upstream_model: 'a/b',
        aliases: [],
        context_length: null,
        max_output_tokens: null,
        supports_images: false,
        supports_tools: true,
        supports_mapeval: false,
        supports_realtime: false,
        auto_eligible: false,
        quality_tier: null,
        routing_assignments: null,
        pricing: { input: 0.25 },
        fallbacks: [],
        guards: null,
        protocols: null,
        deployments: [],
        display_name: null,
        description: null,
        enabled: true,
        pricing_source: 'hand',
        source: 'database',
        available: true,
        problem: null,
      })
      expect((await ask('GET @/a%2Fb')).body).to.deep.equal(made.body)
      const declared = (await ask('GET @/lost')).body
      expect(declared).to.have.all.keys([...fields, 'declared_at'])
      expect(declared).to.include({
        source: 'file',
        version: null,
        created_at: null,
        quality_tier: 'luxury',
        pricing: null,
        pricing_source: 'none',
        priced_at: null,
        available: false,
        problem: 'the provider "cut" is off: NOT_SET is not set',
      })
      for (const route of [`GET ${at}`, `GET ${at}/echo`, `GET ${at}/names`, `DELETE ${at}/echo`])
        expect((await gateway.asViewer(route)).code, route).to.equal('forbidden')
    })

    it('keep the time of their prices, and no other', async () => {
      const made = (await ask('POST @', { name: 'm', provider: 'echo', pricing: { input: 1 } })).body
      const named = (await ask('PATCH @/m', { display_name: 'M' })).body
      expect(named['priced_at']).to.equal(made['priced_at'])
      const before = Date.now()
      await until(() => Date.now() > before)
      const priced = (await ask('PATCH @/m', { pricing: { output: 2 } })).body
      expect(priced['pricing']).to.deep.equal({ input: 1, output: 2 })
      expect(priced['priced_at']).to.equal(priced['updated_at']).and.not.equal(made['priced_at'])
      expect((await ask('PATCH @/m', { pricing: null })).body).to.include({
        pricing: null,
        pricing_source: 'none',
        priced_at: null,
      })
    })

    it('are listed, filtered, sorted and searched', async () => {
      await ask('POST @', {
        name: 'b',
        provider: 'echo',
        auto_eligible: true,
        display_name: 'The Second',
        aliases: ['bee'],
      })
      await ask('POST @', { name: 'a', deployments: [{ provider: 'cut' }], supports_mapeval: true, enabled: false })
      expect(await names('')).to.deep.equal(['a', 'b', 'echo', 'lost'])
      expect(await names('?sort=created_at&source=database')).to.deep.equal(['b', 'a'])
      expect(await names('?sort=-provider')).to.deep.equal(['echo', 'b', 'lost', 'a'])
      expect(await names('?provider=cut')).to.deep.equal(['a', 'lost'])
      expect(await names('?auto_eligible=true')).to.deep.equal(['b'])
      expect(await names('?supports_mapeval=true&supports_mapeval=false&enabled=false')).to.deep.equal(['a'])
      expect(await names('?not_provider=cut&not_provider=none')).to.deep.equal(['b', 'echo'])
      expect(await names('?not_enabled=false&provider=cut')).to.deep.equal(['lost'])
      expect(await refusal('GET @?not_enabled=no')).to.equal('422 invalid_field not_enabled')
      expect(await names('?search=second')).to.deep.equal(['b'])
      expect(await names('?search=BEE')).to.deep.equal(['b'])
      expect(await refusal('GET @?enabled=no')).to.equal('422 invalid_field enabled')
      expect(await refusal('GET @?alias=bee')).to.equal('422 unknown_field alias')
      expect(await refusal('GET @?sort=version')).to.equal('422 invalid_field sort')
      const { body } = await ask('GET @/names')
      expect(body).to.deep.equal({
        data: [
          { name: 'echo', aliases: ['again'], virtual: false },
          { name: 'lost', aliases: [], virtual: false },
          { name: 'b', aliases: ['bee'], virtual: false },
        ],
      })
      expect(await refusal('GET @/names?limit=1')).to.equal('422 unknown_field limit')
    })

    it('serve at once what they say, and nobody while they are off', async () => {
      await ask('POST @', { name: 'new', provider: 'echo', aliases: ['newer'] })
      expect([(await chat('new')).status, (await chat('newer')).status]).to.deep.equal([200, 200])
      const off = await ask('PATCH @/new', { enabled: false })
      expect(off.body).to.include({ enabled: false, available: false, problem: 'off: it is disabled' })
      for (const name of ['new', 'newer']) {
        const response = await chat(name)
        expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).to.deep.equal([
          404,
          'model_not_found',
        ])
      }
      const listed = (await (
        await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${gateway.key}` } })
      ).json()) as { data: { id: string }[] }
      expect(listed.data.map(({ id }) => id)).to.deep.equal(['echo'])
      await ask('PATCH @/new', { enabled: null })
      expect((await chat('new')).status).to.equal(200)
      expect((await ask('DELETE @/new')).status).to.equal(204)
      expect((await chat('new')).status).to.equal(404)
    })

    it('are refused with the place of each mistake', async () => {
      const made = (more: object) => refusal('POST @', { name: 'm', provider: 'echo', ...more })
      const cases: readonly [object, string][] = [
        [{ name: 'auto' }, '422 reserved_name name'],
        [{ name: 'FAST' }, '422 reserved_name name'],
        [{ name: 'names' }, '422 reserved_name name'],
        [{ name: 'sync-pricing' }, '422 reserved_name name'],
        [{ aliases: ['Best'] }, '422 reserved_name aliases[0]'],
        [{ name: 'a b' }, '422 invalid_field name'],
        [{ provider: 'nobody' }, '422 invalid_reference provider'],
        [{ provider: null }, '422 missing_field provider'],
        [{ fallbacks: ['nothing'] }, '422 invalid_reference fallbacks[0]'],
        [{ fallbacks: ['m'] }, '422 invalid_field fallbacks[0]'],
        [{ fallbacks: Array.from({ length: 17 }, () => 'echo') }, '422 invalid_field fallbacks'],
        [{ aliases: Array.from({ length: 33 }, (_, index) => `a${index}`) }, '422 invalid_field aliases'],
        [{ aliases: ['again'] }, '409 name_taken aliases[0]'],
        [{ aliases: ['echo'] }, '409 name_taken aliases[0]'],
        [{ name: 'again' }, '409 name_taken name'],
        [{ name: 'echo' }, '409 declared_in_file null'],
        [{ context_length: 0 }, '422 invalid_field context_length'],
        [{ context_length: 1.5 }, '422 invalid_field context_length'],
        [{ max_output_tokens: 1_000_000_001 }, '422 invalid_field max_output_tokens'],
        [{ quality_tier: 'luxury' }, '422 invalid_field quality_tier'],
        [{ routing_assignments: ['slow'] }, '422 invalid_field routing_assignments[0]'],
        [{ pricing: { input: -1 } }, '422 invalid_field pricing.input'],
        [{ pricing: { inptu: 1 } }, '422 unknown_field pricing.inptu'],
        [{ pricing: { input: 0.0000000001 } }, '422 invalid_field pricing.input'],
        [
          { pricing: { tiers: [{ above_input_tokens: 9 }, { above_input_tokens: 8 }] } },
          '422 invalid_field pricing.tiers[1].above_input_tokens',
        ],
        [{ deployments: [{ provider: 'nobody' }] }, '422 invalid_reference deployments[0].provider'],
        [{ deployments: [{ weight: 1 }] }, '422 missing_field deployments[0].provider'],
        [{ deployments: [{ provider: 'echo' }] }, '422 invalid_field deployments[0]'],
        [{ deployments: Array.from({ length: 17 }, () => ({ provider: 'cut' })) }, '422 invalid_field deployments'],
        [{ version: 1 }, '422 unknown_field version'],
        [{ available: true }, '422 unknown_field available'],
        [{ pricing_source: 'sync' }, '422 unknown_field pricing_source'],
        [{ description: '${HOME}' }, '422 invalid_field description'],
      ]
      for (const [body, told] of cases) expect(await made(body), JSON.stringify(body)).to.equal(told)
      expect(await names('?source=database')).to.deep.equal([])
      await ask('POST @', { name: 'one', provider: 'echo' })
      await ask('POST @', { name: 'two', provider: 'echo', fallbacks: ['one'] })
      expect(await refusal('PATCH @/one', { fallbacks: ['two'] })).to.equal('422 invalid_field fallbacks[0]')
      expect(await refusal('PATCH @/one', { name: 'three' })).to.equal('422 invalid_field name')
      expect((await ask('PATCH @/one', { provider: 'cut' })).body).to.include({ provider: 'cut', available: false })
      expect(await refusal('PATCH @/echo', {})).to.equal('409 declared_in_file null')
    })

    it('cannot be deleted while others name them, unless they are taken out there', async () => {
      await ask('POST @', { name: 'one', provider: 'echo', aliases: ['uno'] })
      await ask('POST @', { name: 'two', provider: 'echo', fallbacks: ['echo', 'uno'] })
      const refused = await ask('DELETE @/one')
      expect([refused.status, refused.code]).to.deep.equal([409, 'in_use'])
      expect(JSON.stringify(refused.body)).to.include('two')
      expect(await refusal('DELETE @/one?force=maybe')).to.equal('422 invalid_field force')
      expect(await refusal('DELETE @/one?cascade=true')).to.equal('422 unknown_field cascade')
      const { version } = (await ask('GET @/two')).body
      expect((await ask('DELETE @/one?force=true')).status).to.equal(204)
      const two = (await ask('GET @/two')).body
      expect(two['fallbacks']).to.deep.equal(['echo'])
      expect(two['version']).to.not.equal(version)

      // A judge that is on is switched off without its model.
      await ask('POST @', { name: 'jury', provider: 'echo', supports_mapeval: true })
      const section = '/api/config/server/smart_routing'
      const set = await gateway.asAdmin(`PATCH ${section}`, { judge: { enabled: true, model: 'jury' } })
      expect(set.status, JSON.stringify(set.body)).to.equal(200)
      expect(await refusal('DELETE @/jury')).to.match(/^409 in_use/)
      expect((await ask('DELETE @/jury?force=true')).status).to.equal(204)
      const { values } = (await gateway.asAdmin(`GET ${section}`)).body as { values: { judge: JsonObject } }
      expect(values.judge).to.include({ enabled: false, model: null })
      await gateway.asAdmin(`DELETE ${section}`)
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
