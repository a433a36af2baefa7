import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { asText } from '../../../engine/kit.ts'
import { connect } from '../../engine/http/socket-client.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const path = '/api/api-keys'
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const later = '2999-01-31T12:00:00.000Z'

const models = [
  { name: 'small', provider: 'echo', aliases: ['s'] },
  { name: 'large', provider: 'echo', pricing: { requests: 2 } },
]
const declared = [
  { name: 'tool', key: 'sk-tool-0123456789abcdef', tags: { team: 'red' }, expires_at: '2999-01-31', models: ['s'] },
  { name: 'unset', key: '${NO_SUCH_KEY}', budget: { usd: 2 } },
]

/** A created key: its record and its text. */
interface Made extends JsonObject {
  readonly id: string
  readonly key: string
  readonly version: number
}

function contract(database: () => string | undefined): void {
  let gateway: AdminGateway
  let owner: { readonly id: string; readonly username: string }
  before(async function () {
    this.timeout(300_000)
    const url = database()
    gateway = await startAdmin({ models, api_keys: declared, ...(url !== undefined && { database: url }) })
    owner = gateway.viewer
  })
  after(() => gateway.close())

  let made = 0
  const create = async (fields: JsonObject = {}): Promise<Made> => {
    made += 1
    const { status, body } = await gateway.asAdmin(`POST ${path}`, { name: `key-${made}`, ...fields })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body as Made
  }
  const serves = async (key: string) =>
    (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).status === 200
  /** Whether each of these keys serves. They are asked at once, so that unknown ones wait for the same look. */
  const servesEach = (...keys: readonly string[]) => Promise.all(keys.map(serves))
  const actions = async (id: string) => {
    const rows = await tablesOf(gateway.engine.database)
      .selectFrom('audit')
      .select('body')
      .where('target_id', '=', id)
      .orderBy('sequence')
      .execute()
    return rows.map(({ body }) => JSON.parse(body) as JsonObject)
  }

  it('creates a key of nothing but a name, and shows its text once', async () => {
    const answer = await gateway.asAdmin(`POST ${path}`, { name: 'plain' })
    expect(answer.status).to.equal(201)
    const { id, key, hint, created_at: createdAt, updated_at: updatedAt, ...others } = answer.body as Made
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(key).to.match(/^sk-sluice-[\w-]{43}$/)
    expect(hint).to.equal(key.slice(-4))
    expect(createdAt).to.match(moment).and.to.equal(updatedAt)
    expect(others).to.deep.equal({
      name: 'plain',
      owner: null,
      models: null,
      budget: null,
      rate_limit: null,
      mcp_servers: null,
      tags: {},
      expires_at: null,
      disabled: false,
      state: 'active',
      source: 'database',
      created_by: 'admin',
      last_used_at: null,
      rotated_at: null,
      version: 1,
    })
    expect(answer.headers.get('location')).to.equal(`${path}/${id}`)
    expect(answer.headers.get('etag')).to.equal('"1"')
    expect(answer.headers.get('cache-control')).to.equal('no-store')
    expect(await serves(key)).to.equal(true)
    const shown = await gateway.asAdmin(`GET ${path}/${id}`)
    const { key: _text, ...record } = answer.body
    expect([shown.status, shown.headers.get('etag')]).to.deep.equal([200, '"1"'])
    expect({ ...shown.body, last_used_at: null }).to.deep.equal(record)
    const list = await gateway.asAdmin(`GET ${path}`)
    expect(JSON.stringify([shown.body, list.body])).not.to.include(key)
  })

  it('keeps every field, with names of records and defaults', async () => {
    const body = await create({
      owner: owner.id,
      models: ['s', 'large', 'AUTO'],
      budget: { usd: 1.000001 },
      rate_limit: { requests: 5 },
      mcp_servers: [],
      tags: { team: 'red', 'cost.center': '' },
      expires_at: '2999-01-31T13:00:00+01:00',
      disabled: true,
    })
    const { since, resets_at: resetsAt, ...budget } = body['budget'] as JsonObject
    expect(budget).to.deep.equal({ usd: 1.000001, period: 'month', spent: 0, held: 0, remaining: 1.000001 })
    expect(since).to.match(moment)
    expect(resetsAt).to.match(moment)
    expect(body).to.deep.include({
      owner: { id: owner.id, username: owner.username },
      models: ['small', 'large', 'auto'],
      rate_limit: { requests: 5, tokens: null, concurrency: null, period: '60s' },
      mcp_servers: [],
      tags: { team: 'red', 'cost.center': '' },
      expires_at: later,
      disabled: true,
      state: 'disabled',
    })
    expect(await serves(body.key)).to.equal(false)
  })

  const refused: readonly (readonly [body: object, code: string, param: string | null])[] = [
    [{}, 'missing_field', 'name'],
    [{ name: '' }, 'invalid_field', 'name'],
    [{ name: 'two words' }, 'invalid_field', 'name'],
    [{ name: 'x'.repeat(257) }, 'invalid_field', 'name'],
    [{ name: null }, 'invalid_field', 'name'],
    [{ name: 'n', id: 'mine' }, 'unknown_field', 'id'],
    [{ name: 'n', key: 'sk-mine-0123456789' }, 'unknown_field', 'key'],
    [{ name: 'n', version: 1 }, 'unknown_field', 'version'],
    [{ name: 'n', budget: { usd: 1, usdd: 1 } }, 'unknown_field', 'budget.usdd'],
    [{ name: 'n', budget: {} }, 'missing_field', 'budget.usd'],
    [{ name: 'n', budget: { usd: -1 } }, 'invalid_field', 'budget.usd'],
    [{ name: 'n', budget: { usd: 0.0000001 } }, 'invalid_field', 'budget.usd'],
    [{ name: 'n', budget: { usd: 1_000_000_001 } }, 'invalid_field', 'budget.usd'],
    [{ name: 'n', budget: { usd: 1, period: 'year' } }, 'invalid_field', 'budget.period'],
    [{ name: 'n', rate_limit: {} }, 'invalid_field', 'rate_limit'],
    [{ name: 'n', rate_limit: { requests: 0 } }, 'invalid_field', 'rate_limit.requests'],
    [{ name: 'n', rate_limit: { requests: 1, period: '31d' } }, 'invalid_field', 'rate_limit.period'],
    [{ name: 'n', rate_limit: { concurrency: 1_000_001 } }, 'invalid_field', 'rate_limit.concurrency'],
    [{ name: 'n', models: 'small' }, 'invalid_field', 'models'],
    [{ name: 'n', models: ['small', 'smal'] }, 'invalid_reference', 'models[1]'],
    [{ name: 'n', mcp_servers: ['nowhere'] }, 'invalid_reference', 'mcp_servers[0]'],
    [{ name: 'n', owner: 'nobody' }, 'invalid_reference', 'owner'],
    [{ name: 'n', tags: { Team: 'red' } }, 'invalid_field', 'tags'],
    [{ name: 'n', tags: { team: 'x'.repeat(257) } }, 'invalid_field', 'tags.team'],
    [
      { name: 'n', tags: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`t${index}`, ''])) },
      'invalid_field',
      'tags',
    ],
    [{ name: 'n', expires_at: '2999-01-31' }, 'invalid_field', 'expires_at'],
    [{ name: 'n', expires_at: '2020-01-31T12:00:00Z' }, 'invalid_field', 'expires_at'],
    [{ name: 'n', disabled: 'yes' }, 'invalid_field', 'disabled'],
  ]
  for (const [body, code, param] of refused)
    it(`refuses ${JSON.stringify(body).slice(0, 70)}: ${code}`, async () => {
      const answer = await gateway.asAdmin(`POST ${path}`, body)
      expect([answer.status, answer.code, answer.param], JSON.stringify(answer.body)).to.deep.equal([422, code, param])
    })

  it('tells every mistake at once, in the order of the body', async () => {
    const body = { models: ['smal'], name: 'n', expires_at: 'soon', owner: 'nobody' }
    const answer = await gateway.asAdmin(`POST ${path}`, body)
    const errors = answer.body['errors'] as readonly JsonObject[]
    expect(errors.map(({ param, code }) => [param, code])).to.deep.equal([
      ['models[0]', 'invalid_reference'],
      ['expires_at', 'invalid_field'],
      ['owner', 'invalid_reference'],
    ])
    expect([answer.status, answer.param]).to.deep.equal([422, 'models[0]'])
    const servers = Array.from({ length: 60 }, (_, index) => `s${index}`)
    const many = await gateway.asAdmin(`POST ${path}`, { name: 'n', mcp_servers: servers })
    expect(many.body['errors']).to.have.length(50)
  })

  it('gives a name to one living key, whatever its case', async () => {
    const names = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 'Race' : 'race'))
    const answers = await Promise.all(names.map((name) => gateway.asAdmin(`POST ${path}`, { name })))
    const statuses = answers.map(({ status, code }) => (status === 201 ? 'made' : code))
    expect(statuses.filter((one) => one === 'made')).to.have.length(1)
    expect(statuses.filter((one) => one === 'name_taken')).to.have.length(49)
    for (const name of ['Tool', 'unset']) {
      const answer = await gateway.asAdmin(`POST ${path}`, { name })
      expect([answer.status, answer.code]).to.deep.equal([409, 'declared_in_file'])
    }
  })

  it('changes the fields that are sent, and makes a version of each change alone', async () => {
    const { id } = await create({ budget: { usd: 5, period: 'week' }, tags: { a: '1', b: '2' }, models: ['small'] })
    const patch = (body: object, headers = {}) => gateway.asAdmin(`PATCH ${path}/${id}`, body, headers)
    const changed = await patch({
      budget: { usd: 7 },
      tags: { b: null, c: '3' },
      name: 'Renamed',
      rate_limit: { tokens: 9 },
    })
    expect([changed.status, changed.headers.get('etag')]).to.deep.equal([200, '"2"'])
    expect(changed.body).to.deep.include({
      name: 'Renamed',
      tags: { a: '1', c: '3' },
      models: ['small'],
      rate_limit: { requests: null, tokens: 9, concurrency: null, period: '60s' },
      version: 2,
    })
    expect(changed.body['budget']).to.include({ usd: 7, period: 'week' })
    for (const same of [{}, { budget: { usd: 7 } }, { tags: {} }, { name: 'Renamed' }])
      expect((await patch(same)).body['version'], JSON.stringify(same)).to.equal(2)
    const reset = await patch({ budget: null, models: null, tags: null, rate_limit: null })
    expect(reset.body).to.deep.include({ budget: null, models: null, tags: {}, rate_limit: null, version: 3 })
    const past = await patch({ expires_at: '2020-01-31T12:00:00Z' })
    expect(past.body).to.include({ state: 'expired', expires_at: '2020-01-31T12:00:00.000Z' })
    const rows = await actions(id)
    expect(rows.map(({ action }) => action)).to.deep.equal([
      'api_key.create',
      'api_key.update',
      'api_key.update',
      'api_key.update',
    ])
    expect(rows[1]).to.deep.include({
      outcome: 'ok',
      target: { type: 'api_key', id, name: 'Renamed' },
      changes: {
        name: { from: rows[0]?.['target'] && (rows[0]['target'] as JsonObject)['name'], to: 'Renamed' },
        'budget.usd': { from: 5, to: 7 },
        'tags.b': { from: '2', to: null },
        'tags.c': { from: null, to: '3' },
        'rate_limit.tokens': { from: null, to: 9 },
        'rate_limit.period': { from: null, to: '60s' },
      },
    })
    expect(rows[1]?.['actor']).to.deep.equal({ type: 'member', id: gateway.admin.id, name: 'admin' })
  })

  const refusedPatches: readonly (readonly [patch: object, code: string, param: string])[] = [
    [{ name: null }, 'invalid_field', 'name'],
    [{ id: null }, 'unknown_field', 'id'],
    [{ source: 'file' }, 'unknown_field', 'source'],
    [{ budget: { spent: 0 } }, 'unknown_field', 'budget.spent'],
    [{ budget: { period: 'day' } }, 'missing_field', 'budget.usd'],
    [{ rate_limit: { period: '60s' } }, 'invalid_field', 'rate_limit'],
    [{ models: ['nothing'] }, 'invalid_reference', 'models[0]'],
    [{ owner: 'nobody' }, 'invalid_reference', 'owner'],
  ]
  for (const [patch, code, param] of refusedPatches)
    it(`refuses the patch ${JSON.stringify(patch)}: ${code}`, async () => {
      const { id } = await create()
      const answer = await gateway.asAdmin(`PATCH ${path}/${id}`, patch)
      expect([answer.status, answer.code, answer.param], JSON.stringify(answer.body)).to.deep.equal([422, code, param])
      expect((await gateway.asAdmin(`GET ${path}/${id}`)).body['version']).to.equal(1)
    })

  it('refuses a patch to a name that is taken, and takes the own name in another case', async () => {
    const { id } = await create({ name: 'mine' })
    await create({ name: 'theirs' })
    const rename = (name: string) => gateway.asAdmin(`PATCH ${path}/${id}`, { name })
    expect(await rename('THEIRS')).to.include({ status: 409, code: 'name_taken' })
    expect(await rename('TOOL')).to.include({ status: 409, code: 'declared_in_file' })
    expect((await rename('Mine')).body).to.include({ name: 'Mine', version: 2 })
  })

  it('makes one change of each version', async () => {
    const { id } = await create()
    const change = (version: string, tag: string) =>
      gateway.asAdmin(`PATCH ${path}/${id}`, { tags: { tag } }, { 'if-match': version })
    const both = await Promise.all([change('"1"', 'a'), change('"1"', 'b')])
    expect(both.map(({ status }) => status)).to.have.members([200, 412])
    expect(both.find(({ status }) => status === 412)?.code).to.equal('stale_version')
    expect((await change('*', 'c')).body['version']).to.equal(3)
    const stale = { 'if-match': '"1"' }
    expect((await gateway.asAdmin(`DELETE ${path}/${id}`, undefined, stale)).status).to.equal(412)
    expect((await gateway.asAdmin(`POST ${path}/${id}/rotate`, {}, stale)).status).to.equal(412)
    expect((await gateway.asAdmin(`POST ${path}/${id}/reset-budget`, {}, stale)).status).to.equal(412)
    // Without a version, the last change wins, and none is lost.
    const tags = Array.from({ length: 10 }, (_, index) => `t${index}`)
    const all = await Promise.all(tags.map((tag) => gateway.asAdmin(`PATCH ${path}/${id}`, { tags: { [tag]: '' } })))
    expect(all.every(({ status }) => status === 200)).to.equal(true)
    const { body } = await gateway.asAdmin(`GET ${path}/${id}`)
    expect(body).to.include({ version: 13 })
    expect(body['tags']).to.have.keys('tag', ...tags)
  })

  it('deletes a key: it is refused, its sockets are closed, its name is free', async function () {
    this.timeout(60_000)
    const { id, key } = await create({ name: 'brief' })
    const socket = await connect(gateway, '/v1/responses', { headers: { authorization: `Bearer ${key}` } })
    const deleted = await gateway.asAdmin(`DELETE ${path}/${id}`)
    expect([deleted.status, deleted.body]).to.deep.equal([204, {}])
    expect(await serves(key)).to.equal(false)
    expect(await socket.closed).to.include({ code: 4401 })
    for (const route of [`GET ${path}/${id}`, `DELETE ${path}/${id}`])
      expect(await gateway.asAdmin(route)).to.include({ status: 404, code: 'not_found' })
    const again = await create({ name: 'Brief' })
    expect(again.id).not.to.equal(id)
    expect((await actions(id)).map(({ action }) => action)).to.deep.equal(['api_key.create', 'api_key.delete'])
  })

  it('keeps the stored responses of a deleted key from the next key of its name', async () => {
    const { id, key } = await create({ name: 'author' })
    const ask = (by: string) => (route: string, body?: object) => {
      const [method = '', to = ''] = route.split(' ')
      const headers = { 'x-api-key': by, 'content-type': 'application/json' }
      return fetch(gateway.url + to, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    }
    const made = await ask(key)('POST /v1/responses', { model: 'small', input: 'hello', store: true })
    const { id: response } = (await made.json()) as { id: string }
    expect((await ask(key)(`GET /v1/responses/${response}`)).status).to.equal(200)
    await gateway.asAdmin(`DELETE ${path}/${id}`)
    const next = await create({ name: 'author' })
    expect((await ask(next.key)(`GET /v1/responses/${response}`)).status).to.equal(404)
  })

  it('rotates a key: another text, the same key', async () => {
    const { id, key: first } = await create({ tags: { team: 'red' } })
    const rotate = (body?: object) => gateway.asAdmin(`POST ${path}/${id}/rotate`, body)
    const graced = await rotate({ grace: '1h' })
    const { key: second } = graced.body as Made
    expect([graced.status, graced.headers.get('etag')]).to.deep.equal([200, '"2"'])
    expect(graced.body).to.deep.include({ id, tags: { team: 'red' }, version: 2, hint: second.slice(-4) })
    expect(graced.body['rotated_at']).to.match(moment)
    expect(await servesEach(first, second)).to.deep.equal([true, true])
    const { key: third } = (await rotate()).body as Made
    expect(await servesEach(first, second, third)).to.deep.equal([false, false, true])
    const rows = await actions(id)
    expect(rows.at(-1)).to.deep.include({
      action: 'api_key.rotate',
      changes: { hint: { from: second.slice(-4), to: third.slice(-4) } },
    })
    for (const text of [first, second, third]) expect(JSON.stringify(rows)).not.to.include(text)
    for (const grace of ['8d', 'long', 5]) expect(await rotate({ grace })).to.include({ status: 422, param: 'grace' })
  })

  it('refuses the text before a rotation when its grace is over', async () => {
    const { id, key: first } = await create()
    const { key: second } = (await gateway.asAdmin(`POST ${path}/${id}/rotate`, { grace: '700ms' })).body as Made
    await until(async () => !(await serves(first)))
    expect(await serves(second)).to.equal(true)
  })

  it('tells what a key has spent, and forgets it', async () => {
    const budget = { usd: 5, period: 'total' } as const
    const { id, key } = await create({ budget })
    const ask = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'hello' }] }),
      })
    const shown = async () => (await gateway.asAdmin(`GET ${path}/${id}`)).body['budget'] as JsonObject
    expect((await ask()).status).to.equal(200)
    await until(async () => (await shown())['spent'] === 2)
    expect(await shown()).to.deep.include({ ...budget, spent: 2, held: 0, remaining: 3, resets_at: null })
    expect((await gateway.asAdmin(`GET ${path}?sort=-spent&limit=1`)).body['data']).to.have.nested.property(
      '[0].id',
      id,
    )
    const reset = await gateway.asAdmin(`POST ${path}/${id}/reset-budget`)
    expect([reset.status, reset.headers.get('etag')]).to.deep.equal([200, '"1"'])
    expect(reset.body['budget']).to.deep.include({ ...budget, spent: 0, held: 0, remaining: 5 })
    expect((await actions(id)).map(({ action }) => action)).to.deep.equal(['api_key.create', 'api_key.reset_budget'])
  })

  it('tells when a key was used last', async () => {
    const { id, key } = await create()
    const began = Date.now()
    await serves(key)
    const used = async () => (await gateway.asAdmin(`GET ${path}/${id}`)).body['last_used_at']
    await until(async () => (await used()) !== null)
    expect(Date.parse(asText(await used()))).to.be.within(began, Date.now())
  })

  it('shows keys of the file, which change there alone', async () => {
    const tool = await gateway.asAdmin(`GET ${path}/file%3Atool`)
    expect(tool.headers.get('etag')).to.equal(null)
    const { declared_at: place, ...record } = tool.body
    expect((place as JsonObject)['line']).to.be.a('number')
    expect(record).to.deep.equal({
      id: 'file:tool',
      name: 'tool',
      hint: 'cdef',
      owner: null,
      models: ['small'],
      budget: null,
      rate_limit: null,
      mcp_servers: null,
      tags: { team: 'red' },
      expires_at: '2999-01-31T00:00:00.000Z',
      disabled: false,
      state: 'active',
      source: 'file',
      created_at: null,
      created_by: null,
      updated_at: null,
      last_used_at: null,
      rotated_at: null,
      version: null,
    })
    const unset = await gateway.asAdmin(`GET ${path}/file%3Aunset`)
    expect(unset.body).to.include({ state: 'off', hint: null })
    expect(unset.body['budget']).to.include({ usd: 2, period: 'month' })
    for (const id of ['file%3Atool', 'file%3Aunset'])
      for (const [route, body] of [
        [`PATCH ${path}/${id}`, { name: 'other' }],
        [`DELETE ${path}/${id}`, undefined],
        [`POST ${path}/${id}/rotate`, {}],
      ] as const)
        expect(await gateway.asAdmin(route, body), route).to.include({ status: 409, code: 'declared_in_file' })
    expect((await gateway.asAdmin(`POST ${path}/file%3Aunset/reset-budget`)).status).to.equal(200)
  })

  it('knows nothing of other ids, bodies and types', async () => {
    for (const [route, body] of [
      [`GET ${path}/elsewhere`, undefined],
      [`PATCH ${path}/elsewhere`, { disabled: true }],
      [`DELETE ${path}/elsewhere`, undefined],
      [`POST ${path}/elsewhere/rotate`, {}],
      [`POST ${path}/elsewhere/reset-budget`, {}],
    ] as const)
      expect(await gateway.asAdmin(route, body), route).to.include({ status: 404, code: 'not_found' })
    expect(await gateway.asAdmin(`POST ${path}`, '{"name": "a", "name": "b"}')).to.include({
      status: 400,
      code: 'invalid_json',
    })
    expect((await gateway.asAdmin(`POST ${path}`, 'name=a', { 'content-type': 'text/plain' })).status).to.equal(415)
    expect((await gateway.asAdmin(`PUT ${path}`, {})).status).to.equal(405)
  })

  it('is for admins; viewers see the keys they own', async () => {
    const own = await create({ owner: owner.id })
    const other = await create()
    expect((await gateway.asViewer(`GET ${path}/${own.id}`)).body).to.include({ id: own.id })
    const hidden = await gateway.asViewer(`GET ${path}/${other.id}`)
    const unknown = await gateway.asViewer(`GET ${path}/elsewhere`)
    expect([hidden.status, hidden.code])
      .to.deep.equal([unknown.status, unknown.code])
      .and.to.deep.equal([404, 'not_found'])
    for (const route of [
      `POST ${path}`,
      `PATCH ${path}/${own.id}`,
      `DELETE ${path}/${own.id}`,
      `POST ${path}/${own.id}/rotate`,
      `POST ${path}/${own.id}/reset-budget`,
      `PATCH ${path}/elsewhere`,
    ]) {
      expect(await gateway.asViewer(route, route.startsWith('DELETE') ? undefined : {}), route).to.include({
        status: 403,
        code: 'forbidden',
      })
      expect(await gateway.asKey(route, route.startsWith('DELETE') ? undefined : {}), route).to.include({
        status: 401,
        code: 'invalid_token',
      })
    }
    expect(await gateway.asNobody(`GET ${path}`)).to.include({ status: 401, code: 'invalid_token' })
  })

  it('answers 503, and changes nothing, while the database is away', async () => {
    const { id, key } = await create()
    const { query } = gateway.engine.database
    await query.schema.alterTable('api_keys').renameTo('api_keys_away').execute()
    try {
      for (const [route, body] of [
        [`GET ${path}`, undefined],
        [`POST ${path}`, { name: 'never' }],
        [`PATCH ${path}/${id}`, { disabled: true }],
      ] as const)
        expect(await gateway.asAdmin(route, body), route).to.include({ status: 503, code: 'store_unavailable' })
    } finally {
      await query.schema.alterTable('api_keys_away').renameTo('api_keys').execute()
    }
    expect(await serves(key)).to.equal(true)
    expect((await gateway.asAdmin(`GET ${path}/${id}`)).body['version']).to.equal(1)
  })

  it('changes nothing while no row of the audit trail can be written', async () => {
    const { id, key } = await create()
    const { query } = gateway.engine.database
    await query.schema.alterTable('audit').renameTo('audit_away').execute()
    try {
      for (const [route, body] of [
        [`POST ${path}`, { name: 'never' }],
        [`PATCH ${path}/${id}`, { disabled: true }],
        [`POST ${path}/${id}/rotate`, {}],
        [`POST ${path}/${id}/reset-budget`, {}],
        [`DELETE ${path}/${id}`, undefined],
      ] as const)
        expect(await gateway.asAdmin(route, body), route).to.include({ status: 503, code: 'store_unavailable' })
    } finally {
      await query.schema.alterTable('audit_away').renameTo('audit').execute()
    }
    expect((await gateway.asAdmin(`GET ${path}/${id}`)).body).to.include({ version: 1, disabled: false })
    expect(await serves(key)).to.equal(true)
    expect((await gateway.asAdmin(`GET ${path}?search=never`)).body).to.deep.equal({ data: [], next_cursor: null })
  })
}

describe('API keys for admins', () => {
  describe('on SQLite', () => contract(() => undefined))

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(() => url)
  })
})
