import { join } from 'node:path'
import { expect } from 'chai'
import { testFolder } from '../../engine/config/folder.ts'
import type { TestFolder } from '../../engine/config/folder.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

/** Provider types of an author: one that says what decides where its key goes, and one that says nothing. */
const authored = `import { definePlugin, defineProvider } from 'sluice'
import { baseUrl, upstreamProperties } from 'sluice/kit'
const text = (description) => ({ type: 'string', description })
const config = {
  type: 'object',
  additionalProperties: false,
  properties: { base_url: baseUrl, host: text('Host.'), greeting: text('Greeting.'), ...upstreamProperties },
}
const parts = { summary: 's', config, secrets: ['api_key', 'api_keys'], offers: () => [], open: () => ({}) }
export default definePlugin({
  name: 'authored',
  summary: 's',
  providers: [
    defineProvider({ ...parts, name: 'saying', destinations: ['host'] }),
    defineProvider({ ...parts, name: 'silent' }),
  ],
})
`
const key = 'sk-stays-where-it-is-0123'
const at = '/api/config/providers'

describe('admin/providers: where secrets go', () => {
  let folder: TestFolder
  let gateway: AdminGateway
  let upstream: ScriptedUpstream
  before(async () => {
    folder = await testFolder({ 'authored.ts': authored })
    upstream = await scriptedUpstream()
    gateway = await startAdmin({
      plugins: [join(folder.path, 'authored.ts')],
      records: { mcp: { allow_stdio: ['node', 'sh'].map((command) => ({ command, environment: ['TOKEN', 'BASE'] })) } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await folder.remove()
  })

  let made = 0
  const make = async (type: string, config: object) => {
    const name = `p${++made}`
    const { status, body } = await gateway.asAdmin(`POST ${at}`, { name, type, config, allow_private: true })
    expect(status, JSON.stringify(body)).to.equal(201)
    return name
  }
  const change = async (name: string, patch: object) => {
    const { status, code, param } = await gateway.asAdmin(`PATCH ${at}/${name}`, patch)
    return status === 200 ? '200' : `${status} ${String(code)} ${String(param)}`
  }
  const refused = '422 secret_required config.api_key'
  const far = 'https://198.41.0.4'

  it('a key does not follow its provider to another address, whatever reveal_keys says', async () => {
    for (const reveal_keys of [true, false]) {
      await gateway.asAdmin('PATCH /api/config/server/security', { reveal_keys })
      const name = await make('native', { base_url: `${far}/v1`, api_key: key })
      expect(await change(name, { config: { base_url: upstream.url } })).to.equal(refused)
      expect(await change(name, { base_url: upstream.url })).to.equal(refused)
      await gateway.asAdmin(`POST ${at}/${name}/test`, {})
      expect(upstream.requests).to.deep.equal([])
    }
  })

  it('a key does not follow a change of port, scheme, one operation, region or preset', async () => {
    const native = await make('native', { base_url: `${far}/v1`, api_key: key })
    for (const base_url of [`${far}:444/v1`, far.replace('https', 'http')])
      expect(await change(native, { config: { base_url } }), base_url).to.equal(refused)
    for (const chat of [upstream.url, `${upstream.url}/v1/chat/completions`])
      expect(await change(native, { config: { endpoint_base_urls: { chat } } })).to.equal(refused)
    const bedrock = await make('bedrock', {
      region: 'us-east-1',
      access_key_id: 'AKIA0123',
      secret_access_key: key,
      session_token: key,
    })
    expect(await change(bedrock, { config: { region: 'eu-west-1' } })).to.equal(
      '422 secret_required config.secret_access_key',
    )
    const { body } = await gateway.asAdmin(`PATCH ${at}/${bedrock}`, { config: { region: 'eu-west-1' } })
    const errors = body['errors'] as readonly { readonly param: string }[]
    expect(errors.map(({ param }) => param)).to.deep.equal(['config.secret_access_key', 'config.session_token'])
    const preset = await make('compatible', { preset: 'groq', api_keys: [key, `${key}-2`] })
    expect(await change(preset, { config: { preset: 'openrouter' } })).to.equal('422 secret_required config.api_keys')
  })

  it('headers are secrets, too, and each has to be entered again', async () => {
    const name = await make('compatible', { base_url: far, headers: { authorization: key, 'x-team': 'a team' } })
    const moved = { base_url: 'https://198.41.0.5' }
    expect(await change(name, { config: moved })).to.equal('422 secret_required config.headers.authorization')
    expect(await change(name, { config: { ...moved, headers: { authorization: key } } })).to.equal(
      '422 secret_required config.headers.x-team',
    )
    // One that goes is not sent anywhere.
    expect(await change(name, { config: { ...moved, headers: { authorization: key, 'x-team': null } } })).to.equal(
      '200',
    )
  })

  it('a move with its secrets is made, and so is every change that moves nothing', async () => {
    const name = await make('native', { base_url: `${far}/v1`, api_key: key })
    expect(await change(name, { config: { base_url: upstream.url, api_key: `${key}-new` } })).to.equal('200')
    for (const patch of [
      { config: { base_url: `${upstream.url}/v2` } },
      { config: { timeouts: { total: '5s' }, headers: { referer: 'https://elsewhere.example' } } },
      { enabled: false },
      { enabled: true },
      { config: { api_key: `${key}-newer` } },
    ])
      expect(await change(name, patch), JSON.stringify(patch)).to.equal('200')
    const open = await make('compatible', { base_url: far })
    expect(await change(open, { config: { base_url: upstream.url } })).to.equal('200')
    // What is wrong with a value comes first.
    expect(await change(name, { config: { base_url: 'nowhere' } })).to.equal('422 invalid_field config.base_url')
  })

  it("a provider type of an author says what decides, and every setting does if it doesn't", async () => {
    for (const [type, patch, answer] of [
      ['saying', { host: 'elsewhere' }, refused],
      ['saying', { base_url: upstream.url }, refused],
      ['saying', { greeting: 'hello' }, '200'],
      ['silent', { host: 'elsewhere' }, refused],
      ['silent', { base_url: upstream.url }, refused],
      ['silent', { base_url: `${far}/v2` }, '200'],
      ['silent', { timeouts: { total: '5s' } }, '200'],
    ] as const) {
      const name = await make(type, { base_url: far, host: 'here', api_key: key })
      expect(await change(name, { config: patch }), `${type} ${JSON.stringify(patch)}`).to.equal(answer)
    }
  })

  it('secrets of an MCP server follow neither to another address nor to another program', async () => {
    const servers = '/api/mcp/servers'
    const answerOf = async (patch: object, name: string) => {
      const { status, code, param } = await gateway.asAdmin(`PATCH ${servers}/${name}`, patch)
      return status === 200 ? '200' : `${status} ${String(code)} ${String(param)}`
    }
    const http = { name: 'http', transport: 'http', url: `${far}/mcp`, headers: { authorization: key } }
    const stdio = { name: 'stdio', transport: 'stdio', command: 'node', environment: { TOKEN: key, BASE: far } }
    for (const server of [http, stdio]) {
      const { status, body } = await gateway.asAdmin(`POST ${servers}`, server)
      expect(status, JSON.stringify(body)).to.equal(201)
    }
    const url = 'https://198.41.0.5/mcp'
    expect(await answerOf({ url }, 'http')).to.equal('422 secret_required headers.authorization')
    expect(await answerOf({ url: `${far}/other` }, 'http')).to.equal('200')
    expect(await answerOf({ url, headers: { authorization: 'another' } }, 'http')).to.equal('200')
    expect(await answerOf({ command: 'sh' }, 'stdio')).to.equal('422 secret_required environment.TOKEN')
    expect(await answerOf({ environment: { BASE: upstream.url } }, 'stdio')).to.equal(
      '422 secret_required environment.TOKEN',
    )
    expect(await answerOf({ enabled: false }, 'stdio')).to.equal('200')
  })
})
