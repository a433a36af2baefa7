import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { pino } from 'pino'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import requests from '../../../plugins/request-log/requests.ts'
import type { LogRow } from '../../../plugins/request-log/row.ts'
import { startGateway } from '../../support/gateway.ts'
import { makeOldDatabase, releasedMigrations } from '../../support/old-database.ts'
import { openRequestLog } from '../../support/request-log.ts'
import { postgres } from '../../support/services.ts'
import { until } from '../../support/until.ts'

const row: LogRow = {
  id: 'new',
  at: 2_000,
  type: 'chat',
  keyId: null,
  keyName: null,
  memberId: null,
  memberName: null,
  requested: 'small',
  model: null,
  provider: null,
  protocol: 'chat',
  upstreamProtocol: null,
  stream: false,
  status: 200,
  result: 'completed',
  error: null,
  attempts: 1,
  inputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  costMicros: null,
  savingsMicros: null,
  firstByte: null,
  duration: 5,
  reference: null,
  parent: 'old',
  tier: null,
  tags: undefined,
  traceId: null,
  ended: 2_006,
  pipeline: 'chat-completions',
  failedProviders: undefined,
  guarded: null,
  laps: [],
  metadata: {},
}

const oldRow = `insert into requests (id, at, type, stream, status, result, attempts, cost_micros, duration, reference, metadata)
  values ('old', 1000, 'chat', 1, 200, 'completed', 1, 42, 7, 'mine', '{"stop":"end"}')`

async function indexesOf({ dialect, query }: Database): Promise<string[]> {
  const list =
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'index' and tbl_name = 'requests'`
      : sql<{ name: string }>`select indexname as name from pg_indexes where tablename = 'requests'`
  return (await list.execute(query)).rows.map(({ name }) => name).filter((name) => /^requests_(?!pkey)/.test(name))
}

function contract(fresh: () => Promise<string>): void {
  const ways: readonly [string, ((url: string) => Promise<void>) | undefined][] = [
    ['makes its table in a new database', undefined],
    ...releasedMigrations.map((last): [string, (url: string) => Promise<void>] => [
      `takes over the table of a database whose newest migration was ${last}, with its rows`,
      (url) => makeOldDatabase(url, last, [oldRow]),
    ]),
  ]
  for (const [title, make] of ways)
    it(title, async () => {
      const url = await fresh()
      await make?.(url)
      const database = await openDatabase(url)
      await migrateService(database, requests, pino({ level: 'silent' }))
      const { view, rows } = openRequestLog(database)
      try {
        view.write(row)
        await rows.flush()
        expect(view.counters).to.deep.equal({ written: 1, dropped: 0, pending: 0, failing: undefined })
        const found = await view.latest({}, 10)
        expect(found.map(({ id }) => id)).to.deep.equal(make ? ['new', 'old'] : ['new'])
        expect(found[0]).to.include({ parent: 'old', duration: 5, metadata: '{}' })
        expect((await view.partsOf('old')).map(({ id }) => id)).to.deep.equal(['new'])
        if (make)
          expect(await view.find('mine')).to.include({
            id: 'old',
            cost_micros: 42,
            metadata: '{"stop":"end"}',
            parent: null,
          })
        const further = database.dialect === 'sqlite' ? [] : ['requests_requested', 'requests_tags']
        expect(await indexesOf(database)).to.have.members([
          'requests_at',
          'requests_ended',
          'requests_key_id_at',
          'requests_list',
          'requests_parent',
          'requests_pipeline_at',
          'requests_judged',
          'requests_failed_providers',
          'requests_guarded',
          'requests_reference',
          'requests_trace_id',
          ...further,
        ])
      } finally {
        await rows.close()
        await database.close()
      }
    })
}

describe('plugins/request-log/requests', () => {
  describe('on SQLite', () => {
    let folder: string
    beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-requests-'))))
    afterEach(() => rmSync(folder, { recursive: true }))
    contract(() => Promise.resolve(`sqlite:${folder}/sluice.db`))
  })

  describe('on PostgreSQL', () => {
    let url = ''
    before(async function () {
      url = (await postgres(this)).url
    })
    contract(async () => {
      const database = await openDatabase(url)
      await sql`drop schema public cascade`.execute(database.query)
      await sql`create schema public`.execute(database.query)
      await database.close()
      return url
    })
  })

  it('is among what is degraded while its table is away, and loses no row', async () => {
    const gateway = await startGateway()
    const degraded = async () => {
      const answer = await fetch(`${gateway.url}/api/health`)
      return ((await answer.json()) as { readonly degraded: readonly string[] }).degraded
    }
    const ask = () =>
      gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] })
    const { database } = gateway.engine
    try {
      await database.rows('alter table requests rename to elsewhere')
      await (await ask()).text()
      await until(async () => (await degraded()).length > 0)
      expect(await degraded()).to.deep.equal(['requests'])
      await database.rows('alter table elsewhere rename to requests')
      expect((await gateway.rows()).map(({ type, status }) => ({ type, status }))).to.deep.equal([
        { type: 'chat', status: 200 },
      ])
      expect(await degraded()).to.deep.equal([])
    } finally {
      await gateway.close()
    }
  })
})
