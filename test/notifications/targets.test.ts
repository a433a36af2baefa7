import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'chai'
import { pino } from 'pino'
import type { Notice } from '../../plugins/notifications/cause.ts'
import type { Target } from '../../plugins/notifications/settings.ts'
import { Speaker } from '../../plugins/notifications/speaker.ts'
import type { DeliveriesTable, TargetsTable } from '../../plugins/notifications/table.ts'
import { Targets } from '../../plugins/notifications/targets.ts'
import { askAt, startAdmin } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { receiver, secret } from './receiver.ts'
import type { Receiver } from './receiver.ts'

type Delivered = Pick<DeliveriesTable, 'message' | 'target' | 'state'>

const noticeOf = (at: number): Notice => ({
  message: `msg_${at}`,
  id: `${at}`,
  cause: 'expires',
  key: `expires ${at}`,
  subject: 'A key ends',
  facts: {},
  path: '/keys',
  state: 'begin',
  at,
  since: at,
})

/** When a target is first tried, and after how long it is told that it fails, in milliseconds. */
const [begin, hour] = [1_000_000, 3_600_000]
const common: Omit<Target, 'name' | 'url'> = { secret, form: 'standard', causes: ['all'] }
const host = { log: pino({ level: 'silent' }), version: '1.0.0' }

describe('targets of notifications', () => {
  it('that do not answer lose their own oldest notices, and silence no other target', async () => {
    const ops = await receiver()
    const open = new Set<Socket>()
    const silent = createServer((socket) => void open.add(socket.on('error', () => undefined)))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const noted: Delivered[] = []
    const kept = {
      delivered: (what: Delivered) => Promise.resolve(void noted.push(what)),
      tried: () => Promise.resolve(),
    }
    const targets = new Targets(host, kept)
    try {
      targets.follow(
        [
          { name: 'silent', url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, ...common },
          { name: 'ops', url: ops.url, ...common },
        ],
        'http://gateway',
        'private',
      )
      // The first is said again behind the post that is under way.
      const again = { ...noticeOf(1), message: 'msg_again', state: 'end' as const }
      targets.queue(noticeOf(1), 'silent')
      targets.queue(again, 'silent')
      for (let at = 2; at < 1_000; at++) targets.queue(noticeOf(at), 'silent')
      targets.queue(noticeOf(1), 'ops')
      await until(() => ops.received.length === 1)
      expect(noted.filter(({ target }) => target === 'silent')).to.deep.equal([])
      targets.queue(noticeOf(1_000), 'silent')
      targets.queue(noticeOf(1_001), 'silent')
      for (const socket of open) socket.destroy()
      silent.close()
      const givenUp = () => noted.filter(({ state }) => state === 'given_up').map(({ message }) => message)
      await until(() => givenUp().length === 2)
      expect(givenUp()).to.deep.equal(['msg_1', 'msg_again'])
      expect(noted.filter(({ target }) => target === 'ops').map(({ state }) => state)).to.deep.equal(['delivered'])
    } finally {
      await targets.close()
      for (const socket of open) socket.destroy()
      silent.close()
      await ops.close()
    }
  })

  it('that take nothing are given up after five more tries within about ten minutes, and told after an hour', async () => {
    const ops = await receiver()
    const noted: DeliveriesTable[] = []
    const kept = {
      delivered: (what: Omit<DeliveriesTable, 'at'>) => Promise.resolve(void noted.push({ ...what, at: 0 })),
      tried: () => Promise.resolve(),
    }
    let now = begin
    const pauses: number[] = []
    const clock = {
      now: () => now,
      pause(milliseconds: number) {
        pauses.push(milliseconds)
        now += milliseconds
        return Promise.resolve()
      },
    }
    const targets = new Targets(host, kept, clock)
    try {
      targets.follow([{ name: 'ops', url: ops.url, ...common }], 'http://gateway', 'private')
      ops.answer(...Array.from({ length: 6 }, () => 500))
      targets.queue(noticeOf(1), 'ops')
      // What follows of the same cause waits until it is known what became of this one.
      targets.queue({ ...noticeOf(1), message: 'msg_end', state: 'end' }, 'ops')
      await until(() => noted.some(({ message, state }) => message === 'msg_end' && state === 'delivered'))
      const first = noted.filter(({ message }) => message === 'msg_1')
      expect(first.map(({ state, attempts, status }) => [state, attempts, status])).to.deep.equal([
        ...[1, 2, 3, 4, 5].map((attempts) => ['waiting', attempts, 500]),
        ['given_up', 6, 500],
      ])
      expect(new Set(ops.received.slice(0, 6).map(({ headers }) => headers['webhook-id'])).size).to.equal(1)
      expect(ops.received).to.have.length(7)
      expect(pauses).to.have.length(5)
      const minutes = pauses.reduce((sum, one) => sum + one, 0) / 60_000
      expect(minutes).to.be.within(10 * 0.92, 10 * 1.08)
      // It has failed since the first try, until one is taken.
      ops.answer(500, 204)
      now = begin
      targets.queue(noticeOf(2), 'ops')
      await until(() => pauses.length === 6)
      expect(targets.failing).to.equal(undefined)
      await until(() => noted.some(({ message, state }) => message === 'msg_2' && state === 'delivered'))
      targets.restore([{ name: 'gone', address: null, failing_since: begin, tried_at: begin, problem: null }])
      now = begin + hour
      expect(targets.failing).to.equal(undefined)
      targets.forget()
      targets.restore([{ name: 'ops', address: null, failing_since: begin + 1, tried_at: begin + 1, problem: 'no' }])
      expect(targets.failing).to.equal(undefined)
      now = begin + hour + 1
      expect(targets.failing).to.equal('ops')
      ops.answer(204)
      targets.queue(noticeOf(3), 'ops')
      await until(() => targets.failing === undefined)
    } finally {
      await targets.close()
      await ops.close()
    }
  })

  describe('that failed', () => {
    let now = begin
    let ops: Receiver
    let targets: Targets
    let tried: TargetsTable[]
    beforeEach(async () => {
      now = begin
      tried = []
      ops = await receiver()
      const kept = {
        delivered: () => Promise.resolve(),
        tried: (one: TargetsTable) => Promise.resolve(void tried.push(one)),
      }
      const clock = { now: () => now, pause: () => Promise.resolve() }
      targets = new Targets(host, kept, clock)
    })
    afterEach(async () => {
      await targets.close()
      await ops.close()
    })
    const target = () => ({ name: 'ops', url: ops.url, ...common })
    const failForAnHour = async () => {
      targets.follow([target()], 'http://gateway', 'private')
      ops.answer(500)
      await targets.once(noticeOf(1), target())
      now = begin + hour
      expect(targets.failing).to.equal('ops')
    }
    /** A process that shares its stores with another one. */
    const speakerThat = ({
      leads,
      known = [],
    }: {
      readonly leads: boolean
      readonly known?: readonly TargetsTable[]
    }) => {
      const other = { value: Buffer.from('another'), version: 'one' }
      const stores = {
        keyValue: { shared: true, set: () => Promise.resolve(leads), get: () => Promise.resolve(other) },
        rows: () => Promise.resolve([]),
      }
      const kept = {
        open: () => Promise.resolve([]),
        waiting: () => Promise.resolve([]),
        gone: () => Promise.resolve(),
        targets: () => Promise.resolve(known),
      }
      const parts = { kept, sources: { read: () => Promise.resolve([]) }, targets, name: 'here' }
      return new Speaker({ ...host, ...stores } as never, parts as never)
    }

    it('at a test degrade no process that tells nothing, and end what another one sees', async () => {
      targets.follow([target()], 'http://gateway', 'private')
      await speakerThat({ leads: false }).look()
      ops.answer(500)
      expect(await targets.once(noticeOf(1), target())).to.include({ delivered: false })
      expect(tried.map(({ failing_since: since }) => since)).to.deep.equal([begin])
      now = begin + hour
      expect(targets.failing).to.equal(undefined)
      const [row] = tried
      if (row === undefined) throw new Error('it was not kept')
      // It takes over, and hears that the target is back.
      expect(targets.restore([row])).to.deep.equal([])
      expect(targets.failing).to.equal('ops')
      targets.heard([{ ...row, failing_since: null, tried_at: begin - 1 }])
      expect(targets.failing).to.equal('ops')
      targets.heard([{ ...row, failing_since: null, problem: null, tried_at: now }])
      expect(targets.failing).to.equal(undefined)
    })

    it('are back for the process that speaks once another one has reached them', async () => {
      await failForAnHour()
      const known = tried.map((row) => ({ ...row, failing_since: null, problem: null, tried_at: now }))
      await speakerThat({ leads: true, known }).look()
      expect(targets.failing).to.equal(undefined)
    })

    it('degrade a process that tells them again: for all, or for itself while nobody can', async () => {
      targets.follow([target()], 'http://gateway', 'private')
      const failing = async (tell: () => void | Promise<unknown>) => {
        targets.forget()
        tried.length = 0
        ops.answer(...Array.from({ length: 6 }, () => 500))
        now = begin
        await tell()
        await until(() => tried.length > 0)
        now = begin + hour
        return targets.failing
      }
      const test = () => targets.once(noticeOf(1), target())
      expect(await failing(test)).to.equal(undefined)
      expect(await failing(() => targets.queue(noticeOf(2), 'ops'))).to.equal('ops')
      await until(() => tried.length === 6)
      const takeOver = () => {
        targets.restore([])
        return test()
      }
      expect(await failing(takeOver)).to.equal('ops')
    })

    it('while they got another address leave no trace', async () => {
      targets.follow([target()], 'http://gateway', 'private')
      ops.answer(500)
      const testing = targets.once(noticeOf(1), target())
      targets.follow([{ ...target(), url: `${ops.url}/corrected` }], 'http://gateway', 'private')
      expect(await testing).to.include({ delivered: false })
      expect(tried).to.deep.equal([])
      now = begin + hour
      expect(targets.failing).to.equal(undefined)
    })

    it('are forgotten with their address, which is not kept in clear', async () => {
      await failForAnHour()
      const [row] = tried
      if (row === undefined) throw new Error('it was not kept')
      expect(JSON.stringify(row)).to.not.include('127.0.0.1')
      expect(targets.follow([{ ...target(), causes: ['circuit'] }], 'http://gateway', 'private')).to.deep.equal([])
      expect(targets.failing).to.equal('ops')
      const corrected = { ...target(), url: `${ops.url}/corrected` }
      expect(targets.follow([corrected], 'http://gateway', 'private')).to.deep.equal([
        { name: 'ops', address: row.address },
      ])
      expect(targets.failing).to.equal(undefined)
      // So it is by whoever takes over, also where the target is gone.
      expect(targets.restore([row])).to.deep.equal([row])
      expect(targets.failing).to.equal(undefined)
      targets.follow([], 'http://gateway', 'private')
      expect(targets.restore([row])).to.deep.equal([row])
    })
  })

  describe('that failed when the gateway began', () => {
    let folder: string
    let ops: Receiver
    let gateway: RunningGateway | undefined
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-targets-'))
      ops = await receiver()
    })
    afterEach(async () => {
      await gateway?.close()
      gateway = undefined
      await ops.close()
      await rm(folder, { recursive: true, force: true })
    })
    const given = (url: string) => ({
      folder,
      database: `sqlite:${join(folder, 'sluice.db')}`,
      server_config: { notifications: { hold: '0s', to: [{ name: 'ops', url, secret }] } },
    })
    /** Starts the gateway again, on what the rows of the database say by then. */
    const restart = async (token: string) => {
      gateway = await startGateway(given(ops.url))
      return askAt(gateway.url, token)
    }

    it('are not taken for failing for what is kept of another address, and nothing is kept of those that are gone', async () => {
      const first = await startAdmin(given(`${ops.url}/wrong`))
      ops.answer(404)
      expect((await first.asAdmin('POST /api/notifications/test', { to: 'ops' })).body).to.include({ delivered: false })
      await first.close()
      const file = new Database(join(folder, 'sluice.db'))
      try {
        const since = Date.now() - hour
        file.prepare('update notifications_targets set failing_since = ?').run(since)
        const row = file.prepare('insert into notifications_targets (name, failing_since, tried_at) values (?, ?, ?)')
        row.run('gone', since, since)
        const kept = () => file.prepare('select name from notifications_targets').all()
        expect(kept()).to.have.length(2)
        const asAdmin = await restart(first.admin.token)
        await until(() => kept().length === 0)
        expect((await asAdmin('GET /api/health')).body['degraded']).to.not.include('notifications')
        const { body } = await asAdmin('GET /api/notifications')
        expect((body['targets'] as object[])[0]).to.include({ name: 'ops', failing_since: null, problem: null })
      } finally {
        file.close()
      }
    })

    it('for an hour make health degraded, and are in the strip, also after a restart', async () => {
      const first = await startAdmin(given(ops.url))
      await first.close()
      const file = new Database(join(folder, 'sluice.db'))
      const since = Date.now() - hour
      const row = file.prepare(
        'insert into notifications_targets (name, failing_since, tried_at, problem) values (?, ?, ?, ?)',
      )
      row.run('ops', since, since, 'it answered with status 500')
      file.close()
      const asAdmin = await restart(first.admin.token)
      const degraded = async () => (await asAdmin('GET /api/health')).body['degraded'] as string[]
      await until(async () => (await degraded()).includes('notifications'))
      // The strip of the console reads these.
      const { body } = await asAdmin('GET /api/notifications')
      expect((body['targets'] as object[])[0]).to.include({
        name: 'ops',
        failing_since: new Date(since).toISOString(),
        problem: 'it answered with status 500',
      })
      expect((await asAdmin('POST /api/notifications/test', { to: 'ops' })).body).to.include({ delivered: true })
      await until(async () => !(await degraded()).includes('notifications'))
    })
  })
})
