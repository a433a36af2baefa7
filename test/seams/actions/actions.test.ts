import { join } from 'node:path'
import { expect } from 'chai'
import { shipped } from '../../../engine/config/shipped.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { tablesOf } from '../../support/tables.ts'

const plugins = [join(import.meta.dirname, '..', 'access', 'plugin.ts'), join(import.meta.dirname, 'plugin.ts')]
const roles = { ann: 'admin', tom: 'admin', vic: 'viewer' }

describe('seams/actions', function () {
  this.timeout(300_000)
  let gateway: FolderGateway
  beforeEach(async () => {
    gateway = await startFolder({ plugins, server_config: { acme_members: { roles } } }, {})
  })
  afterEach(() => gateway.close())

  const ask = async (route: string, token?: string, body?: unknown) => {
    const [method = '', path = ''] = route.split(' ')
    const response = await fetch(`${gateway.url}/acme/${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const told = async (route: string, token?: string, body?: unknown) => {
    const { status, text } = await ask(route, token, body)
    const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string; param: string | null } }
    return error ? [status, error.code, error.param].filter((one) => one !== null).join(' ') : `${status} ${text}`
  }
  const own = (text: string) => gateway.write('pipelines/mine.yaml', text)
  const findings = async () => (await gateway.engine.live.reload()).map(printDiagnostic)

  it('answer their routes to those who may, and to others what everybody gets', async () => {
    const all = '{"data":[{"name":"bow","lit":true}],"next_cursor":'
    expect(await told('GET lanterns?limit=1', 'vic@acme')).to.match(new RegExp(`^200 ${RegExp.escape(all)}"`))
    expect(await told('GET lanterns?lit=false', 'ann@acme')).to.equal(
      '200 {"data":[{"name":"mast","lit":false}],"next_cursor":null}',
    )
    expect(await told('GET lanterns', gateway.key)).to.equal('401 invalid_token')
    expect(await told('GET lanterns/mast', gateway.key)).to.equal('200 {"name":"mast","lit":false}')
    expect(await told('GET lanterns/mast', 'ann@acme')).to.equal('401 invalid_api_key')
    expect(await told('DELETE lanterns/mast', 'vic@acme')).to.equal('204 ')
    expect(await told('GET door')).to.equal('200 {"who":null}')
    expect(await told('GET door', 'ann@acme')).to.equal('200 {"who":null}')
    expect((await ask('GET signals', 'vic@acme')).text.split('\n')).to.have.length(4)
    const head = await fetch(`${gateway.url}/acme/door/`, { method: 'HEAD' })
    expect([head.status, head.headers.get('cache-control')]).to.deep.equal([200, 'no-store'])
  })

  it('look at the role, then what stands before, the query, the body, and run', async () => {
    const wrong = { nmae: 'top' }
    expect(await told('POST lanterns?strom=1', 'vic@acme', wrong)).to.equal('403 forbidden')
    expect(await told('POST lanterns?strom=1', 'tom@acme', wrong)).to.equal('409 storm_warning')
    expect(await told('POST lanterns?strom=1', 'ann@acme', wrong)).to.equal('422 unknown_field strom')
    expect(await told('POST lanterns?storm=1', 'ann@acme', wrong)).to.equal('422 invalid_field storm')
    expect(await told('POST lanterns?storm=true', 'ann@acme', wrong)).to.equal('422 unknown_field nmae')
    const { status, headers, text } = await ask('POST lanterns?storm=true', 'ann@acme', { name: 'top' })
    expect([status, text]).to.deep.equal([201, '{"name":"top","lit":true}'])
    const shown = ['etag', 'location', 'x-by', 'cache-control'].map((name) => headers.get(name))
    expect(shown).to.deep.equal(['"1"', '/acme/lanterns/top', 'ann true', 'no-store'])
    expect(await told('GET door?who=me')).to.equal('422 unknown_field who')
  })

  it('get whole numbers where they say so, and their defaults', async () => {
    const hours = async (query: string) => {
      const { status, headers } = await ask(`POST lanterns${query}`, 'ann@acme', { name: 'top' })
      return `${status} ${headers.get('x-hours')}`
    }
    expect([await hours(''), await hours('?hours=5')]).to.deep.equal(['201 3', '201 5'])
    expect(await told('POST lanterns?hours=2.5', 'ann@acme', { name: 'top' })).to.equal('422 invalid_field hours')
  })

  it('answer with the words of their plugin, and name what was asked for where nothing is there', async () => {
    const message = async (route: string, token: string, body?: unknown) =>
      (JSON.parse((await ask(route, token, body)).text) as { error: { message: string } }).error.message
    expect(await message('POST lanterns', 'tom@acme', { name: 'top' })).to.equal('tom stays below deck in a storm.')
    expect(await message('GET lanterns/anchor', gateway.key)).to.equal(
      'Nothing is served at GET /acme/lanterns/anchor.',
    )
  })

  it('write who was refused into the audit trail, under the name of the action', async () => {
    expect(await told('POST lanterns', 'vic@acme', { name: 'top' })).to.equal('403 forbidden')
    const rows = await tablesOf(gateway.engine.database).selectFrom('audit').select('body').execute()
    const refused = rows.map(({ body }) => JSON.parse(body) as { action: string; details: unknown })
    expect(refused.find(({ action }) => action === 'access.refused')?.details).to.deep.equal({
      action: 'hang-lantern',
      code: 'forbidden',
    })
  })

  it('write whom they refuse themselves into it, too', async () => {
    await own(
      'name: mine\nsummary: s.\nroutes: [POST /acme/lanterns]\nstages: [auth: { with: session }, act: hang-lantern]\n',
    )
    expect(await findings()).to.deep.equal([])
    expect(await told('POST lanterns', 'vic@acme', { name: 'top' })).to.equal('403 forbidden')
    const rows = await tablesOf(gateway.engine.database).selectFrom('audit').selectAll().execute()
    const refused = rows.filter(({ action }) => action === 'access.refused')
    expect(refused.map(({ body }) => (JSON.parse(body) as { details: unknown }).details)).to.deep.equal([
      { action: 'hang-lantern', code: 'forbidden' },
    ])
  })

  it('are served by a pipeline of the operator, and check the role there, too', async () => {
    await own(
      [
        'endpoints:',
        '  - name: mine',
        '    summary: s.',
        '    routes: [GET /acme/lanterns]',
        '    stages: [auth: { with: session, role: admin }, act: list-lanterns]',
        '  - name: keys',
        '    summary: s.',
        '    routes: [POST /acme/lanterns]',
        '    stages: [auth: { with: key }, act]',
        '  - name: closed',
        '    summary: s.',
        '    routes: [GET /acme/lanterns/:name]',
        '    stages: [switch: [{ when: { ingress.transport: http }, do: [refuse: { status: 410 }] }], auth: { with: action }, act]',
      ].join('\n'),
    )
    expect(await findings()).to.deep.equal([])
    expect(await told('GET lanterns', 'vic@acme')).to.equal('403 forbidden')
    expect(await told('GET lanterns', 'ann@acme')).to.match(/^200 /)
    expect(await told('POST lanterns', gateway.key, { name: 'top' })).to.equal('403 forbidden')
    expect(await told('GET lanterns/bow', gateway.key)).to.equal('410 refused')
    expect(await told('DELETE lanterns/bow', 'vic@acme')).to.equal('204 ')
  })

  it('are told once each in a document that is made anew for each configuration', async () => {
    const ids = async () => {
      const headers = { authorization: 'Bearer vic@acme' }
      const response = await fetch(`${gateway.url}/api/openapi.json`, { headers })
      expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8')
      const { paths } = (await response.json()) as { paths: Record<string, Record<string, { operationId: string }>> }
      const all = Object.values(paths).flatMap((one) => Object.values(one).map(({ operationId }) => operationId))
      expect(all.length).to.equal(new Set(all).size)
      return all.filter((one) => one.startsWith('list-lanterns'))
    }
    expect([await ids(), await ids()]).to.deep.equal([['list-lanterns'], ['list-lanterns']])
    const stages = 'stages: [auth: { with: session }, act: list-lanterns]'
    await own(`name: mine\nsummary: s.\nroutes: [GET /acme/also, GET /acme/too]\n${stages}\n`)
    expect(await findings()).to.deep.equal([])
    const expected = ['list-lanterns.mine', 'list-lanterns', 'list-lanterns.mine.2']
    expect([await ids(), await ids()]).to.deep.equal([expected, expected])
  })

  it('stand behind what an operator puts in front of all of them', async () => {
    const admin = [
      'name: admin',
      'summary: s.',
      'routes: [actions]',
      'stages:',
      '  - switch: [{ when: { ingress.method: [POST, DELETE] }, do: [refuse: { status: 503 }] }]',
      '  - auth: { with: action }',
      '  - act',
    ]
    await gateway.write('pipelines/admin.yaml', admin.join('\n'))
    expect(await findings()).to.deep.equal([])
    expect(await told('POST lanterns', 'ann@acme', { name: 'top' })).to.equal('503 refused')
    expect(await told('GET lanterns', 'vic@acme')).to.match(/^200 /)
  })

  it('are found where they are written in a wrong way', async () => {
    const served = (name: string, route: string, stages: string) =>
      `  - { name: ${name}, summary: s., routes: [${route}], stages: [${stages}] }`
    await own(
      [
        'endpoints:',
        served('a', 'GET /a', 'auth: { with: session }, list-lanterns'),
        served('b', 'GET /b', 'auth: { with: session }, act: list-lantern'),
        served('c', 'GET /c', 'auth: { with: action }, act'),
        served('d', 'GET /d', 'auth: { with: key }, act: show-lantern'),
        served('e', 'GET /e', 'auth: { with: session }, act: {}'),
        served('f', 'actions', 'auth: { with: action }, act'),
        served('g', 'actions, GET /g', 'act: knock'),
        '  - { name: h, summary: s., inputs: [ingress], stages: [act] }',
      ].join('\n'),
    )
    const at = (line: number, column: number, text: string) => `pipelines/mine.yaml:${line}:${column}: ${text}`
    expect(await findings()).to.deep.equal([
      at(
        2,
        81,
        'no stage named "list-lanterns": "list-lanterns" is an action, which a pipeline runs by "act: list-lanterns" [unknown-stage]',
      ),
      at(3, 86, 'no action named "list-lantern"; did you mean "list-lanterns"? [unknown-action]'),
      at(4, 38, 'no action has the route "GET /c"; name one: "act: <action>" [act]'),
      at(5, 38, '"show-lantern" needs ":name" in the route, and "GET /d" has none [act]'),
      at(6, 86, '"act" stands alone, or takes the name of an action [unknown-action]'),
      at(7, 38, 'the pipeline "admin" serves the actions already [duplicate]'),
      at(8, 38, '"actions" must stand last: it brings the routes that are left [act]'),
      at(8, 38, 'the pipeline "admin" serves the actions already [duplicate]'),
      at(9, 57, '"act" needs the name of an action here: "h" has no routes [act]'),
    ])
    await own('name: i\nsummary: s.\nroutes: [GET /i]\nstages: [auth: { with: action }, use: j]\n')
    await gateway.write('pipelines/j.yaml', 'name: j\nsummary: s.\ninputs: [ingress]\nstages: [act: knock]\n')
    expect(await findings()).to.deep.equal([
      'pipelines/mine.yaml:4:24: "auth" cannot be built: this pipeline does not run one action per route; it needs one "act" [build]',
    ])
    await own('name: k\nsummary: s.\nroutes: [GET /k]\nstages: [auth: { with: key }, use: l]\n')
    await gateway.write('pipelines/j.yaml', 'name: l\nsummary: s.\ninputs: [ingress]\nstages: [act: show-lantern]\n')
    expect(await findings()).to.deep.equal([
      'pipelines/mine.yaml:3:10: "show-lantern" needs ":name" in the route, and "GET /k" has none [act]',
    ])
    await gateway.write('pipelines/j.yaml', 'name: l\nsummary: s.\ninputs: [ingress]\nstages: [use: l, act: knock]\n')
    expect((await findings()).join('\n')).to.match(/^pipelines\/j\.yaml.*include each other: l -> l/m)
  })

  it('are found in a plugin where their declaration is wrong', async () => {
    const declared = {
      access: "route: 'GET /a', run() {}",
      body: "route: 'GET /a', access: { role: 'any' }, body: { type: 'object' }, run() {}",
      writes: "route: 'PATCH /a', access: { role: 'any' }, run() {}",
      answer:
        "route: 'GET /a', access: { role: 'any' }, answer: { type: 'object', properties: { a: { type: 'array', description: 'A.', items: { type: 'object', properties: { b: { type: 'string' } } } } } }, run() {}",
      query: "route: 'GET /a', access: { role: 'any' }, query: { q: { type: 'string' } }, run() {}",
      route: "route: 'GET a', access: { role: 'any' }, run() {}",
      twice: "route: 'GET /acme/lanterns/:other', access: { role: 'any' }, run() {}",
      used: "route: 'GET /used', access: { role: 'any' }, uses: ['ropes'], run() {}",
      misspelt: "route: 'GET /m', access: { role: 'any' }, anwser: {}, run() {}",
      strange: "route: 'GET /m', access: { public: true }, run() {}",
      'open-a': "route: 'GET /m', access: { role: 'admin', public: false }, run() {}",
      'open-b': "route: 'GET /m', access: { role: 'viewer', key: undefined }, run() {}",
      'open-c': "route: 'GET /m', access: { role: 'viewer', also: 'pending' }, run() {}",
      quiet: "route: 'POST /m', access: { role: 'any' }, writes: 'none', run() {}",
      unheard: "route: 'GET /unheard', access: { role: 'any' }, errors: ['not_fuond'], run() {}",
    }
    for (const [name, text] of Object.entries(declared))
      await gateway.write(
        `wrong/${name}.ts`,
        `export default { kind: 'action', name: '${name}', summary: 's', ${text} }\n`,
      )
    await gateway.configure({ plugins: [...plugins, './wrong'] })
    const at = (name: string, text: string) => `wrong/${name}.ts:1:1: action "${name}"${text}`
    const access =
      ' needs "access": { role: "viewer" | "admin" | "any" }, { key: true }, or { public: true, reason } [component]'
    expect((await findings()).filter((line) => line.startsWith('wrong/'))).to.deep.equal([
      at('access', access),
      at('answer', ': "a.b" has no description [component]'),
      at('body', ': a GET request has no body [component]'),
      at('misspelt', ': unknown field "anwser"; did you mean "answer"? [component]'),
      at('open-a', access),
      at('open-b', access),
      at('open-c', access),
      at('query', ': "query q" has no description [component]'),
      at('quiet', ': a POST must say what it "writes": { record }, "own audit row", or { not: "why" } [component]'),
      at('route', ': "route" must be a method and a path, such as "GET /api/things/:id" [component]'),
      at('strange', access),
      `wrong/twice.ts:1:1: the route "GET /acme/lanterns/:other" is that of the action "show-lantern" already [duplicate]`,
      'wrong/unheard.ts:1:1: no error has the code "not_fuond"; did you mean "not_found"? [unknown-error]',
      at('used', ' uses the service "ropes", which does not exist [unknown-service]'),
      at('writes', ': a PATCH must say what it "writes": { record }, "own audit row", or { not: "why" } [component]'),
    ])
  })

  it('stay whole beside a plugin of the name of a shipped one, and in place of an action that records bring', async () => {
    await gateway.write('own/records.ts', "export default { kind: 'plugin', name: 'records', summary: 's' }\n")
    await gateway.write('own/limits.ts', "export default { kind: 'plugin', name: 'limits', summary: 's' }\n")
    const run = "access: { role: 'any' }, run: () => ({})"
    await gateway.write(
      'own/mine.ts',
      `export default { kind: 'action', name: 'get-model', summary: 's', route: 'GET /acme/mine', ${run} }\n`,
    )
    await gateway.configure({ plugins: [...plugins, './own'] })
    expect(await findings()).to.deep.equal([])
    const { registry, written } = gateway.engine.live.current
    const routes = written.flatMap((one) => one.routes.map(({ method, path }) => `${method} ${path}`))
    expect(routes).to.include.members(['GET /api/config/models', 'GET /acme/mine'])
    expect(registry.errors.get('budget_exceeded')).to.include({ status: 429 })
  })

  it('leave the shipped pipeline short', async () => {
    const { written } = gateway.engine.live.current
    const admin = written.find(({ name }) => name === 'admin')
    expect(admin?.place.source.file).to.equal(join(shipped.pipelines, 'admin.yaml'))
    expect(admin?.routes.map(({ action }) => action?.name)).to.include.members(['list-lanterns', 'knock'])
  })
})
