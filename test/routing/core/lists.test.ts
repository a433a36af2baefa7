import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'
const virtual = ['fast', 'auto', 'best']
const entry = { id: 'auto', object: 'model', created: 0, owned_by: 'routing', provider: 'routing' }

describe('routing/lists', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      models: [
        { name: 'echo', provider: 'echo', auto_eligible: true, supports_images: true },
        { name: 'other', provider: 'echo' },
      ],
      api_keys: [{ name: 'narrow', key: narrow, models: ['other'] }],
    })
  })
  after(() => gateway.close())

  const turn = (enabled: boolean) => gateway.asAdmin('PATCH /api/config/server/smart_routing', { enabled })
  const listed = async (ask: string, headers?: Record<string, string>) => {
    const { body } = await gateway.asKey(ask, undefined, headers)
    return body['data'] as readonly JsonObject[]
  }

  it('have no virtual models while smart routing is off', async () => {
    expect((await listed('GET /v1/models')).map(({ id }) => id)).to.deep.equal(['echo', 'other'])
    expect((await gateway.asKey('GET /v1/models/auto')).status).to.equal(404)
    const { body } = await gateway.asViewer('GET /api/catalog/models')
    expect((body['data'] as JsonObject[]).every((model) => model['virtual'] === false)).to.equal(true)
  })

  it('begin with the virtual models while it is on, whatever the key may use', async () => {
    await turn(true)
    for (const key of [gateway.key, narrow]) {
      const headers = { authorization: `Bearer ${key}` }
      const models = await listed('GET /v1/models', headers)
      expect(models.slice(0, 3)).to.deep.equal(virtual.map((id) => ({ ...entry, id })))
      expect(models.every(({ provider }) => typeof provider === 'string')).to.equal(true)
      for (const name of ['auto', 'AUTO'])
        expect((await gateway.asKey(`GET /v1/models/${name}`, undefined, headers)).body).to.deep.equal(entry)
    }
  })

  it('have the form that clients of messages read', async () => {
    const headers = { 'anthropic-version': '2023-06-01' }
    const one = {
      type: 'model',
      id: 'auto',
      display_name: 'auto',
      created_at: '1970-01-01T00:00:00Z',
      provider: 'routing',
    }
    const models = await listed('GET /v1/models', headers)
    expect(models.map(({ id }) => id)).to.deep.equal([...virtual, 'echo', 'other'])
    expect(models[1]).to.deep.equal(one)
    const page = await gateway.asKey('GET /v1/models?limit=2&after_id=auto', undefined, headers)
    expect(page.body).to.include({ first_id: 'best', last_id: 'echo', has_more: true })
    expect((await gateway.asKey('GET /v1/models/Auto', undefined, headers)).body).to.deep.equal(one)
  })

  it('of the admin API have them first, too', async () => {
    const names = (await gateway.asAdmin('GET /api/config/models/names')).body['data'] as readonly JsonObject[]
    expect(names.slice(0, 4)).to.deep.equal([
      ...virtual.map((name) => ({ name, aliases: [], virtual: true })),
      { name: 'echo', aliases: [], virtual: false },
    ])
    const catalog = (await gateway.asViewer('GET /api/catalog/models')).body['data'] as readonly JsonObject[]
    expect(catalog.map(({ name }) => name)).to.deep.equal([...virtual, 'echo', 'other'])
    expect(catalog[1]).to.deep.include({ name: 'auto', provider: 'routing', virtual: true, supports_images: true })
    expect(catalog[1]).to.deep.include({ supports_tools: true, pricing: null, available: true })
    expect(Object.keys(catalog[1] ?? {})).to.deep.equal(Object.keys(catalog[3] ?? {}))
    await turn(false)
  })
})
