import { expect } from 'chai'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { migrations } from '../../../engine/store/migrations/index.ts'

type Wire = Readonly<Record<string, unknown>>

describe('what runs', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
      server_config: { keepalive: { sse_interval: '20s' } },
    })
  })
  after(() => gateway.close())

  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

  it('is shown without paths, addresses and secrets', async () => {
    const { status, body, headers } = await gateway.asAdmin('GET /api/system/info')
    expect([status, headers.get('cache-control')]).to.deep.equal([200, 'no-store'])
    const { instance, started_at: started, platform, version, database, processes, config, ...others } = body
    expect(others).to.deep.equal({
      name: 'sluice',
      node: process.versions.node,
      key_value: { configured: false, state: 'absent' },
      log: { queued: 0, dropped_rows: 0 },
      master_secret: 'file',
      console: false,
      update: null,
    })
    expect(instance).to.match(/^[0-9a-f-]{36}$/)
    expect(started).to.match(time)
    expect(platform).to.equal(`${process.platform} ${process.arch}`)
    expect(version).to.match(/^\d+\.\d+\.\d+/)
    const { bytes, ...rest } = database as Wire
    expect(bytes).to.be.a('number').above(0)
    expect(rest).to.deep.equal({ dialect: gateway.engine.database.dialect, migration: Object.keys(migrations).at(-1) })
    const { version: current } = config as Wire
    const [own, ...more] = processes as Wire[]
    expect(more).to.deep.equal([])
    expect(own).to.have.all.keys('id', 'pid', 'started_at', 'config_version')
    expect(own).to.include({ pid: process.pid, config_version: current })
  })

  it('has a configuration with its files and processes', async () => {
    const { status, body } = await gateway.asAdmin('GET /api/config/status')
    expect(status).to.equal(200)
    expect(body).to.have.all.keys('version', 'loaded_at', 'files', 'error', 'processes', 'off')
    const { version, loaded_at: loaded, files, error, processes } = body
    expect(loaded).to.match(time)
    expect(error).to.equal(null)
    for (const file of files as string[]) expect(file).not.to.match(/^\//)
    expect(processes).to.have.length(1)
    expect((processes as Wire[])[0]).to.include({ version, current: true })
    expect((await gateway.asAdmin('POST /api/config/reload', {})).body['version']).to.equal(version)
    expect(await gateway.asAdmin('POST /api/config/reload', { now: true })).to.include({
      status: 422,
      code: 'unknown_field',
      param: 'now',
    })
  })

  it('has pipelines, as they are written and as they run', async () => {
    const { body } = await gateway.asAdmin('GET /api/config/pipelines')
    const all = body['data'] as Wire[]
    const named = (name: string) => all.find((one) => one['name'] === name)
    for (const one of all)
      expect(one).to.have.all.keys('name', 'file', 'summary', 'protocol', 'routes', 'inputs', 'uses')
    for (const { file } of all) expect(file).to.match(/^pipelines\/[^.]+\.yaml$/)
    expect(named('chat-completions')).to.deep.include({
      file: 'pipelines/chat-completions.yaml',
      protocol: 'chat',
      inputs: [],
      uses: ['route', 'generate'],
    })
    expect(named('chat-completions')?.['routes']).to.deep.include({
      method: 'POST',
      path: '/v1/chat/completions',
      access: 'key',
    })
    const accessOf = (name: string, path: string) =>
      (named(name)?.['routes'] as Wire[] | undefined)?.find((route) => route['path'] === path)?.['access']
    expect(accessOf('health', '/api/health')).to.equal('public')
    expect(accessOf('admin', '/api/system/info')).to.equal('admin')
    expect(named('generate')).to.deep.include({ inputs: ['request', 'candidates'], routes: [] })

    const one = await gateway.asAdmin('GET /api/config/pipelines/admin')
    expect(one.body['yaml']).to.match(/^(#.*\n)?name: admin\nsummary: .+\nroutes: \[actions\]/)
    expect(one.body['actions']).to.deep.include({
      name: 'get-pipeline',
      summary: 'Answer a pipeline as it is written and as it runs.',
      route: 'GET /api/config/pipelines/:name',
      access: 'admin',
    })
    const chat = await gateway.asAdmin('GET /api/config/pipelines/chat-completions')
    expect(chat.body['yaml']).to.include('protocol: chat')
    const [auth] = chat.body['plan'] as Wire[]
    expect(auth).to.include({ kind: 'stage', name: 'auth', path: 'auth' })
    expect(auth).to.deep.include({ needs: ['ingress'], provides: ['principal'] })
    expect(auth).to.not.have.any.keys('gives', 'may_give')
    expect(auth?.['options']).to.deep.include({ name: 'with', value: 'key', from: 'pipeline' })
    const steps = JSON.stringify(chat.body['plan'])
    expect(steps).to.include('"path":"generate/attempt/call"')
    expect((chat.body['finally'] as Wire[]).map((step) => step['path'])).to.include.members([
      'finally/price',
      'finally/log',
    ])
    expect(await gateway.asAdmin('GET /api/config/pipelines/nothing')).to.include({ status: 404, code: 'not_found' })
  })

  it('is for admins alone, and takes no parameters', async () => {
    for (const route of [
      'GET /api/system/info',
      'GET /api/config/status',
      'GET /api/config/pipelines',
      'GET /api/config/pipelines/chat-completions',
      'POST /api/config/reload',
      'GET /api/config/server',
      'PATCH /api/config/server/keepalive',
    ]) {
      expect(await gateway.asViewer(route), route).to.include({ status: 403, code: 'forbidden' })
      expect(await gateway.asNobody(route), route).to.include({ status: 401, code: 'invalid_token' })
    }
    for (const route of ['GET /api/system/info', 'GET /api/config/status', 'GET /api/config/pipelines'])
      expect(await gateway.asAdmin(`${route}?x=1`)).to.include({ status: 422, code: 'unknown_field', param: 'x' })
  })

  it('has sections of settings, complete, with who changed them', async () => {
    const { body } = await gateway.asAdmin('GET /api/config/server')
    const sections = body['data'] as Wire[]
    expect(sections.map((one) => one['section'])).to.include.members([
      'cors',
      'keepalive',
      'logging',
      'rate_limits',
      'request_policy',
      'resilience',
      'security',
      'web_search',
    ])
    for (const one of sections) expect(one, String(one['section'])).not.to.have.property('schema')

    const section = 'security'
    const before = await gateway.asAdmin(`GET /api/config/server/${section}`)
    expect(before.body).to.have.all.keys(
      'section',
      'values',
      'defaults',
      'overridden',
      'source',
      'version',
      'updated_at',
      'updated_by',
      'schema',
      'problem',
    )
    expect(before.body).to.include({ section, source: 'default', version: null, updated_at: null, updated_by: null })
    expect(before.body['values']).to.deep.equal(before.body['defaults'])

    const changed = await gateway.asAdmin(`PATCH /api/config/server/${section}`, { session_idle: '2h' })
    expect([changed.status, changed.code]).to.deep.equal([200, undefined])
    expect(changed.body).to.include({ source: 'database', updated_by: 'admin' })
    expect(changed.body['values']).to.include({ session_idle: '2h' })
    expect(changed.headers.get('etag')).to.equal(`"${JSON.stringify(changed.body['version'])}"`)
    expect(await gateway.asAdmin(`PATCH /api/config/server/${section}`, { session_idle: '25h' })).to.include({
      status: 422,
      param: 'session_idle',
    })
    expect(await gateway.asAdmin(`PATCH /api/config/server/${section}`, { strange: 1 })).to.include({
      status: 422,
      code: 'unknown_field',
      param: 'strange',
    })
    const stale = { 'if-match': '"1234567"' }
    expect(await gateway.asAdmin(`PATCH /api/config/server/${section}`, { session_idle: '3h' }, stale)).to.include({
      status: 412,
      code: 'stale_version',
    })
    expect((await gateway.asAdmin(`DELETE /api/config/server/${section}`)).status).to.equal(204)
    expect((await gateway.asAdmin(`GET /api/config/server/${section}`)).body['source']).to.equal('default')

    expect((await gateway.asAdmin('GET /api/config/server/keepalive')).body).to.include({ source: 'file' })
    expect(await gateway.asAdmin('PATCH /api/config/server/keepalive', { sse_interval: '5s' })).to.include({
      status: 409,
      code: 'declared_in_file',
    })
    expect(await gateway.asAdmin('GET /api/config/server/nothing')).to.include({ status: 404, code: 'not_found' })
  })
})
