import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

const at = '/api/mcp/servers'
/** A public address, which nothing here connects to. */
const far = 'https://198.41.0.4/mcp'
const allow_stdio = [{ command: 'node', environment: ['A', 'B'] }, '/bin/tool']
const fields = [
  'name',
  'transport',
  'url',
  'headers',
  'command',
  'arguments',
  'environment',
  'cwd',
  'shared',
  'restarts',
  'tools',
  'call_timeout',
  'allow_private',
  'enabled',
  'description',
  'secrets',
  'source',
  'version',
  'created_at',
  'updated_at',
  'problem',
]

describe('admin/mcp/servers', function () {
  this.timeout(300_000)
  let gateway: AdminGateway

  before(async () => {
    gateway = await startAdmin({
      records: {
        mcp: { allow_stdio },
        mcp_servers: [
          { name: 'declared', transport: 'http', url: 'http://127.0.0.1:9/mcp', headers: { 'x-key': '${NOT_SET}' } },
          {
            name: 'own',
            transport: 'stdio',
            command: 'anything',
            environment: { TOKEN: 'a secret of the own server' },
          },
        ],
      },
      api_keys: [{ name: 'bound', key: 'sk-a-key-for-one-server-alone', mcp_servers: ['own'] }],
    })
  })
  after(() => gateway.close())
  afterEach(async () => {
    const { body } = await ask('GET @?source=database')
    for (const { name } of body['data'] as readonly JsonObject[]) await ask(`DELETE @/${name as string}`)
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
  const audited = async () => {
    const rows = await gateway.engine.database.rows<{ body: string }>('select body from audit order by sequence')
    return rows
      .map(({ body }) => JSON.parse(body) as JsonObject)
      .filter(({ action }) => (action as string).startsWith('mcp_server.'))
  }

  it('are shown with all their fields and without what is secret', async () => {
    const made = await ask('POST @', {
      name: 'far',
      transport: 'http',
      url: far,
      headers: { authorization: 'Bearer a-long-token-1234', 'x-team': 'short' },
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.headers.get('location')).to.equal(`${at}/far`)
    expect(made.headers.get('etag')).to.equal(`"${made.body['version'] as number}"`)
    expect(made.body).to.have.all.keys(fields)
    const { created_at: created, updated_at: updated, version, ...rest } = made.body
    expect(created).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect([updated, version]).to.deep.equal([created, 1])
    expect(rest).to.deep.equal({
      name: 'far',
      transport: 'http',
      url: far,
      headers: {},
      command: null,
      arguments: [],
      environment: {},
      cwd: null,
      shared: false,
      restarts: 10,
      tools: { allow: null, deny: [] },
      call_timeout: null,
      allow_private: false,
      enabled: true,
      description: '',
      secrets: {
        'headers.authorization': { set: true, hint: '1234' },
        'headers.x-team': { set: true, hint: null },
      },
      source: 'database',
      problem: null,
    })
    expect((await ask('GET @/far')).body).to.deep.equal(made.body)
  })

  it('of the file are shown, too, and cannot be changed', async () => {
    const { body } = await ask('GET @/own')
    expect(body).to.have.all.keys([...fields, 'declared_at'])
    expect(body).to.deep.include({ source: 'file', version: null, command: 'anything', environment: {} })
    expect(body['secrets']).to.deep.equal({ 'environment.TOKEN': { set: true, hint: 'rver' } })
    expect(await refusal('PATCH @/own', { enabled: false })).to.equal('409 declared_in_file null')
    expect(await refusal('DELETE @/own')).to.equal('409 declared_in_file null')
    expect(await refusal('POST @', { name: 'own', transport: 'http', url: far })).to.equal('409 declared_in_file null')
    const off = await ask('GET @/declared')
    expect(off.body['problem']).to.equal('off: NOT_SET is not set')
  })

  it('change by merge patches, in the version that is expected', async () => {
    await ask('POST @', { name: 's', transport: 'stdio', command: 'node', environment: { A: 'one', B: 'two' } })
    const changed = await ask('PATCH @/s', { environment: { A: null }, tools: { deny: ['rm'] }, call_timeout: '5s' })
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
    expect(changed.body).to.deep.include({
      secrets: { 'environment.B': { set: true, hint: null } },
      tools: { allow: null, deny: ['rm'] },
      call_timeout: '5s',
      version: 2,
    })
    expect(await refusal('PATCH @/s', { enabled: false }, { 'if-match': '"1"' })).to.equal('412 stale_version null')
    const reset = await ask('PATCH @/s', { call_timeout: null, tools: null })
    expect(reset.body).to.deep.include({ tools: { allow: null, deny: [] }, call_timeout: null, version: 3 })
    expect((await ask('PATCH @/s', {})).body['version']).to.equal(3)
    expect((await ask('DELETE @/s')).status).to.equal(204)
    expect(await refusal('GET @/s')).to.equal('404 not_found null')
  })

  const refused: [body: object, answer: string][] = [
    [{ name: 'n', transport: 'http' }, '422 missing_field url'],
    [{ name: 'n', transport: 'stdio' }, '422 missing_field command'],
    [{ transport: 'http', url: far }, '422 missing_field name'],
    [{ name: 'n', url: far }, '422 missing_field transport'],
    [{ name: 'n n', transport: 'http', url: far }, '422 invalid_field name'],
    [{ name: 'status', transport: 'http', url: far }, '422 reserved_name name'],
    [{ name: 'n', transport: 'sse', url: far }, '422 invalid_field transport'],
    [{ name: 'n', transport: 'http', url: 'ftp://198.41.0.4' }, '422 invalid_field url'],
    [{ name: 'n', transport: 'http', url: 'https://a:b@198.41.0.4/' }, '422 invalid_field url'],
    [{ name: 'n', transport: 'http', url: far, command: 'node' }, '422 invalid_field command'],
    [{ name: 'n', transport: 'http', url: far, environment: { A: 'b' } }, '422 invalid_field environment'],
    [{ name: 'n', transport: 'stdio', command: 'node', url: far }, '422 invalid_field url'],
    [{ name: 'n', transport: 'http', url: far, headers: { 'a b': 'c' } }, '422 invalid_field headers'],
    [{ name: 'n', transport: 'http', url: far, headers: { a: 'b\nc' } }, '422 invalid_field headers.a'],
    [{ name: 'n', transport: 'stdio', command: 'node', environment: { 'A=B': 'c' } }, '422 invalid_field environment'],
    [{ name: 'n', transport: 'stdio', command: 'node', arguments: ['a\0b'] }, '422 invalid_field arguments[0]'],
    [{ name: 'n', transport: 'http', url: far, call_timeout: '0s' }, '422 invalid_field call_timeout'],
    [{ name: 'n', transport: 'http', url: far, tools: { allow: 'all' } }, '422 invalid_field tools.allow'],
    [{ name: 'n', transport: 'http', url: far, header: {} }, '422 unknown_field header'],
    [{ name: 'n', transport: 'http', url: far, tools: { only: [] } }, '422 unknown_field tools.only'],
    [{ name: 'n', transport: 'http', url: far, source: 'file' }, '422 unknown_field source'],
    [{ name: 'n', transport: 'http', url: 'https://198.41.0.4/${HOME}' }, '422 invalid_field url'],
  ]
  for (const [body, answer] of refused)
    it(`are refused: ${JSON.stringify(body).slice(0, 90)}: ${answer}`, async () => {
      expect(await refusal('POST @', body)).to.equal(answer)
      expect(await names('?source=database')).to.deep.equal([])
    })

  it('are at public addresses, unless allow_private says otherwise', async () => {
    for (const url of ['http://127.0.0.1:1/mcp', 'http://localhost/', 'http://[::1]/', 'http://169.254.169.254/?k=v'])
      expect(await refusal('POST @', { name: 'n', transport: 'http', url }), url).to.equal('422 private_address url')
    const made = await ask('POST @', { name: 'n', transport: 'http', url: 'http://127.0.0.1:1/', allow_private: true })
    expect(made.status).to.equal(201)
    expect(await refusal('PATCH @/n', { allow_private: false })).to.equal('422 private_address url')
    expect((await ask('GET @/n')).body).to.deep.include({ allow_private: true, version: 1 })
  })

  it('start only commands that the file allows', async () => {
    const body = { name: 'n', transport: 'stdio', command: '/bin/sh' }
    expect(await refusal('POST @', body)).to.equal('403 stdio_not_allowed command')
    expect(await refusal('POST @', { ...body, command: './node' })).to.equal('403 stdio_not_allowed command')
    expect((await ask('POST @', { ...body, command: '/bin/tool' })).status).to.equal(201)
    expect(await refusal('PATCH @/n', { command: 'sh' })).to.equal('403 stdio_not_allowed command')
    expect((await ask('PATCH @/n', { command: 'node' })).status).to.equal(200)
    const closed = await startAdmin()
    try {
      const { status, code } = await closed.asAdmin(`POST ${at}`, { ...body, command: 'node' })
      expect([status, code]).to.deep.equal([403, 'stdio_not_allowed'])
    } finally {
      await closed.close()
    }
  })

  it('show the allowed commands with the settings, which cannot be changed there', async () => {
    const section = '/api/config/server/mcp_security'
    const { body } = await gateway.asAdmin(`GET ${section}`)
    expect(body['values']).to.deep.include({
      allow_stdio: [{ ...(allow_stdio[0] as object), arguments: [] }, '/bin/tool'],
    })
    expect(body['overridden']).to.deep.equal({ allow_stdio: 'mcp.allow_stdio' })
    expect(body['schema']).to.have.nested.property('properties.allow_stdio.readOnly', true)
    const { status, code, param } = await gateway.asAdmin(`PATCH ${section}`, { allow_stdio: ['sh'] })
    expect([status, code, param]).to.deep.equal([422, 'unknown_field', 'allow_stdio'])
  })

  it('are listed by filters, and a second one of a name is refused', async () => {
    await ask('POST @', { name: 'b', transport: 'http', url: far, description: 'Weather of the world' })
    await ask('POST @', { name: 'a', transport: 'stdio', command: 'node', enabled: false })
    expect(await names('')).to.deep.equal(['a', 'b', 'declared', 'own'])
    expect(await names('?transport=stdio')).to.deep.equal(['a', 'own'])
    expect(await names('?enabled=false')).to.deep.equal(['a'])
    expect(await names('?search=WEATHER')).to.deep.equal(['b'])
    expect(await names('?source=database&sort=-name')).to.deep.equal(['b', 'a'])
    expect(await refusal('GET @?colour=red')).to.equal('422 unknown_field colour')
    expect(await refusal('POST @', { name: 'b', transport: 'http', url: far })).to.equal('409 name_taken null')
  })

  it('are for admins alone', async () => {
    for (const route of ['GET @', 'POST @', 'GET @/own', 'PATCH @/own', 'DELETE @/own'])
      for (const [asker, status] of [
        [gateway.asViewer, 403],
        [gateway.asKey, 401],
        [gateway.asNobody, 401],
      ] as const)
        expect((await asker(route.replace('@', at), route.startsWith('P') ? {} : undefined)).status, route).to.equal(
          status,
        )
  })

  it('leave rows in the audit trail, without secrets', async () => {
    const before = (await audited()).length
    const headers = { authorization: 'Bearer a-long-token-1234' }
    await ask('POST @', { name: 'far', transport: 'http', url: far, headers })
    await ask('PATCH @/far', { description: 'new', headers: { authorization: 'Bearer another-long-token' } })
    await ask('DELETE @/far')
    const rows = (await audited()).slice(before)
    expect(rows.map(({ action }) => action)).to.deep.equal(
      ['create', 'update', 'delete'].map((verb) => `mcp_server.${verb}`),
    )
    const [, changed] = rows
    expect(changed).to.deep.include({
      target: { type: 'mcp_server', id: 'far', name: 'far' },
      changes: {
        description: { from: '', to: 'new' },
        'headers.authorization': { from: '[secret]', to: '[secret]' },
      },
    })
    expect(JSON.stringify(rows)).to.not.include('long-token')
  })

  it('are named by keys, which keep the name of one that is gone', async () => {
    await ask('POST @', { name: 'far', transport: 'http', url: far })
    const made = await gateway.asAdmin('POST /api/api-keys', { name: 'k', mcp_servers: ['far', 'own'] })
    expect(made.body['mcp_servers']).to.deep.equal(['far', 'own'])
    const strange = await gateway.asAdmin('POST /api/api-keys', { name: 'l', mcp_servers: ['far', 'near'] })
    expect([strange.status, strange.code, strange.param]).to.deep.equal([422, 'invalid_reference', 'mcp_servers[1]'])
    // As with models, a stored key keeps the name of a server that is gone, and may still be changed.
    expect((await ask('DELETE @/far')).status).to.equal(204)
    const { body } = await gateway.asAdmin(`PATCH /api/api-keys/${made.body['id'] as string}`, { disabled: true })
    expect(body).to.deep.include({ mcp_servers: ['far', 'own'], disabled: true })
  })
})
