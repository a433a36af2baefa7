import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway, SignedIn } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { tablesOf } from '../../support/tables.ts'

const path = '/api/me/api-keys'

const models = [
  { name: 'small', provider: 'echo', aliases: ['s'] },
  { name: 'large', provider: 'echo' },
]

/** What the member who makes keys may use. */
const own = {
  models: '["small"]',
  budget: '{"usd":10,"period":"month"}',
  rate_limit: '{"requests":60,"concurrency":2,"period":"60s"}',
}

interface Made extends JsonObject {
  readonly id: string
  readonly key: string
}

function contract(database: () => string | undefined): void {
  let gateway: AdminGateway
  let member: SignedIn
  before(async function () {
    this.timeout(300_000)
    const url = database()
    const security = { self_service_keys: true, max_keys_per_member: 3, max_key_life: '90d' }
    gateway = await startAdmin({ models, server_config: { security }, ...(url !== undefined && { database: url }) })
  })
  after(() => gateway.close())
  beforeEach(async () => {
    member = await gateway.addMember(own)
  })

  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
  let made = 0
  const ask = (fields: JsonObject = {}) => {
    made += 1
    return member.ask(`POST ${path}`, { name: `own-${made}`, expires_at: days(30), ...fields })
  }
  const create = async (fields: JsonObject = {}): Promise<Made> => {
    const { status, body } = await ask(fields)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Made
  }
  const modelsOf = async (key: string) => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })
    const { data } = (await response.json()) as { data?: { id: string }[] }
    return data?.map(({ id }) => id)
  }

  it('makes a key of the member, whose models bind it', async () => {
    const answer = await ask({ tags: { team: 'red' } })
    const { id, key } = answer.body as Made
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([201, `${path}/${id}`])
    expect(answer.body).to.deep.include({
      owner: { id: member.id, username: member.username },
      created_by: member.username,
      models: null,
      tags: { team: 'red' },
      version: 1,
    })
    expect(await modelsOf(key)).to.deep.equal(['small'])
    const list = await member.ask(`GET ${path}`)
    expect((list.body['data'] as readonly JsonObject[]).map((one) => one['id'])).to.deep.equal([id])
  })

  const outside: readonly (readonly [fields: JsonObject, code: string, param: string])[] = [
    [{ models: ['s', 'large'] }, 'outside_own_limits', 'models[1]'],
    [{ budget: { usd: 10.000001 } }, 'outside_own_limits', 'budget.usd'],
    [{ rate_limit: { requests: 61 } }, 'outside_own_limits', 'rate_limit.requests'],
    [{ rate_limit: { requests: 2, period: '1s' } }, 'outside_own_limits', 'rate_limit.requests'],
    [{ rate_limit: { concurrency: 3 } }, 'outside_own_limits', 'rate_limit.concurrency'],
    [{ expires_at: days(91) }, 'invalid_field', 'expires_at'],
    [{ expires_at: null }, 'invalid_field', 'expires_at'],
    [{ owner: null }, 'unknown_field', 'owner'],
  ]
  for (const [fields, code, param] of outside)
    it(`refuses ${JSON.stringify(fields).replace(/\d{4}-.*Z/, 'a date')}, new or changed: ${code}`, async () => {
      const refused = await ask(fields)
      expect([refused.status, refused.code, refused.param]).to.deep.equal([422, code, param])
      const { id } = await create()
      const changed = await member.ask(`PATCH ${path}/${id}`, fields)
      expect([changed.status, changed.code, changed.param]).to.deep.equal([422, code, param])
    })

  it('takes what is within', async () => {
    const fields = {
      models: ['small', 'auto'],
      budget: { usd: 10, period: 'day' },
      rate_limit: { requests: 3600, tokens: 1_000_000, concurrency: 2, period: '1h' },
    }
    expect(await create(fields)).to.deep.include({ models: ['small', 'auto'] })
    const { id } = await create()
    expect((await member.ask(`PATCH ${path}/${id}`, { ...fields, disabled: true })).body).to.deep.include({
      rate_limit: fields.rate_limit,
      state: 'disabled',
      version: 2,
    })
  })

  it('counts the living keys, however many are asked for at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask()))
    expect(answers.filter(({ status }) => status === 201)).to.have.length(3)
    expect(answers.filter(({ status, code }) => status === 409 && code === 'too_many_keys')).to.have.length(9)
    const { id } = (answers.find(({ status }) => status === 201)?.body ?? {}) as Made
    expect((await member.ask(`DELETE ${path}/${id}`)).status).to.equal(204)
    await create()
    expect((await ask()).code).to.equal('too_many_keys')
    const byAdmin = await gateway.asAdmin('POST /api/api-keys', {
      name: 'one-more',
      owner: member.id,
      expires_at: days(1),
    })
    expect(byAdmin.status, 'an admin may make more').to.equal(201)
  })

  it('enables what its owner disabled, and not what an admin did', async () => {
    const { id } = await create()
    const set = async (who: SignedIn, route: string, disabled: boolean) => {
      const { status, code, param } = await who.ask(`PATCH ${route}/${id}`, { disabled })
      return status === 200 ? 200 : `${status} ${String(code)} ${String(param)}`
    }
    const asOwner = (disabled: boolean) => set(member, path, disabled)
    const asAdmin = (disabled: boolean) => set(gateway.admin, '/api/api-keys', disabled)
    for (const disabled of [true, false, true]) expect(await asOwner(disabled)).to.equal(200)
    expect((await gateway.asAdmin(`PATCH /api/api-keys/${id}`, { tags: { team: 'red' } })).status).to.equal(200)
    expect((await gateway.asAdmin(`GET /api/api-keys/${id}`)).body).to.include({ disabled: true, state: 'disabled' })
    expect(await asOwner(false)).to.equal(200)
    expect(await asAdmin(true)).to.equal(200)
    expect(await asOwner(true)).to.equal(200)
    expect(await asOwner(false)).to.equal('422 outside_own_limits disabled')
    expect((await member.ask(`PATCH ${path}/${id}`, { disabled: null })).code).to.equal('outside_own_limits')
    expect((await member.ask(`PATCH ${path}/${id}`, { tags: { team: 'blue' } })).body).to.include({ disabled: true })
    expect(await asOwner(false)).to.equal('422 outside_own_limits disabled')
    expect(await asAdmin(false)).to.equal(200)
    expect(await asOwner(true)).to.equal(200)
    // An admin who says so again has the last word.
    expect(await asAdmin(true)).to.equal(200)
    expect(await asOwner(false)).to.equal('422 outside_own_limits disabled')
  })

  /** What the owner of a key gets for a change of it. */
  const owners = async (id: string, fields: JsonObject) => {
    const { status, code, param } = await member.ask(`PATCH ${path}/${id}`, fields)
    return status === 200 ? '200' : `${status} ${String(code)} ${String(param)}`
  }

  it('lets its owner narrow what an admin made, and nothing else', async () => {
    const made = await gateway.asAdmin('POST /api/api-keys', {
      name: 'of-an-admin',
      owner: member.id,
      models: ['small'],
      budget: { usd: 5, period: 'month' },
      rate_limit: { requests: 10, tokens: 1000, period: '60s' },
      mcp_servers: [],
      expires_at: days(30),
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const { id } = made.body as Made
    const before = (await gateway.asAdmin(`GET /api/api-keys/${id}`)).body
    for (const [fields, param] of [
      [{ models: null, budget: null }, 'models'],
      [{ budget: null }, 'budget'],
      [{ budget: { usd: 6 } }, 'budget.usd'],
      [{ budget: { period: 'day' } }, 'budget.period'],
      [{ rate_limit: null }, 'rate_limit'],
      [{ rate_limit: { requests: null } }, 'rate_limit.requests'],
      [{ rate_limit: { requests: 600, period: '1h' } }, 'rate_limit.requests'],
      [{ rate_limit: { tokens: 1001 } }, 'rate_limit.tokens'],
      [{ mcp_servers: null }, 'mcp_servers'],
      [{ expires_at: days(31) }, 'expires_at'],
    ] as const)
      expect(await owners(id, fields), JSON.stringify(fields)).to.equal(`422 outside_own_limits ${param}`)
    expect((await gateway.asAdmin(`GET /api/api-keys/${id}`)).body).to.deep.equal(before)
    const narrow = { models: [], budget: { usd: 1 }, rate_limit: { requests: 5, concurrency: 1 }, expires_at: days(20) }
    expect(await owners(id, { ...narrow, name: 'renamed', tags: { team: 'red' } })).to.equal('200')
    expect(await owners(id, { models: ['small'], budget: { usd: 5 } }), 'what the admin granted').to.equal('200')
    expect(await owners(id, { budget: { usd: 5.1 } })).to.equal('422 outside_own_limits budget.usd')
  })

  it('keeps what an admin set on a key that its owner made', async () => {
    const { id } = await create({ budget: { usd: 8 }, rate_limit: { requests: 30 } })
    expect(await owners(id, { budget: { usd: 9 }, rate_limit: null }), 'his own').to.equal('200')
    const set = (fields: JsonObject) => gateway.asAdmin(`PATCH /api/api-keys/${id}`, fields)
    expect((await set({ budget: { usd: 2 }, tags: { team: 'red' } })).status).to.equal(200)
    expect(await owners(id, { budget: null })).to.equal('422 outside_own_limits budget')
    expect(await owners(id, { budget: { usd: 9 } })).to.equal('422 outside_own_limits budget.usd')
    expect(await owners(id, { rate_limit: { requests: 60 } }), 'what no admin set').to.equal('200')
    expect((await set({ budget: null })).status).to.equal(200)
    expect(await owners(id, { budget: { usd: 10 } })).to.equal('200')
    expect((await set({ owner: gateway.viewer.id })).status).to.equal(200)
    expect((await set({ owner: member.id })).status).to.equal(200)
    expect(await owners(id, { budget: null }), 'given by an admin').to.equal('422 outside_own_limits budget')
  })

  it('holds admins to the longest life when they give a key more time', async () => {
    const { id } = await create()
    const set = async (expires_at: string | null) => {
      const { status, code, param } = await gateway.asAdmin(`PATCH /api/api-keys/${id}`, { expires_at })
      return status === 200 ? 200 : [status, code, param]
    }
    expect(await set(null)).to.deep.equal([422, 'invalid_field', 'expires_at'])
    expect(await set(days(91))).to.deep.equal([422, 'invalid_field', 'expires_at'])
    expect(await set(days(89))).to.equal(200)
    expect(await set(days(-1)), 'expired now').to.equal(200)
  })

  it('changes nothing of a key that changes hands meanwhile', async () => {
    const { id, name } = await create()
    const keys = viewOf(gateway.engine, 'api_keys')
    const before = (await gateway.asAdmin(`GET /api/api-keys/${id}`)).body
    const how = { owner: gateway.viewer.id }
    const edit = (fields: object) => ({ ...fields, name: 'taken over' }) as never
    for (const change of [
      () => keys.change(id, { ...how, edit }),
      () => keys.rotate(id, { ...how, grace: 0 }),
      () => keys.revoke({ id, name: name as string }, how),
    ]) {
      const error = await change().then(
        () => undefined,
        (one: { readonly code?: string }) => one.code,
      )
      expect(error).to.equal('not_found')
    }
    expect((await gateway.asAdmin(`GET /api/api-keys/${id}`)).body).to.deep.equal(before)
  })

  it('changes, rotates and deletes own keys alone', async () => {
    const { id, key } = await create()
    const rotated = await member.ask(`POST ${path}/${id}/rotate`)
    expect(rotated.body).to.include({ id, version: 2 })
    expect(await modelsOf(key)).to.equal(undefined)
    const { body } = await gateway.asAdmin('POST /api/api-keys', { name: `not-own-${made}`, expires_at: days(1) })
    for (const asked of [gateway.asViewer, gateway.asAdmin])
      for (const [route, given] of [
        [`PATCH ${path}/${id}`, { disabled: true }],
        [`DELETE ${path}/${id}`, undefined],
        [`POST ${path}/${id}/rotate`, {}],
      ] as const)
        expect(await asked(route, given), route).to.include({ status: 404, code: 'not_found' })
    expect((await member.ask(`DELETE ${path}/${(body as Made).id}`)).status).to.equal(404)
    expect((await member.ask(`DELETE ${path}/${id}`)).status).to.equal(204)
  })

  /** A key, and what changes the member who owns it. */
  const owner = async () => {
    const one = await gateway.addMember(own)
    const body = { name: one.username, expires_at: days(30), models: ['small'] }
    const { id, key } = (await one.ask(`POST ${path}`, body)).body as Made
    const change = (disabled?: number) =>
      members(gateway).change(async (transaction) => {
        const update =
          disabled === undefined
            ? transaction.deleteFrom('members').where('id', '=', one.id)
            : transaction.updateTable('members').set({ disabled }).where('id', '=', one.id)
        await update.execute()
      })
    return { id, key, change, shown: async () => (await gateway.asAdmin(`GET /api/api-keys/${id}`)).body }
  }

  sideBySide('rejects the keys of a member who is disabled at once, and gives them back', async () => {
    const { key, change, shown } = await owner()
    await change(1)
    expect([await modelsOf(key), (await shown())['state']]).to.deep.equal([undefined, 'disabled'])
    await change(0)
    expect([await modelsOf(key), (await shown())['state']]).to.deep.equal([['small'], 'active'])
  })

  sideBySide('rejects the keys of a member who is deleted at once, and leaves them to the admins', async () => {
    const { id, key, change, shown } = await owner()
    await change()
    expect(await modelsOf(key)).to.equal(undefined)
    expect(await shown()).to.include({ owner: null, disabled: true, state: 'disabled', version: 1 })
    const freed = await gateway.asAdmin(`PATCH /api/api-keys/${id}`, { disabled: false })
    expect(freed.body).to.include({ owner: null, disabled: false, state: 'active', version: 2 })
    expect(await modelsOf(key)).to.deep.equal(['small'])
    const row = tablesOf(gateway.engine.database).selectFrom('api_keys').select('owner').where('id', '=', id)
    expect(await row.executeTakeFirst()).to.deep.equal({ owner: null })
  })
}

const members = (gateway: AdminGateway) => viewOf(gateway.engine, 'members').store

describe('API keys that members make for themselves', () => {
  describe('on SQLite', () => contract(() => undefined))

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => url)
  })

  it('are off unless the setting is on', async function () {
    this.timeout(300_000)
    const gateway = await startAdmin()
    try {
      expect((await gateway.asViewer(`GET ${path}`)).status).to.equal(200)
      for (const [route, body] of [
        [`POST ${path}`, 'no JSON'],
        [`PATCH ${path}/elsewhere`, {}],
        [`DELETE ${path}/elsewhere`, undefined],
        [`POST ${path}/elsewhere/rotate`, {}],
      ] as const)
        for (const asked of [gateway.asViewer, gateway.asAdmin])
          expect(await asked(route, body), route).to.include({ status: 403, code: 'self_service_off' })
      const noted = `GET /api/logs/audit?action=access.refused&actor=${gateway.viewer.id}&sort=sequence`
      const { data } = (await gateway.asAdmin(noted)).body as { readonly data: readonly JsonObject[] }
      const refusals = new Map(data.map(({ details }) => [(details as JsonObject)['action'], details]))
      expect([...refusals.values()]).to.deep.equal(
        ['create', 'change', 'delete', 'rotate'].map((what) => ({
          action: `${what}-own-api-key`,
          code: 'self_service_off',
        })),
      )
    } finally {
      await gateway.close()
    }
  })
})
