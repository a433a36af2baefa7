import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import fileSystem from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'chai'
import { pino } from 'pino'
import type { Cause } from '../../plugins/notifications/cause.ts'
import { Causes } from '../../plugins/notifications/causes.ts'
import { fullDisk } from '../../plugins/notifications/own-causes.ts'
import { Sources } from '../../plugins/notifications/sources.ts'
import { endingCertificates } from '../../plugins/telemetry/ending-certificates.ts'
import { SpentBudgets } from '../../plugins/limits/spent-budgets.ts'
import type { Looking } from '../../plugins/limits/spent-budgets.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../service/streams.ts'
import { receiver, secret } from './receiver.ts'
import type { Receiver } from './receiver.ts'

describe('causes of notifications', function () {
  this.timeout(120_000)
  let folder: string
  let upstream: ScriptedUpstream
  let ops: Receiver
  let gateway: AdminGateway
  const start = async () => {
    gateway = await startAdmin({
      folder,
      database: `sqlite:${join(folder, 'sluice.db')}`,
      server_config: { notifications: { hold: '0s', to: [{ name: 'ops', url: ops.url, secret }] } },
      providers: [
        { name: 'far', type: 'compatible', base_url: upstream.url, api_keys: ['sk-one-key', 'sk-other-key'] },
      ],
      models: [{ name: 'm', provider: 'far', pricing: { input: 1, output: 1 } }],
    })
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-causes-'))
    upstream = await scriptedUpstream()
    ops = await receiver()
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
    await ops.close()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = () =>
    gateway
      .post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
      .then((answer) => answer.text().then(() => answer.status))
  const begun = (cause: string) => ops.of(cause).filter(({ state }) => state === 'begin')

  it('say that all keys of a provider rest, and not that one does', async () => {
    await start()
    const limited = { status: 429, headers: { 'retry-after': '600' }, body: { error: { message: 'slow down' } } }
    upstream.answer(limited, { body: chatAnswer }, limited)
    expect(await ask()).to.equal(200)
    const { body } = await gateway.asAdmin('GET /api/notifications')
    expect(body['open']).to.deep.equal([])
    await ask()
    await until(() => begun('provider_keys').length === 1)
    const [notice] = begun('provider_keys')
    expect(notice?.facts).to.deep.include({ provider: 'far', keys: 2 })
    expect(Date.parse(String(notice?.facts['until']))).to.be.above(Date.now())
    expect(JSON.stringify(ops.received.map(({ text }) => text))).not.to.match(/sk-one|sk-other|slow down/)
  })

  it('say that rows of the log are lost', async () => {
    await start()
    const database = new Database(join(folder, 'sluice.db'))
    database.exec("create trigger refuse before insert on requests begin select raise(abort, 'no'); end")
    database.close()
    upstream.answer({ body: chatAnswer })
    expect(await ask()).to.equal(200)
    await until(() => begun('rows_lost').length === 1)
    expect(begun('rows_lost')[0]?.facts).to.deep.equal({ host: hostname(), rows: 1, process: hostname() })
  })

  it('say that charges wait for the database, and that they are written', async () => {
    await start()
    const database = new Database(join(folder, 'sluice.db'))
    try {
      database.exec('begin exclusive')
      upstream.answer({ body: chatAnswer })
      expect(await ask()).to.equal(200)
      await until(() => begun('charges_waiting').length === 1)
      expect(begun('charges_waiting')[0]?.facts).to.deep.include({ host: hostname() })
    } finally {
      database.close()
    }
    await until(() => ops.of('charges_waiting').some(({ state }) => state === 'end'))
  })

  it('say that the disk is almost full', async () => {
    const { statfs } = fileSystem
    fileSystem.statfs = (() => Promise.resolve({ blocks: 1_000, bavail: 49, bsize: 4_096 })) as never
    syncBuiltinESMExports()
    try {
      await start()
      await until(() => begun('disk_low').length === 1)
    } finally {
      fileSystem.statfs = statfs
      syncBuiltinESMExports()
    }
    const facts = { host: hostname(), free_bytes: 200_704, free_share: 0.049 }
    expect(begun('disk_low')[0]?.facts).to.deep.include(facts)
    expect(fullDisk({ blocks: 1_000, bavail: 50, bsize: 4_096 })).to.deep.equal([])
    expect(fullDisk({ blocks: 0, bavail: 0, bsize: 4_096 })).to.deep.equal([])
  })
})

describe('causes of budgets', () => {
  it('are those that were spent before a restart, and those that refuse because they are lower now', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-causes-'))
    const [upstream, ops] = [await scriptedUpstream(), await receiver()]
    const settings = (usd: number, to: readonly object[]) => ({
      folder,
      database: `sqlite:${join(folder, 'sluice.db')}`,
      server_config: { notifications: { hold: '0s', budget_at: [1], to } },
      providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'm', provider: 'far', pricing: { input: 100_000, output: 100_000 } }],
      key_fields: { budget: { usd, period: 'total' } },
    })
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] }
    const statusOf = async (gateway: Pick<AdminGateway, 'post'>) =>
      (await gateway.post('/v1/chat/completions', body)).status
    try {
      upstream.answer({ body: chatAnswer })
      // 13 tokens at $ 0.1 each.
      const first = await startGateway(settings(1, []))
      expect([await statusOf(first), await statusOf(first)]).to.deep.equal([200, 429])
      await first.close()
      const second = await startGateway(settings(1, [{ name: 'ops', url: ops.url, secret }]))
      await until(() => ops.of('budget').length === 1)
      expect(ops.of('budget')[0]?.facts).to.include({ share: 1, spent: 1.3, limit: 1 })
      await second.close()
      await rm(folder, { recursive: true })
      await mkdir(folder)
      const third = await startAdmin(settings(5, [{ name: 'ops', url: ops.url, secret }]))
      const { body: made } = await third.asAdmin('POST /api/api-keys', {
        name: 'other',
        budget: { usd: 5, period: 'month' },
      })
      const headers = { authorization: `Bearer ${made['key'] as string}` }
      expect((await third.post('/v1/chat/completions', body, headers)).status).to.equal(200)
      // Nobody looks at what is far from its end.
      await third.engine.flush()
      await third.asAdmin('GET /api/notifications')
      const lower = { budget: { usd: 0.5, period: 'month' } }
      expect((await third.asAdmin(`PATCH /api/api-keys/${made['id'] as string}`, lower)).status).to.equal(200)
      expect((await third.post('/v1/chat/completions', body, headers)).status).to.equal(429)
      await until(() => ops.of('budget').length === 2)
      expect(ops.of('budget')[1]?.facts).to.include({ share: 1, spent: 1.3, limit: 0.5 })
      await third.close()
    } finally {
      await upstream.close()
      await ops.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('are there when sums could not be read for a while, for everybody who looks, and for every name', async () => {
    let isAway = true
    const rule = { kind: 'server', bucket: 'server', title: 'The gateway', budget: { usd: 1, period: 'month' } }
    const looking = {
      counting: { read: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([{ spent: 2_000_000 }])) },
      rules: { of: () => ({ budgets: [rule] }) },
      holders: {},
      shares: [0.8, 1],
    } as unknown as Looking
    const budgets = new SpentBudgets(() => Promise.resolve([]))
    budgets.charged([rule])
    expect(await budgets.read([], looking).catch((error: Error) => error.message)).to.equal('away')
    isAway = false
    const lengths = async (...looks: readonly ReturnType<SpentBudgets['read']>[]) =>
      (await Promise.all(looks)).map(({ length }) => length)
    expect(await lengths(budgets.read([], looking))).to.deep.equal([2])
    expect(await lengths(budgets.read([], looking), budgets.read([], looking))).to.deep.equal([2, 2])
    // What was said before a restart goes on, whatever its holder is called.
    const named = { ...rule, kind: 'key', bucket: 'key:file:of the team' }
    const said = [{ cause: 'budget', key: 'budget key:file:of the team 0.8' }] as never
    const own = { ...looking, rules: { of: () => ({ budgets: [named] }) } } as unknown as Looking
    const [first] = await new SpentBudgets(() => Promise.resolve([])).read(said, own)
    expect(first?.key).to.equal('budget key:file:of the team 0.8')
  })
})

describe('certificates with which telemetry is sent', () => {
  const file = (name: string) => join(import.meta.dirname, 'certificates', name)
  const [ended, far] = [file('ended-2020.pem'), file('ends-2119.pem')]
  const end = Date.UTC(2020, 0, 1)
  const days = 86_400_000
  const told = async (path: string, now: number, isTrusted = false) => {
    const files = [{ variable: 'THE_VARIABLE', path, signal: 'traces' as const, isTrusted }]
    return (await endingCertificates(files, now)).map(({ subject }) => subject.replace(hostname(), 'host'))
  }

  it('are told 14 days before their end, and after it', async () => {
    expect(await told(ended, end - 14 * days - 1)).to.deep.equal([])
    const words = (verb: string) => `The certificate of THE_VARIABLE on host ${verb} at 2020-01-01T00:00:00.000Z`
    expect(await told(ended, end - 14 * days)).to.deep.equal([words('ends')])
    expect(await told(ended, end)).to.deep.equal([words('ended')])
    expect(await told(far, end)).to.deep.equal([])
  })

  it('count with the first end of a chain, and with the last one of those that are trusted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-certificates-'))
    try {
      const both = join(folder, 'both.pem')
      await writeFile(both, `${await readFile(far, 'utf8')}${await readFile(ended, 'utf8')}`)
      expect(await told(both, end)).to.have.length(1)
      expect(await told(both, end, true)).to.deep.equal([])
      await writeFile(both, 'no certificate')
      expect(await told(both, end)).to.deep.equal([])
      expect(await told(join(folder, 'none.pem'), end)).to.deep.equal([])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  const environment = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_CERTIFICATE: ended,
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: far,
  }
  const openAt = async ({ asAdmin }: AdminGateway) => {
    const { body } = await asAdmin('GET /api/notifications')
    return (body['open'] as { cause: string; facts: { name?: string } }[]).filter(({ cause }) => cause === 'expires')
  }

  it('are said to people, each once for both signals', async () => {
    const ops = await receiver()
    const gateway = await startAdmin({
      environment,
      server_config: {
        notifications: { hold: '0s', to: [{ name: 'ops', url: ops.url, secret, causes: ['expires'] }] },
      },
    })
    try {
      await until(() => ops.received.length === 1)
      expect(ops.received[0]?.body.facts).to.deep.include({
        kind: 'certificate',
        name: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
        host: hostname(),
        expires_at: '2020-01-01T00:00:00.000Z',
      })
      expect(await openAt(gateway)).to.have.length(1)
    } finally {
      await gateway.close()
      await ops.close()
    }
  })

  it('are those of signals that are sent', async () => {
    const both = { ...environment, OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: ended }
    for (const [exporters, variables] of [
      [{}, ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE']],
      [{ OTEL_METRICS_EXPORTER: 'prometheus' }, ['OTEL_EXPORTER_OTLP_CERTIFICATE']],
      [{ OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'prometheus' }, []],
    ] as const) {
      const gateway = await startAdmin({ environment: { ...both, ...exporters } })
      try {
        expect((await openAt(gateway)).map(({ facts }) => facts.name)).to.have.members([...variables])
      } finally {
        await gateway.close()
      }
    }
  })
})

describe('a cause that another room sees', () => {
  it('has no secret that somebody gave as a name, wherever in its facts', async () => {
    const scrub = (text: string) => text.replaceAll('canary', '[redacted]')
    const sources = new Sources({ log: pino({ level: 'silent' }), scrub })
    const facts = { name: 'canary', rows: 3, places: ['a canary', { at: 'canary' }] }
    sources.watch('acme', { read: () => [{ cause: 'circuit', key: 'k', subject: 'canary', facts, path: '/' }] })
    const [seen] = await sources.read([])
    expect(seen).to.deep.include({
      subject: '[redacted]',
      facts: { name: '[redacted]', rows: 3, places: ['a [redacted]', { at: '[redacted]' }] },
    })
  })
})

describe('a cause', () => {
  const cause: Cause = { cause: 'circuit', key: 'circuit far', subject: 'far', facts: {}, path: '/providers/far' }
  const saying = { hold: 30_000, repeat: 3_600_000 }
  const said = (causes: Causes, at: number, open: readonly Cause[] = [cause]) =>
    causes.step(open, at, saying).map(({ state, since }) => [state, since])

  it('that is shorter than the settings say is not said, and neither is its end', () => {
    const causes = new Causes()
    expect(said(causes, 0)).to.deep.equal([])
    expect(said(causes, 29_999)).to.deep.equal([])
    expect(said(causes, 30_000, [])).to.deep.equal([])
    // The next one begins anew.
    expect(said(causes, 31_000)).to.deep.equal([])
    expect(said(causes, 60_999)).to.deep.equal([])
    expect(said(causes, 61_000)).to.deep.equal([['begin', 31_000]])
  })

  it('that lasts is said again after a while, and its end at once', () => {
    const causes = new Causes()
    said(causes, 0)
    expect(said(causes, 30_000)).to.deep.equal([['begin', 0]])
    expect(said(causes, 3_629_999)).to.deep.equal([])
    expect(said(causes, 3_630_000)).to.deep.equal([['still', 0]])
    expect(said(causes, 3_630_001, [])).to.deep.equal([['end', 0]])
    expect(said(causes, 3_630_002, [])).to.deep.equal([])
  })
})
