import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import os, { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'chai'
import { stringify } from 'yaml'
import type { JsonObject } from '../../engine/index.ts'
import { startServe } from '../engine/cli/process.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import type { GatewaySettings } from '../support/gateway.ts'
import { ownPostgres, postgres, redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { isSigned, receiver, secret } from './receiver.ts'
import type { Receiver } from './receiver.ts'

/** The processes that have told what they see. */
function telling(folder: string): readonly string[] {
  const file = new Database(join(folder, 'sluice.db'), { readonly: true })
  try {
    return (file.prepare('select id from notifications_processes').all() as { id: string }[]).map(({ id }) => id)
  } finally {
    file.close()
  }
}

const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const names = (notices: readonly { readonly facts: Readonly<Record<string, unknown>>; readonly state: string }[]) =>
  notices.map(({ facts, state }) => `${String(facts['name'])} ${state}`)

describe('notifications, whoever says them', function () {
  this.timeout(120_000)

  let ops: Receiver
  beforeEach(async () => {
    ops = await receiver()
  })
  afterEach(() => ops.close())

  const settings = (more: object = {}) => ({
    server_config: {
      notifications: { hold: '0s', to: [{ name: 'ops', url: ops.url, secret }], ...more },
    },
  })
  const addKey = async ({ asAdmin }: Pick<AdminGateway, 'asAdmin'>, name: string) => {
    const { status, body } = await asAdmin('POST /api/api-keys', { name, expires_at: soon(3) })
    expect(status).to.equal(201)
    return body['id'] as string
  }

  it('are said once by gateways that share a key-value store, also when the one that speaks goes', async function () {
    const [database, store] = [await postgres(this), await redis(this)]
    const shared: GatewaySettings = {
      database: database.url,
      key_value: { url: store.url },
      environment: { SLUICE_SECRET: 'secret-of-both-0123456789abcdef' },
      ...settings(),
    }
    const first = await startAdmin(shared)
    const second = await startAdminBeside(first, shared)
    try {
      const id = await addKey(first, 'one')
      await until(() => ops.of('expires').length === 1)
      // Both have looked again when the next one is said.
      await addKey(first, 'two')
      await until(() => ops.of('expires').length === 2)
      expect(names(ops.of('expires'))).to.deep.equal(['one begin', 'two begin'])
      expect(ops.of('expires')[0]?.facts).not.to.have.property('process')
      await first.close()
      expect((await second('DELETE /api/api-keys/' + id)).status).to.equal(204)
      await until(() => ops.of('expires').length === 3)
      expect(names(ops.of('expires'))).to.deep.equal(['one begin', 'two begin', 'one end'])
      expect(ops.of('expires')[2]?.id).to.equal(ops.of('expires')[0]?.id)
    } finally {
      await closeBeside()
      await store.stop()
      await database.stop()
    }
  })

  let beside: AdminGateway['engine'] | undefined
  const closeBeside = async () => {
    await beside?.close(1_000)
    beside = undefined
  }
  /** Another gateway on the same stores, asked with the session of the first one. */
  const startAdminBeside = async ({ admin }: AdminGateway, shared: GatewaySettings) => {
    const { startGateway } = await import('../support/gateway.ts')
    const { askAt } = await import('../support/admin.ts')
    const running = await startGateway(shared)
    beside = running.engine
    return askAt(running.url, admin.token)
  }

  it('are not repeated after a restart, and said again after a while', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
    let gateway = await startAdmin({ folder, ...settings() })
    const { token } = gateway.admin
    try {
      await addKey(gateway, 'one')
      await until(() => ops.of('expires').length === 1)
      await gateway.close()
      gateway = await restarted({ folder, ...settings() }, token)
      await addKey(gateway, 'two')
      await until(() => ops.of('expires').length === 2)
      expect(names(ops.of('expires'))).to.deep.equal(['one begin', 'two begin'])
      await gateway.close()
      gateway = await restarted({ folder, ...settings({ repeat: '1s' }) }, token)
      await until(() => names(ops.of('expires')).includes('one still'))
      const still = ops.of('expires').find(({ state }) => state === 'still')
      expect([still?.id, still?.since]).to.deep.equal([ops.of('expires')[0]?.id, ops.of('expires')[0]?.since])
      const { body } = await gateway.asAdmin('GET /api/notifications')
      const sent = body['sent'] as JsonObject[]
      expect(sent.map(({ state }) => state)).to.include.members(['begin', 'still'])
      expect(sent.at(-1)?.['deliveries']).to.deep.equal([{ to: 'ops', state: 'delivered', attempts: 1, status: 204 }])
    } finally {
      await gateway.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  const restarted = async (given: GatewaySettings, token: string): Promise<AdminGateway> => {
    const { startGateway } = await import('../support/gateway.ts')
    const { askAt } = await import('../support/admin.ts')
    const running = await startGateway(given)
    return { ...running, asAdmin: askAt(running.url, token) } as AdminGateway
  }

  it('are not repeated, and end, after a restart on a host of another name, as a container is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
    const hostname = os.hostname
    const database = `sqlite:${join(folder, 'sluice.db')}`
    let gateway = await startAdmin({ folder, database, ...settings() })
    const { token } = gateway.admin
    try {
      const one = await addKey(gateway, 'one')
      await until(() => ops.of('expires').length === 1)
      await gateway.close()
      os.hostname = () => 'another-container'
      syncBuiltinESMExports()
      gateway = await restarted({ folder, database, ...settings() }, token)
      await addKey(gateway, 'two')
      await until(() => ops.of('expires').length === 2)
      expect((await gateway.asAdmin(`DELETE /api/api-keys/${one}`)).status).to.equal(204)
      await until(() => ops.of('expires').length === 3)
      expect(names(ops.of('expires'))).to.deep.equal(['one begin', 'two begin', 'one end'])
      expect(ops.of('expires')[2]?.id).to.equal(ops.of('expires')[0]?.id)
      expect(ops.of('expires').map(({ facts }) => facts['process'])).to.deep.equal([
        hostname(),
        'another-container',
        'another-container',
      ])
    } finally {
      os.hostname = hostname
      syncBuiltinESMExports()
      await gateway.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('tell of a key-value store that is away, and that it is back', async function () {
    const store = await redis(this)
    const gateway = await startAdmin({ key_value: { url: store.url }, ...settings() })
    try {
      process.kill(Number(store.pid), 'SIGSTOP')
      await until(() => ops.of('store_down').length >= 1)
      const [down] = ops.of('store_down')
      expect(down?.facts).to.include({ store: 'key_value' })
      // Nobody can be asked who speaks.
      expect(down?.facts).to.have.property('process')
      process.kill(Number(store.pid), 'SIGCONT')
      await until(() => ops.of('store_down').some(({ state }) => state === 'end'))
      expect(ops.of('store_down').map(({ state }) => state)).to.deep.equal(['begin', 'end'])
    } finally {
      process.kill(Number(store.pid), 'SIGCONT')
      await gateway.close()
      await store.stop()
    }
  })

  for (const kind of ['SQLite, whatever their host is called', 'PostgreSQL'] as const)
    it(`go on after restarts while the key-value store is away, and once it is back, with ${kind}`, async function () {
      const store = await redis(this)
      const folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
      const isOne = kind !== 'PostgreSQL'
      const service = isOne ? undefined : await postgres(this)
      const database = service?.url ?? `sqlite:${join(folder, 'sluice.db')}`
      const given = { folder, database, key_value: { url: store.url }, ...settings() }
      const hostname = os.hostname
      let gateway = await startAdmin(given)
      const { token } = gateway.admin
      const again = async (host: string) => {
        await gateway.close()
        os.hostname = isOne ? () => host : hostname
        syncBuiltinESMExports()
        gateway = await restarted(given, token)
      }
      const down = () => ops.of('store_down')
      try {
        const one = await addKey(gateway, 'one')
        await until(() => ops.of('expires').length === 1)
        process.kill(Number(store.pid), 'SIGSTOP')
        await until(() => down().length === 1)
        await again('another-container')
        await addKey(gateway, 'two')
        await until(() => names(ops.of('expires')).includes('two begin'))
        expect(down()).to.have.length(1)
        // Those on other hosts cannot be asked who has said it.
        if (isOne) expect(names(ops.of('expires'))).to.deep.equal(['one begin', 'two begin'])
        await gateway.close()
        process.kill(Number(store.pid), 'SIGCONT')
        await again('a-third-container')
        await until(() => down().length === 2)
        expect((await gateway.asAdmin(`DELETE /api/api-keys/${one}`)).status).to.equal(204)
        await until(() => names(ops.of('expires')).includes('one end'))
        expect(down().map(({ state }) => state)).to.deep.equal(['begin', 'end'])
        expect(down()[1]?.id).to.equal(down()[0]?.id)
      } finally {
        os.hostname = hostname
        syncBuiltinESMExports()
        process.kill(Number(store.pid), 'SIGCONT')
        await gateway.close()
        await store.stop()
        await service?.stop()
        await rm(folder, { recursive: true, force: true })
      }
    })

  it('end when the key-value store is back after a restart, also where several processes have said it', async function () {
    const store = await redis(this)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
    const file = {
      listen: { port: 0, workers: 2 },
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      key_value: { url: store.url },
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
      ...settings({ to: [{ name: 'ops', url: ops.url, secret, causes: ['store_down'] }] }),
    }
    await writeFile(join(folder, 'sluice.yaml'), stringify(file))
    const serve = async () => {
      const environment = { SLUICE_SECRET: 'secret-of-the-test-0123456789' }
      const serving = startServe(folder, environment, '--config', 'sluice.yaml', '--json', '--no-watch')
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      return serving
    }
    const ids = (...states: readonly string[]) => [
      ...new Set(
        ops
          .of('store_down')
          .filter(({ state }) => states.includes(state))
          .map(({ id }) => id),
      ),
    ]
    let serving = await serve()
    try {
      await until(() => telling(folder).length === 2)
      process.kill(Number(store.pid), 'SIGSTOP')
      await until(() => ids('begin').length === 2)
      const begun = ids('begin')
      serving.signal('SIGKILL')
      await serving.ended
      process.kill(Number(store.pid), 'SIGCONT')
      serving = await serve()
      await until(() => begun.every((id) => ids('end').includes(id)))
    } finally {
      process.kill(Number(store.pid), 'SIGCONT')
      await serving.remove()
      await store.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('tell of a database that is away', async function () {
    const database = await ownPostgres(this)
    const gateway = await startAdmin({ database: database.url, ...settings() })
    try {
      await database.stop()
      await until(() => ops.of('store_down').length === 1)
      expect(ops.of('store_down')[0]?.facts).to.include({ store: 'database' })
      const [post] = ops.received
      expect(post && isSigned(post)).to.equal(true)
      expect(JSON.stringify(ops.received.map(({ body }) => body))).not.to.include('postgres')
    } finally {
      await gateway.close().catch(() => undefined)
      await database.stop()
    }
  })

  it('tell that telemetry is not sent', async () => {
    const environment = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    const gateway = await startAdmin({ environment, ...settings() })
    try {
      await until(() => ops.of('telemetry_down').length === 1)
      expect(ops.of('telemetry_down')[0]?.facts).to.include({ service: 'telemetry' })
    } finally {
      await gateway.close()
    }
  })

  it('tell of no process that ends because all do, and of each other one by itself', async () => {
    // As the first process loads it.
    const module = new URL('../../plugins/notifications/ends.ts', import.meta.url).href
    const { default: deaths, left } = (await import(module)) as {
      readonly default: (question: null, from: number) => unknown
      readonly left: (from: number, isStopping: boolean) => void
    }
    const before = (deaths(null, 0) as number[]).length
    left(1, true)
    expect(deaths(null, 0)).to.have.length(before)
    left(1, false)
    left(2, false)
    const all = deaths(null, 0) as number[]
    expect(new Set(all).size).to.equal(before + 2)
  })

  it('tell of each serving process that died, once for all processes, and of none that is stopped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-notifications-'))
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0, workers: 2 },
        database: { url: `sqlite:${join(folder, 'sluice.db')}` },
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
        ...settings(),
      }),
    )
    const environment = { SLUICE_SECRET: 'secret-of-the-test-0123456789' }
    const serving = startServe(folder, environment, '--config', 'sluice.yaml', '--json', '--no-watch')
    // A process that is killed before it has noted a delivery leaves the message to the next one: it has the same id.
    const deaths = () => {
      const posts = ops.received.filter(({ body }) => body.cause === 'worker_died')
      return [...new Map(posts.map(({ headers, body }) => [headers['webhook-id'], body])).values()]
    }
    const workers = async () => {
      const { pid } = serving
      return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
    }
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      // Whoever has told what it sees is known to the process that starts the others.
      await until(() => telling(folder).length === 2)
      const before = telling(folder)
      const [killed = 0] = await workers()
      process.kill(killed, 'SIGKILL')
      await until(() => deaths().length === 1)
      expect(deaths()[0]).to.include({ state: 'begin' })
      expect(deaths()[0]?.facts).to.include({ ended: 1 })
      await until(async () => {
        const now = await workers()
        return now.length === 2 && !now.includes(killed)
      })
      await until(() => telling(folder).some((id) => !before.includes(id)))
      const [next = 0] = await workers()
      process.kill(next, 'SIGKILL')
      await until(async () => !(await workers()).includes(next) && (await workers()).length === 2)
      await until(() => deaths().length === 2)
      const told = deaths().map(({ state, facts }) => [state, facts['ended']])
      expect(told).to.deep.equal([
        ['begin', 1],
        ['begin', 2],
      ])
      serving.signal('SIGTERM')
      expect(await serving.ended).to.equal(0)
      expect(deaths()).to.have.length(2)
    } finally {
      await serving.remove()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
