import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { until } from '../support/until.ts'

const keeper = `import { defineStage } from 'sluice'
const key = 'count ' + crypto.randomUUID()
export default defineStage({
  name: 'keeper',
  summary: 'Keeps a value and seals one.',
  config: { type: 'object', additionalProperties: false, properties: {} } as const,
  needs: ['principal'],
  provides: ['reply'],
  build: (_, host) => async () => {
    const held = await host.keyValue.get(key)
    const count = Number(held?.value ?? 0) + 1
    await host.keyValue.set(key, Buffer.from(String(count)), { ttl: 60_000, version: held?.version ?? null })
    const opened = host.unseal(host.seal(Buffer.from('text'), 'here'), 'here')
    const value = { count, shared: host.keyValue.shared, opened: String(opened) }
    return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
  },
})
`
const pipeline = 'name: keep\nsummary: s.\nroutes: [POST /v1/keep]\nstages: [auth: { with: key }, keeper]\n'
const health = `name: ready
summary: s.
public: true
routes: [GET /api/health/ready]
stages: [health: { report: ready }]
`

describe('what a gateway keeps', () => {
  const start = (more: object = {}) =>
    startFolder(
      {
        plugins: ['./mine'],
        pipelines: './pipelines',
        ...more,
      },
      { 'mine/keeper.ts': keeper, 'pipelines/keep.yaml': pipeline, 'pipelines/ready.yaml': health },
    )
  const keep = async (gateway: FolderGateway) => {
    const response = await gateway.ask('/v1/keep', {})
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  describe('without a key-value store', () => {
    let gateway: FolderGateway
    before(async () => (gateway = await start()))
    after(() => gateway.close())

    it('is kept in the database, and sealed with a secret beside it', async () => {
      expect((await keep(gateway)).body).to.deep.equal({ count: 1, shared: false, opened: 'text' })
      expect((await keep(gateway)).body).to.deep.equal({ count: 2, shared: false, opened: 'text' })
      const file = join(gateway.folder, 'data', 'secret')
      expect((await stat(file)).mode & 0o777).to.equal(0o600)
      const secret = (await readFile(file, 'utf8')).trim()
      expect(secret).to.match(/^[\w-]{43}$/)
      expect(gateway.lines.join('')).to.not.include(secret)
    })

    it('takes a restart to move into one', async () => {
      await gateway.configure({ key_value: { url: 'redis://127.0.0.1:1' } })
      const [finding] = await gateway.engine.live.reload()
      expect([finding?.code, finding?.message]).to.deep.equal([
        'restart',
        'a change of key_value.url requires a restart',
      ])
      expect((await keep(gateway)).body).to.include({ count: 3, shared: false })
    })
  })

  describe('with one', () => {
    let service: Service
    let gateway: FolderGateway
    before(async function () {
      service = await redis(this)
      gateway = await start({ key_value: { url: service.url } })
    })
    after(() => gateway?.close())

    it('goes on without it, and says so, its password apart', async function () {
      const away = await startFolder(
        { key_value: { url: 'redis://user:a-password-of-its-own@127.0.0.1:1' }, pipelines: './pipelines' },
        { 'pipelines/ready.yaml': health },
      )
      const { status, body } = await away.ready()
      expect([status, body]).to.deep.equal([
        200,
        { status: 'degraded', degraded: ['key_value'], draining: false, config: body.config },
      ])
      expect(away.lines.join('')).to.include('the key-value store cannot be reached')
      expect(away.lines.join('')).to.not.include('a-password-of-its-own')
      await away.close()
    })

    it('is kept there', async () => {
      expect((await keep(gateway)).body).to.deep.equal({ count: 1, shared: true, opened: 'text' })
      expect((await gateway.ready()).body.status).to.equal('ok')
    })

    it('answers 503 once it is gone, and stays up', async function () {
      if (service.pid === undefined) return this.skip()
      await service.stop()
      await until(async () => (await gateway.ready()).body.status === 'degraded')
      const { status, body } = await keep(gateway)
      expect([status, (body['error'] as { code: string }).code]).to.deep.equal([503, 'store_unavailable'])
      return undefined
    })
  })
})
