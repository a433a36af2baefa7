import { appendFileSync, chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { openGateway } from '../../../engine/gateway.ts'
import type { Gateway } from '../../../engine/gateway.ts'
import { makeLog } from '../../../engine/telling/log.ts'
import { Secrets } from '../../../engine/secrets/redaction.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const environment = {
  FILE_KEY: 'canary-of-the-environment',
  HOOK: 'https://hooks.example/T0/canary-of-the-environment',
}
const said = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Good day' }, finish_reason: 'stop' }],
}
/** Where the records, the sections and what is shown of them are asked. */
const routes = ['config/providers', 'config/models', 'mcp/servers', 'config/server'] as const
/** What tells where a record comes from, and nothing of what it does. */
const about = new Set(['source', 'version', 'created_at', 'updated_at', 'updated_by', 'declared_at', 'priced_at'])

describe('cli/export-config', () => {
  let here: Sandbox
  let upstream: ScriptedUpstream
  let gateway: AdminGateway
  beforeEach(async () => {
    here = await sandbox()
    upstream = await scriptedUpstream()
    upstream.answer({ body: said })
    gateway = await startAdmin({
      folder: here.folder,
      environment,
      providers: [
        { name: 'from-env', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: '${FILE_KEY}' },
        {
          name: 'in-clear',
          type: 'compatible',
          base_url: `${upstream.url}/v1`,
          api_key: 'canary-of-the-file',
          headers: { accept: 'application/json', 'x-token': 'canary-of-a-header' },
        },
      ],
      models: [{ name: 'declared', provider: 'from-env' }],
      server_config: {
        resilience: { retries: { tries: 2 } },
        notifications: {
          to: [
            { name: 'env', form: 'slack', url: '${HOOK}', causes: ['audit_broken'] },
            { name: 'clear', form: 'slack', url: 'https://hooks.example/T0/canary-hook', causes: ['audit_broken'] },
          ],
        },
      },
    })
    const make = async (route: string, body: object, status = 201) => {
      const answer = await gateway.asAdmin(route, body)
      expect([route, answer.status, answer.code]).to.deep.equal([route, status, undefined])
    }
    await make('POST /api/config/providers', {
      name: 'stored',
      type: 'compatible',
      allow_private: true,
      config: { base_url: `${upstream.url}/v1`, api_keys: ['canary-stored-1', 'canary-stored-2'] },
    })
    await make('POST /api/config/models', {
      name: 'made',
      provider: 'stored',
      upstream_model: 'theirs',
      pricing: { input: 1, output: 2 },
      fallbacks: ['declared'],
    })
    await make('POST /api/mcp/servers', {
      name: 'wiki',
      transport: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: { authorization: 'Bearer canary-mcp' },
    })
    await make('PATCH /api/config/server/rate_limits', { server: { requests: 1000, period: '1m' } }, 200)
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
    await here.remove()
  })

  const run = (...words: string[]) => here.run(['--config', 'sluice.yaml', 'export', 'config', ...words], environment)

  it('prints the file and the stored records as one file, and no secret', async () => {
    const { status, out, error } = await run()
    const text = out.join('\n')
    expect(status).to.equal(0)
    expect(text + error.join('\n')).to.not.include('canary')
    expect(text).to.include('api_key: ${FILE_KEY}').and.include('api_key: ${IN_CLEAR_API_KEY}')
    expect(text).to.include('- name: stored').and.include('${STORED_API_KEYS_2}')
    expect(text).to.include('url: ${HOOK}').and.include('url: ${NOTIFICATIONS_URL}')
    expect(text).to.include('accept: application/json')
    expect(error[0]).to.match(/^Variables with secrets .*STORED_API_KEYS/)
  })

  it('takes the password out of the address of a store', async () => {
    appendFileSync(join(here.folder, 'sluice.yaml'), '\nkey_value:\n  url: redis://:canary@127.0.0.1:1/0\n')
    const { status, out, error } = await run()
    expect(status, error.join('\n')).to.equal(0)
    const text = out.join('\n')
    expect(text + error.join('\n')).to.not.include('canary')
    expect(text).to.include('url: ${KEY_VALUE_URL}')
  })

  it('takes a password out of an address beside variables, whatever else is the same text', async () => {
    const lines = ['key_value:', '  url: redis://canary:canary@${canary_HOST}:1/0']
    appendFileSync(join(here.folder, 'sluice.yaml'), ['', ...lines, ''].join('\n'))
    const { status, out, error } = await here.run(['--config', 'sluice.yaml', 'export', 'config'], {
      ...environment,
      canary_HOST: '127.0.0.1',
    })
    expect(status, error.join('\n')).to.equal(0)
    expect(out.join('\n')).to.include('url: redis://${KEY_VALUE_URL}:${KEY_VALUE_URL}@${canary_HOST}:1/0\n')
  })

  it('makes a file from which an equal gateway starts', async () => {
    const { status } = await run('--out', 'copy')
    expect(status).to.equal(0)
    const folder = join(here.folder, 'copy')
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
    const own = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const secrets = new Secrets()
    const engine = await openGateway({
      file: 'config/sluice.yaml',
      root: folder,
      environment: { ...environment, ...own, DATABASE_URL: `sqlite:${join(folder, 'own.db')}` },
      log: makeLog({ level: 'error', secrets, destination: { write: () => undefined } }),
      secrets,
      strict: true,
    })
    try {
      const ask = await asAdminOf(engine)
      for (const route of routes) {
        const [before, after] = [await gateway.asAdmin(`GET /api/${route}`), await ask(`/api/${route}`)]
        expect(without(after)).to.deep.equal(without(before.body))
      }
      const url = `http://127.0.0.1:${engine.address.port}/v1/chat/completions`
      for (const [model, key] of [
        ['made', 'canary-stored-1'],
        ['declared', 'canary-of-the-environment'],
      ] as const) {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
        })
        expect([model, answer.status]).to.deep.equal([model, 200])
        expect(upstream.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${key}`)
      }
    } finally {
      await engine.close(1000)
    }
    const again = await run('--out', 'copy')
    expect(again.status).to.equal(1)
    expect(again.error.join('\n')).to.include('config/sluice.yaml, .env, .env.example would be replaced')
    chmodSync(join(folder, '.env'), 0o644)
    expect((await run('--out', 'copy', '--force')).status).to.equal(0)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('exports the same again from what it exported', async () => {
    await run('--out', 'copy')
    const folder = join(here.folder, 'copy')
    const own = parseEnv(readFileSync(join(folder, '.env'), 'utf8')) as Record<string, string>
    const { status, out } = await here.run(['--config', 'copy/config/sluice.yaml', 'export', 'config'], {
      ...environment,
      ...own,
      DATABASE_URL: `sqlite:${join(folder, 'other.db')}`,
    })
    expect(status).to.equal(0)
    expect(out.join('\n')).to.equal(readFileSync(join(folder, 'config/sluice.yaml'), 'utf8').trimEnd())
  })
})

/** A value without what tells where its records come from. Records are in the order of their names. */
function without(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map((one: Json) => without(one))
  if (typeof value !== 'object' || value === null) return value ?? null
  const kept = Object.entries(value as JsonObject).filter(([name]) => !about.has(name))
  return Object.fromEntries(kept.map(([name, inner]) => [name, without(inner)]))
}

/** Makes an admin in a new gateway, who reads. */
async function asAdminOf(engine: Gateway): Promise<(path: string) => Promise<JsonObject>> {
  const url = `http://127.0.0.1:${engine.address.port}`
  const made = await fetch(`${url}/api/auth/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: viewOf(engine, 'members').setupToken(), username: 'admin', password }),
  })
  const { token } = (await made.json()) as { token: string }
  return async (path) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    expect([path, answer.status]).to.deep.equal([path, 200])
    return (await answer.json()) as JsonObject
  }
}
