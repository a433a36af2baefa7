import { execFile } from 'node:child_process'
import { createHmac, hkdfSync } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import type { Checkpoint } from '../../../plugins/audit/checkpoints.ts'
import { askAt, password, startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../../support/gateway.ts'
import { postgres } from '../../support/services.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'
import { until } from '../../support/until.ts'

const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')
const providerKey = 'sk-provider-of-the-upstream'
const messages = [{ role: 'user', content: 'hello' }]

interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

function rotate(folder: string, environment: Record<string, string> = {}, ...words: string[]): Promise<Ran> {
  return runIn(folder, environment, ['secret', 'rotate', ...words])
}

function runIn(folder: string, environment: Record<string, string>, words: readonly string[]): Promise<Ran> {
  const command = [sluice, ...words, '--config', join(folder, 'sluice.yaml')]
  const env = { PATH: process.env['PATH'], ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: folder, env }, (error, out, heard) =>
      resolve({ code: Number(error?.code ?? 0), out: out.trim(), error: heard.trim() }),
    )
  })
}

const login = async (url: string) => {
  const { status, body } = await askAt(url)('POST /api/auth/login', { username: 'admin', password })
  return status === 200 ? askAt(url, body['token'] as string) : undefined
}

/** Signs in as soon as the gateway lets anybody in. */
async function loggedIn(url: string) {
  let ask: Awaited<ReturnType<typeof login>>
  await until(async () => (ask = await login(url)) !== undefined)
  return ask as NonNullable<typeof ask>
}

const stored = async (ask: AdminGateway['asAdmin'], url: string) => {
  const made = await ask('POST /api/config/providers', {
    name: 'upstream',
    type: 'compatible',
    config: { base_url: url, api_key: providerKey },
    allow_private: true,
  })
  expect(made.status, JSON.stringify(made.body)).to.equal(201)
  const model = await ask('POST /api/config/models', { name: 'stored', provider: 'upstream' })
  expect(model.status, JSON.stringify(model.body)).to.equal(201)
}

/** Whether the upstream is asked with the key of the stored provider. */
async function serves(gateway: RunningGateway, upstream: ScriptedUpstream): Promise<void> {
  const response = await gateway.post('/v1/chat/completions', { model: 'stored', messages })
  expect(response.status, await response.clone().text()).to.equal(200)
  await response.text()
  expect(upstream.requests.at(-1)?.headers['authorization']).to.equal(`Bearer ${providerKey}`)
}

async function captureOf(ask: AdminGateway['asAdmin'], id: string) {
  return (await ask(`GET /api/logs/${id}`)).body['capture'] as JsonObject | null
}

function contract(open: (context: Mocha.Context) => Promise<Pick<GatewaySettings, 'database'>>): void {
  let upstream: ScriptedUpstream
  let folder: string
  let settings: GatewaySettings
  before(async function () {
    this.timeout(600_000)
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    folder = mkdtempSync(join(tmpdir(), 'sluice-rotate-'))
    settings = { ...(await open(this)), folder, server_config: { logging: { capture: 'all' } } }
  })
  after(async () => {
    await upstream.close()
    rmSync(folder, { recursive: true })
  })
  const secret = () => {
    const [file = ''] = [join(folder, 'secret'), join(folder, 'data', 'secret')].filter((path) =>
      statSync(path, { throwIfNoEntry: false }),
    )
    return { file, text: readFileSync(file, 'utf8').trim(), mode: statSync(file).mode & 0o777 }
  }

  let capture = ''
  let compaction: JsonObject
  it('is followed by a gateway that runs, which loses nothing but its sessions', async () => {
    const gateway = await startAdmin(settings)
    try {
      await stored(gateway.asAdmin, upstream.url)
      await serves(gateway, upstream)
      capture = (await gateway.row(({ model }) => model === 'stored')).id
      const before = await captureOf(gateway.asAdmin, capture)
      expect(before).to.include({ truncated: false })
      const compacted = await gateway.post('/v1/responses/compact', { model: 'echo', input: 'Remember the number 42.' })
      compaction = ((await compacted.json()) as { output: JsonObject[] }).output.at(-1) as JsonObject
      expect(compaction['type']).to.equal('compaction')
      const old = secret()
      const setupToken = viewOf(gateway.engine, 'members').setupToken()

      const { code, out, error } = await rotate(folder, {}, '--json')
      expect([code, error]).to.deep.equal([0, ''])
      const said = JSON.parse(out) as JsonObject
      expect(Object.keys(said)).to.deep.equal(['records', 'rows', 'unreadable', 'master_secret'])
      expect(said).to.deep.include({ records: 1, unreadable: 0, master_secret: 'file' })
      expect(said['rows']).to.be.at.least(2)
      const made = secret()
      expect(made.text)
        .to.match(/^[\w-]{43}$/)
        .and.not.equal(old.text)
      expect([made.file, made.mode]).to.deep.equal([old.file, 0o600])
      expect(out).to.not.include(made.text)
      expect(readdirSync(join(made.file, '..')).filter((name) => name.startsWith('secret'))).to.deep.equal(['secret'])

      await until(async () => (await gateway.asAdmin('GET /api/me')).status === 401)
      await until(async () => (await gateway.asViewer('GET /api/me')).status === 401)
      const ask = await loggedIn(gateway.url)
      await until(() => viewOf(gateway.engine, 'members').setupToken() !== setupToken)
      await serves(gateway, upstream)
      expect(await captureOf(ask, capture)).to.deep.equal(before)
      // What clients hold was sealed with the old secret.
      const next = await gateway.post('/v1/responses', {
        model: 'echo',
        input: [compaction, { role: 'user', content: 'And now?' }],
      })
      expect(next.status, await next.text()).to.equal(200)
      // A change seals with the new secret.
      const changed = await ask('PATCH /api/config/providers/upstream', { config: { headers: { 'x-team': 'red' } } })
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
      const { body } = await ask('GET /api/logs/audit?action=secret.rotate')
      const [audited] = body['data'] as readonly JsonObject[]
      expect(audited).to.deep.include({
        action: 'secret.rotate',
        actor: { type: 'cli', id: null, name: null },
        target: null,
        outcome: 'ok',
        changes: {},
        details: {},
      })
      const verdict = (await ask('GET /api/logs/audit/verify')).body
      expect(verdict, JSON.stringify(verdict)).to.deep.include({ ok: true, first_bad: null })
      expect(verdict['checkpoints']).to.deep.equal({ read: verdict['rows'], bad: 0 })
      // The old secret signs no later row.
      const [last] = (await ask('GET /api/logs/audit?limit=1')).body['data'] as readonly (Checkpoint & JsonObject)[]
      const { sequence = 0, hash = '', at = '' } = last ?? {}
      const key = Buffer.from(hkdfSync('sha256', old.text, '', 'sluice audit 1', 32))
      const mac = createHmac('sha256', key).update(`sluice-checkpoint-1\n${sequence}\n${hash}\n${at}`).digest('hex')
      const forged = await ask('POST /api/logs/audit/verify', { checkpoints: [{ sequence, hash, at, mac }] })
      expect(forged.body['first_bad']).to.deep.equal({ sequence, reason: 'checkpoint_mismatch' })
    } finally {
      await gateway.close()
    }
  })

  it('seals anew without a gateway, again and again', async () => {
    for (const _ of [1, 2]) {
      const { code, out, error } = await rotate(folder)
      expect([code, error]).to.deep.equal([0, ''])
      expect(out).to.match(
        /^The master secret is a new one, and all sessions have ended\.\nSealed anew: 1 records, \d+ rows\.$/,
      )
    }
    const gateway = await startGateway(settings)
    try {
      await serves(gateway, upstream)
      const ask = await loggedIn(gateway.url)
      expect(await captureOf(ask, capture)).to.include({ truncated: false })
      const next = await gateway.post('/v1/responses', {
        model: 'echo',
        input: [compaction, { role: 'user', content: 'And now?' }],
      })
      expect(next.status, await next.text()).to.equal(200)
      const verdict = (await ask('GET /api/logs/audit/verify')).body
      expect(verdict, JSON.stringify(verdict)).to.deep.include({ ok: true, first_bad: null })
    } finally {
      await gateway.close()
    }
  })

  it('moves to the environment what a variable gives', async () => {
    const given = 'the next secret of this gateway'
    expect((await rotate(folder, { SLUICE_NEW_SECRET: 'too short' })).error).to.include('fewer than 16 characters')
    expect((await rotate(folder, { SLUICE_NEW_SECRET: given })).code).to.equal(0)
    expect(secret().text).to.equal(given)
    const gateway = await startGateway({ ...settings, environment: { SLUICE_SECRET: given } })
    await serves(gateway, upstream)
    // A rotation leaves a gateway whose secret stands in the environment with the old one until it is restarted.
    const environment = { SLUICE_SECRET: given, SLUICE_NEW_SECRET: 'one more secret of this gateway' }
    const without = await rotate(folder, { SLUICE_SECRET: given })
    expect([without.code, without.error]).to.deep.equal([
      2,
      'sluice: the master secret stands in SLUICE_SECRET: set SLUICE_NEW_SECRET to the new one, which you keep in the same place',
    ])
    const same = await rotate(folder, { ...environment, SLUICE_NEW_SECRET: given })
    expect([same.code, same.error]).to.deep.equal([1, 'sluice: the new master secret is the present one'])
    const ask = await loggedIn(gateway.url)
    const { code, out, error } = await rotate(folder, environment)
    expect([code, error]).to.deep.equal([0, ''])
    expect(out).to.include('Now set SLUICE_SECRET to the value of SLUICE_NEW_SECRET, and restart every gateway.')
    const health = async () => (await (await fetch(`${gateway.url}/api/health`)).json()) as { degraded: string[] }
    await until(async () => (await health()).degraded.includes('master_secret'))
    await serves(gateway, upstream)
    expect(await login(gateway.url)).to.equal(undefined)
    // Its sessions end when it looks at the database next.
    await until(async () => (await ask('GET /api/me')).status === 401)
    await gateway.close()
    // With the old secret, nothing can be rotated.
    const late = await rotate(folder, { ...environment, SLUICE_NEW_SECRET: 'yet another secret of this gateway' })
    expect([late.code, late.error]).to.deep.equal([1, 'sluice: this is not the present master secret of the gateway'])
    const verified = await runIn(folder, { SLUICE_SECRET: given }, ['audit', 'verify'])
    expect([verified.code, verified.out]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 2 && text.includes('(wrong_secret)'),
    )
    const again = await startGateway({ ...settings, environment: { SLUICE_SECRET: environment.SLUICE_NEW_SECRET } })
    try {
      await serves(again, upstream)
      const asAdmin = await loggedIn(again.url)
      expect(await captureOf(asAdmin, capture)).to.include({ truncated: false })
      const verdict = (await asAdmin('GET /api/logs/audit/verify')).body
      expect(verdict, JSON.stringify(verdict)).to.deep.include({ ok: true, first_bad: null })
    } finally {
      await again.close()
    }
  })
}

describe('sluice secret rotate', function () {
  this.timeout(600_000)
  describe('with SQLite', () => contract(() => Promise.resolve({})))
  describe('with PostgreSQL', () => contract(async (context) => ({ database: (await postgres(context)).url })))
})
