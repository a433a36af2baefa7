import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { testFolder } from '../engine/config/folder.ts'
import type { TestFolder } from '../engine/config/folder.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { ownPostgres } from '../support/services.ts'
import type { Service } from '../support/services.ts'

interface Route {
  readonly method: string
  readonly path: string
}

const settings = {
  models: [{ name: 'echo', provider: 'echo' }],
  records: { mcp_servers: [{ name: 'docs', transport: 'http', url: 'http://127.0.0.1:9/mcp' }] },
}

/** Every route below `/api/`, with names in the place of parameters. */
async function routesOf({ asAdmin }: AdminGateway): Promise<readonly Route[]> {
  const { body } = await asAdmin('GET /api/config/pipelines')
  const pipelines = body['data'] as unknown as readonly { readonly routes: readonly Route[] }[]
  return pipelines
    .flatMap(({ routes }) => routes)
    .filter(({ method, path }) => method !== 'WS' && path.startsWith('/api/'))
    .map(({ method, path }) => ({ method, path: path.replace(/:id/g, crypto.randomUUID()).replace(/:\w+/g, 'echo') }))
}

/** Bodies of the writes that need one. */
const bodies: readonly (readonly [method: string, path: string, body: object])[] = [
  ['POST', '/api/config/models', { name: 'made', provider: 'echo' }],
  ['POST', '/api/config/providers', { name: 'made', type: 'echo', config: {} }],
  ['POST', '/api/api-keys', { name: 'made' }],
  ['POST', '/api/team/members', { username: 'made', password: 'a long sentence of theirs' }],
  ['PATCH', '/api/config/server/security', { max_keys_per_member: 7 }],
]

describe('a gateway without its database', function () {
  this.timeout(300_000)

  describe('when PostgreSQL is stopped', () => {
    let gateway: AdminGateway
    let service: Service
    let routes: readonly Route[]
    let earlier = ''
    before(async function () {
      service = await ownPostgres(this)
      gateway = await startAdmin({ ...settings, database: service.url })
      routes = await routesOf(gateway)
      const first = await gateway.post('/v1/responses', { model: 'echo', input: 'before' })
      earlier = ((await first.json()) as { readonly id: string }).id
      await service.stop()
    })
    after(async () => {
      await gateway?.close()
      await service?.stop()
    })

    it('answers every read of the admin API, or 503 store_unavailable', async () => {
      const wrong: string[] = []
      let away = 0
      for (const { method, path } of routes) {
        if (method !== 'GET' || path.endsWith('/tail')) continue
        const { status, code } = await gateway.asAdmin(`GET ${path}`)
        if (status === 503 && code === 'store_unavailable') away += 1
        else if (status >= 500 && !path.startsWith('/api/health')) wrong.push(`${path}: ${status} ${String(code)}`)
      }
      expect(wrong).to.deep.equal([])
      expect(away).to.be.greaterThan(10)
    })

    it('answers writes with 503 store_unavailable', async () => {
      const wrong: string[] = []
      for (const [method, path, body] of bodies) {
        const { status, code } = await gateway.asAdmin(`${method} ${path}`, body)
        if (status !== 503 || code !== 'store_unavailable') wrong.push(`${method} ${path}: ${status} ${String(code)}`)
      }
      for (const { method, path } of routes) {
        if (method !== 'DELETE' && method !== 'POST') continue
        if (path.startsWith('/api/auth/logout')) continue
        const { status, code } = await gateway.asAdmin(`${method} ${path}`, method === 'POST' ? {} : undefined)
        if (status >= 500 && code !== 'store_unavailable') wrong.push(`${method} ${path}: ${status} ${String(code)}`)
      }
      expect(wrong).to.deep.equal([])
    })

    it('answers a reload with 503 store_unavailable, and the running configuration stays', async () => {
      const { version } = gateway.engine.live.status
      const { status, code, body } = await gateway.asAdmin('POST /api/config/reload', {})
      expect([status, code], JSON.stringify(body)).to.deep.equal([503, 'store_unavailable'])
      expect((body['error'] as JsonObject)['message']).to.match(/^The database cannot be used at the moment, so that/)
      expect(gateway.engine.live.status.version).to.equal(version)
      const served = await gateway.post('/v1/chat/completions', {
        model: 'echo',
        messages: [{ role: 'user', content: 'hi' }],
      })
      expect(served.status, await served.text()).to.equal(200)
    })

    it('says store: false where a response is not kept, with the loss, and refuses what needs the store', async () => {
      const answer = await gateway.post('/v1/responses', { model: 'echo', input: 'hi', store: true })
      const whole = (await answer.json()) as JsonObject
      expect([answer.status, whole['store'], whole['status']]).to.deep.equal([200, false, 'completed'])
      expect(answer.headers.get('x-gateway-losses')).to.match(/\bstore\b/)
      const streamed = await gateway.post('/v1/responses', { model: 'echo', input: 'hi', stream: true })
      const events = await streamed.text()
      expect(events).to.include('"store":false')
      expect(events).to.not.include('"store":true')
      for (const body of [{ background: true }, { previous_response_id: earlier }]) {
        const { status } = await gateway.post('/v1/responses', { model: 'echo', input: 'hi', ...body })
        expect(status, JSON.stringify(body)).to.equal(503)
      }
    })
  })

  describe('when another process holds the lock of SQLite', () => {
    let gateway: AdminGateway
    let folder: TestFolder
    let holder: BetterSqlite.Database
    before(async () => {
      folder = await testFolder()
      gateway = await startAdmin({ ...settings, database: `sqlite:${join(folder.path, 'sluice.db')}` })
      holder = new BetterSqlite(join(folder.path, 'sluice.db'))
      holder.exec('begin immediate')
    })
    after(async () => {
      holder.close()
      await gateway.close()
      await folder.remove()
    })

    it('answers reads, and writes with 503 store_unavailable', async () => {
      for (const path of ['/api/config/models', '/api/api-keys', '/api/team/members', '/api/logs'])
        expect((await gateway.asAdmin(`GET ${path}`)).status, path).to.equal(200)
      for (const [method, path, body] of bodies.slice(0, 2)) {
        const { status, code } = await gateway.asAdmin(`${method} ${path}`, body)
        expect([status, code], path).to.deep.equal([503, 'store_unavailable'])
      }
    })
  })
})
