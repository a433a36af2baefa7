import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { asText } from '../../engine/kit.ts'
import { openApi } from '../../engine/openapi/document.ts'
import { productVersion } from '../../engine/version.ts'
import { configuration } from '../rules/registry.ts'
import { password, startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { initialized, result } from '../support/mcp.ts'
import { OpenApiClient } from '../support/openapi-client.ts'
import type { Calling } from '../support/openapi-client.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { RecordedRequest, Script, ScriptedUpstream } from '../support/upstream.ts'

const root = join(import.meta.dirname, '..', '..')

/** What a vendor and an MCP server answer. */
function answerOf({ method: verb, path, body }: RecordedRequest): Script {
  const { method, id } = (body[0] === 0x7b ? JSON.parse(body.toString()) : {}) as { method?: string; id?: unknown }
  if (path === '/mcp') {
    if (verb === 'GET') return { headers: { 'content-type': 'text/event-stream' }, ending: 'hang' }
    if (verb === 'DELETE') return { status: 200 }
    if (method === 'initialize') return initialized(id, 'session')
    if (id === undefined) return { status: 202 }
    return result(id, method === 'tools/list' ? { tools: [{ name: 'my-tool', inputSchema: { type: 'object' } }] } : {})
  }
  if (path.endsWith('/speech')) return { headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from('sound') }
  if (path.includes('/audio/')) return { headers: { 'content-type': 'application/json' }, body: { text: 'Hello.' } }
  if (path.includes('/images/')) return { body: { created: 1, data: [{ b64_json: '' }] } }
  if (path.endsWith('/compact'))
    return { body: { id: 'resp_1', object: 'response.compaction', output: [], created_at: 1 } }
  if (path.endsWith('/models')) return { body: { object: 'list', data: [{ id: 'theirs' }] } }
  return { body: { input_tokens: 3, object: 'response.input_tokens' } }
}

describe('admin/openapi', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: AdminGateway
  let client: OpenApiClient
  let document: JsonObject
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer(answerOf)
    gateway = await startAdmin({
      providers: [{ name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }],
      models: [],
      server_config: { security: { reveal_keys: true, self_service_keys: true } },
    })
    document = (await gateway.asViewer('GET /api/openapi.json')).body
    client = new OpenApiClient(document, gateway.url, { session: gateway.admin.token, key: gateway.key })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  it('has every action and every route of keys once, and no alias, no WebSocket and no page', async () => {
    const { registry, pipelines } = await configuration()
    expect(client.operations).to.include.members([...registry.actions.keys()])
    expect(new Set(client.operations).size).to.equal(client.operations.length)
    const spoken = pipelines.filter(
      ({ protocol, routes }) => protocol !== undefined && routes.some(({ method }) => method !== 'WS'),
    )
    expect(client.operations).to.include.members(spoken.map(({ name }) => name))
    const paths = Object.keys(document['paths'] as JsonObject)
    const aliases = pipelines.flatMap(({ routes }) => routes.flatMap(({ alias, path }) => (alias ? [path] : [])))
    expect(paths.filter((path) => aliases.includes(path) || path.includes('*'))).to.deep.equal([])
    expect(paths.filter((path) => !/^\/(?:api|v1|v1beta|servers)\//.test(path))).to.deep.equal([])
  })

  it('is what the command line prints', () => {
    const { stdout } = spawnSync(process.execPath, [join(root, 'engine/bin/sluice.cjs'), 'schema', '--openapi'], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
      maxBuffer: 16 * 1024 * 1024,
    })
    const printed = JSON.parse(stdout) as JsonObject
    expect(printed).to.deep.equal(document)
    expect(printed).to.have.nested.property('info.version', productVersion())
  })

  it('has no error that a linter of OpenAPI finds', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'))
    try {
      writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openApi(await configuration(), '1.0.0')))
      writeFileSync(join(folder, 'ruleset.json'), '{ "extends": ["spectral:oas"] }')
      const linter = join(root, 'node_modules/@stoplight/spectral-cli/dist/index.js')
      const lint = (name: string) =>
        spawnSync(process.execPath, [linter, 'lint', '-r', 'ruleset.json', '--fail-severity', 'warn', name], {
          cwd: folder,
          encoding: 'utf8',
        })
      const found = lint('openapi.json')
      expect(found.status, found.stdout + found.stderr).to.equal(0)
      writeFileSync(join(folder, 'wrong.json'), '{ "openapi": "3.1.0", "paths": {} }')
      expect(lint('wrong.json').status, 'a document without info').to.equal(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('has an example of each body that its schema accepts', () => {
    const examples = client.examples()
    expect(examples.length).to.be.greaterThan(55)
    expect(
      examples.flatMap(({ id, schema, example }) => client.wrong(schema, example)?.replace(/^/, `${id}: `) ?? []),
    ).to.deep.equal([])
  })

  it('describes the settings of each section, and the fields of each type of records', async () => {
    const { schemas } = document['components'] as { readonly schemas: JsonObject }
    const { sections, registry } = await configuration()
    expect(Object.keys(schemas)).to.include.members(
      [...sections.keys()].flatMap((name) => [`section.${name}`, `section.${name}.patch`]),
    )
    expect(Object.keys(schemas)).to.include.members([...registry.providers.keys()].map((name) => `provider.${name}`))
    expect(schemas).to.have.nested.property('model.properties.context_length')
  })

  it('says where clients may have CSV', () => {
    type Documented = Readonly<Record<string, { responses: Record<string, { content?: object }> }>>
    const paths = document['paths'] as unknown as Readonly<Record<string, Documented>>
    const types = (path: string, method = 'get') => Object.keys(paths[path]?.[method]?.responses['200']?.content ?? {})
    expect(types('/api/logs')).to.deep.equal(['application/json', 'text/csv'])
    expect(types('/api/me')).to.deep.equal(['application/json'])
    expect(types('/v1/models')).to.deep.equal(['application/json'])
  })

  it('is enough to call every operation, with the examples for bodies', async () => {
    const called: string[] = []
    const unexpected: string[] = []
    const call = async (id: string, wanted: number, calling: Calling = {}): Promise<JsonObject> => {
      called.push(id)
      try {
        const { status, body = {}, headers } = await client.call(id, calling)
        if (status !== wanted) unexpected.push(`${id} answers ${status}, not ${wanted}: ${JSON.stringify(body)}`)
        return { ...body, session: headers.get('mcp-session-id') }
      } catch (error) {
        unexpected.push(String(error))
        return {}
      }
    }
    const all = async (wanted: number, ids: string, calling: Calling = {}) => {
      for (const id of ids.trim().split(/\s+/)) await call(id, wanted, calling)
    }
    const name = (value: string): Calling => ({ path: { name: value } })

    // Records first: the others ask for them.
    await call('create-provider', 201)
    await call('create-guard', 201)
    await call('create-model', 201)
    // The address of the example is of a host that exists nowhere.
    const local = { transport: 'http', url: `${upstream.url}/mcp`, allow_private: true }
    await call('create-mcp-server', 201, { body: { name: 'my-server', ...local } })
    const key: Calling = { path: { id: asText((await call('create-api-key', 201))['id']) } }
    const member: Calling = { path: { id: asText((await call('create-member', 201))['id']) } }
    const { token } = await gateway.addMember({ username: 'holder' })
    const made = await call('create-own-api-key', 201, { token, body: { name: 'own' } })
    const own: Calling = { path: { id: asText(made['id']) }, token }

    // What keys ask, of a model at two providers.
    await call('change-model', 200, {
      ...name('my-model'),
      body: { deployments: [{ provider: 'vendor' }], supports_mapeval: true },
    })
    await all(
      200,
      `chat-completions messages responses gemini decisions mapeval embeddings
      gemini-embedding gemini-embeddings images image-edits speech transcriptions translations compact input-tokens
      count-tokens gemini-count-tokens models protocols`,
      { path: { model: 'my-model' } },
    )
    await call('gemini.streamGenerateContent', 200, { path: { model: 'my-model' }, query: '?alt=sse' })
    await call('model', 200, { path: { model: 'my-model' } })
    const [{ id: request = '' } = {}] = (await gateway.rows(15)).toReversed() as { id?: string }[]
    await call('response', 404)
    await call('response-input-items', 404)
    await call('response-cancellation', 404)
    await call('response-deletion', 404)

    await call('change-mcp-server', 200, { ...name('my-server'), body: { enabled: true } })
    await all(
      200,
      'get-mcp-server get-mcp-status get-mcp-capabilities approve-mcp-tools list-mcp-server',
      name('my-server'),
    )
    await call('rotate-own-api-key', 200, own)
    const accept = { accept: 'application/json, text/event-stream' }
    const server: Calling = { path: { server_name: 'my-server' }, headers: accept }
    const { session } = await call('mcp', 200, server)
    const opened: Calling = { ...server, headers: { ...accept, 'mcp-session-id': asText(session) } }
    await call('mcp-stream', 200, opened)
    await call('mcp-session-end', 200, opened)

    // What is read.
    await all(
      200,
      `list-audit verify-audit compare-checkpoints list-model list-model-names list-provider list-provider-types
      get-judge-agreement list-api-key get-spend list-catalog show-setup list-member show-account show-own-budget
      show-own-tracing list-section list-requests tail-requests get-stats get-usage get-series list-breakers list-notifications
      list-experience list-decisions export-dataset list-feedback list-own-api-key get-system get-configuration
      list-pages list-pipelines get-openapi list-guard list-guard-figures list-guard-kinds list-guard-verdicts`,
    )
    await all(200, 'get-model', name('my-model'))
    await all(200, 'get-provider test-provider', name('my-provider'))
    await call('get-guard', 200, name('my-guard'))
    await call('test-guard', 200)
    await call('list-upstream-models', 200, name('vendor'))
    await all(200, 'get-section', name('security'))
    await all(200, 'get-pipeline', name('admin'))
    await all(200, 'get-api-key get-key-usage', key)
    await all(200, 'get-member', member)
    await all(200, 'get-request', { path: { id: request } })

    // What is changed.
    await all(200, 'change-provider', name('my-provider'))
    await call('change-guard', 200, name('my-guard'))
    await call('change-section', 200, name('logging'))
    await all(200, 'change-api-key rotate-api-key reset-api-key-budget', key)
    await call('change-own-api-key', 200, { ...own, body: { budget: null } })
    await all(200, 'change-member reset-member-budget', member)
    await call('reset-member-password', 200, member)
    await call('change-own-tracing', 200)
    await call('change-own-username', 200, { body: { username: 'ada', current_password: password } })
    await call('reveal-key', 200, { ...name('my-provider'), body: { password } })
    await all(200, 'sync-pricing sync-metadata clean-requests replay-routing reset-experience reload-configuration')
    await call('preview-routing', 200)
    await call('give-feedback', 404)
    await call('rate-request', 404)
    await call('test-notifications', 422)
    await call('reset-breakers', 200, { path: { provider: 'my-provider' } })
    await call('reset-all-breakers', 200)

    // What ends.
    await call('reset-section', 204, name('logging'))
    await call('delete-own-api-key', 204, own)
    await call('delete-api-key', 204, key)
    await call('delete-member', 204, member)
    await call('delete-mcp-server', 204, name('my-server'))
    await call('delete-guard', 204, name('my-guard'))
    await call('delete-model', 204, name('my-model'))
    await call('delete-provider', 204, name('my-provider'))
    await call('set-up', 409)
    await call('sign-in', 200, { body: { username: 'ada', password } })
    await call('renew-session', 200)
    await call('change-own-password', 200, {
      body: { current_password: password, new_password: `${password}, changed` },
    })
    await call('sign-out', 204)
    expect(unexpected).to.deep.equal([])
    expect(client.operations.filter((id) => !called.includes(id))).to.deep.equal([])
  })
})
