import { expect } from 'chai'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { addRows, onEachDatabase, rowWith, startLogs } from './rig.ts'
import type { LogsGateway } from './rig.ts'

const day = 86_400_000
const kept = { logging: { retention: '30d', capture_retention: '2d' } }

describe('POST /api/logs/cleanup', () => {
  onEachDatabase((settings) => {
    let gateway: LogsGateway
    beforeEach(async () => {
      gateway = await startLogs({
        ...(await settings()),
        server_config: kept,
      })
      const now = Date.now()
      const ages = { new: 0, young: day, old: 3 * day, older: 40 * day, 'older-judge': 50 * day }
      const of = (id: string) => (id.endsWith('judge') ? 'judge' : 'chat')
      await addRows(
        gateway,
        Object.entries(ages).map(([id, age]) => rowWith(id, { at: now - age, type: of(id) })),
      )
      const captures = Object.entries(ages).map(([id, age]) => ({ id, at: now - age, type: of(id), sealed: '' }))
      await tablesOf(gateway.engine.database).insertInto('requests_captures').values(captures).execute()
    })
    afterEach(() => gateway.close())

    const idsIn = async (table: 'requests' | 'requests_captures') =>
      (await tablesOf(gateway.engine.database).selectFrom(table).select('id').orderBy('at', 'desc').execute()).map(
        ({ id }) => id,
      )
    const ago = (age: number) => new Date(Date.now() - age).toISOString()
    const clean = async (body: object) => {
      const { status, body: answer } = await gateway.asAdmin('POST /api/logs/cleanup', body)
      return { status, ...answer }
    }

    it('deletes rows with their bodies, and says how many', async () => {
      expect(await clean({ before: ago(2 * day) })).to.deep.equal({ status: 200, rows: 3, captures: 3 })
      expect(await idsIn('requests')).to.deep.equal(['new', 'young'])
      expect(await idsIn('requests_captures')).to.deep.equal(['new', 'young'])
      const { body } = await gateway.asAdmin('GET /api/logs/audit?action=logs.cleanup')
      const [audited] = body['data'] as { readonly actor: object; readonly details: object }[]
      expect(audited?.actor).to.deep.include({ type: 'member', name: 'admin' })
      expect(audited?.details).to.include({ captures_only: false, rows: 3, captures: 3 })
    })

    it('only counts, if so asked', async () => {
      expect(await clean({ before: ago(2 * day), dry_run: true })).to.deep.equal({ status: 200, rows: 3, captures: 3 })
      expect(await idsIn('requests')).to.have.length(5)
      expect(await idsIn('requests_captures')).to.have.length(5)
      const { body } = await gateway.asAdmin('GET /api/logs/audit?action=logs.cleanup')
      expect(body['data']).to.deep.equal([])
    })

    it('deletes only some types, or only bodies', async () => {
      expect(await clean({ before: ago(0 - -60_000), types: ['judge'] })).to.deep.equal({
        status: 200,
        rows: 1,
        captures: 1,
      })
      expect(await idsIn('requests')).to.deep.equal(['new', 'young', 'old', 'older'])
      const types = ['stored-responses']
      expect(await clean({ before: ago(2 * day), types })).to.deep.equal({ status: 200, rows: 0, captures: 0 })
      expect(await clean({ before: ago(2 * day), captures_only: true })).to.deep.equal({
        status: 200,
        rows: 0,
        captures: 2,
      })
      expect(await idsIn('requests')).to.deep.equal(['new', 'young', 'old', 'older'])
      expect(await idsIn('requests_captures')).to.deep.equal(['new', 'young'])
    })

    it('deletes any number of rows in small parts', async () => {
      const rows = Array.from({ length: 450 }, (_, index) => rowWith(`many-${index}`, { at: Date.now() - 5 * day }))
      await addRows(gateway, rows.slice(0, 225))
      await addRows(gateway, rows.slice(225))
      expect(await clean({ before: ago(2 * day) })).to.deep.equal({ status: 200, rows: 453, captures: 3 })
      expect(await idsIn('requests')).to.deep.equal(['new', 'young'])
    })

    it('refuses the last minute, and what is no time', async () => {
      for (const before of [ago(30_000), ago(-day), 'yesterday', '2026-02-30T00:00:00Z']) {
        const refused = await gateway.asAdmin('POST /api/logs/cleanup', { before })
        expect(refused, before).to.include({ status: 422, code: 'invalid_field', param: 'before' })
      }
      expect(await gateway.asAdmin('POST /api/logs/cleanup', {})).to.include({ status: 422, code: 'missing_field' })
      expect(await gateway.asAdmin('POST /api/logs/cleanup', { before: ago(day), all: true })).to.include({
        status: 422,
        code: 'unknown_field',
        param: 'all',
      })
      expect(await idsIn('requests')).to.have.length(5)
    })

    it('is for admins', async () => {
      const body = { before: ago(day) }
      expect(await gateway.asViewer('POST /api/logs/cleanup', body)).to.include({ status: 403, code: 'forbidden' })
      expect(await gateway.asNobody('POST /api/logs/cleanup', body)).to.include({ status: 401 })
      expect(await idsIn('requests')).to.have.length(5)
    })

    it('happens by itself after the times of the settings, from the first request on, in one process', async () => {
      const known = async () => (await idsIn('requests')).filter((id) => /^(new|young|old)/.test(id))
      const other = await startGateway({ database: gateway.engine.database.url, server_config: kept })
      try {
        expect(await known()).to.include('older')
        await other.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hello' }] })
        await until(async () => (await known()).join() === 'new,young,old')
        expect(await idsIn('requests_captures')).to.deep.equal(['new', 'young'])
        // Both processes leave it alone for the rest of the hour.
        await addRows(gateway, [rowWith('oldest', { at: Date.now() - 100 * day })])
        for (const { engine } of [gateway, other]) await viewOf(engine, 'requests').expire()
        expect(await known()).to.deep.equal(['new', 'young', 'old', 'oldest'])
      } finally {
        await other.close()
      }
    })
  })

  it('never happens by itself where everything is kept for ever', async () => {
    const gateway = await startLogs({ server_config: { logging: { retention: '0s', capture_retention: '0s' } } })
    try {
      await addRows(gateway, [rowWith('ancient', { at: 1 })])
      await viewOf(gateway.engine, 'requests').expire()
      expect(await gateway.ids('')).to.deep.equal(['ancient'])
    } finally {
      await gateway.close()
    }
  })

  it('headers with credentials are no setting', async () => {
    const refused = async (headers: readonly string[]) => {
      const error = await startLogs({ server_config: { logging: { headers } } }).then(
        async (gateway) => gateway.close(),
        (thrown: Error) => thrown.message,
      )
      return error
    }
    for (const name of ['Authorization', 'x-api-key', 'Cookie', 'X-Auth-Token', 'sec-websocket-protocol'])
      expect(await refused([name]), name).to.include(`the header "${name}" has credentials`)
    expect(await refused(Array.from({ length: 17 }, (_, index) => `x-${index}`))).to.include('at most 16')
    expect(await refused(['not a header'])).to.include('must be the name of a header')
    expect(await refused(['user-agent', 'X-Team'])).to.equal(undefined)
  })
})
