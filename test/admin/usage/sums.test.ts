import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Context } from 'mocha'
import { pino } from 'pino'
import { openDatabase } from '../../../engine/store/database.ts'
import type { Database } from '../../../engine/store/database.ts'
import { migrateService } from '../../../engine/store/migrate-service.ts'
import { addUpEarlierRows } from '../../../plugins/request-log/earlier-rows.ts'
import requests from '../../../plugins/request-log/requests.ts'
import type { LogRow } from '../../../plugins/request-log/row.ts'
import { addUp, expired, tagIn } from '../../../plugins/request-log/sums.ts'
import type { Grouping } from '../../../plugins/request-log/sums.ts'
import { addedUp } from '../../../plugins/request-log/sums-query.ts'
import type { Cell, SumsQuestion } from '../../../plugins/request-log/sums-query.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import { makeOldDatabase, releasedMigrations } from '../../support/old-database.ts'
import { logRow, openRequestLog } from '../../support/request-log.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

const fields = {
  key: 'keyId',
  member: 'memberId',
  model: 'model',
  provider: 'provider',
  protocol: 'protocol',
  type: 'type',
} as const

type Dimension = keyof typeof fields

/** Days before today, so that the sums of minutes are still kept. */
const start = Math.floor(Date.now() / day) * day - 6 * day

const known = (most: number) => fc.option(fc.nat(most), { nil: null })
const among = (...words: string[]) => fc.option(fc.constantFrom(...words), { nil: null })

/** Rows near the edges of minutes, hours and days, and anywhere. */
const moment = fc.oneof(
  fc.integer({ min: start - 3 * day, max: start + 3 * day }),
  fc
    .record({
      days: fc.integer({ min: -2, max: 2 }),
      unit: fc.constantFrom(0, minute, hour),
      off: fc.constantFrom(-1, 0, 1),
    })
    .map(({ days, unit, off }) => start + days * day + unit + off),
)

const rows = fc.array(
  fc.record({
    at: moment,
    type: fc.constantFrom('chat', 'judge', 'embeddings'),
    keyId: among('k1', 'k2'),
    memberId: among('m1'),
    model: among('small', 'large'),
    provider: among('p'),
    protocol: among('chat', 'messages'),
    tags: fc.constantFrom(undefined, { team: 'red' }, { team: 'blue "1"', 'cost.center': '7' }, { 'cost.center': '8' }),
    status: fc.constantFrom(101, 200, 304, 404, 429, 499, 500, 599),
    result: fc.constantFrom('completed' as const, 'client_closed' as const, 'refused' as const, 'failed' as const),
    inputTokens: known(1e9),
    cacheReadTokens: known(9),
    cacheWriteTokens: known(9),
    outputTokens: known(9),
    reasoningTokens: known(9),
    costMicros: known(1e12),
    savingsMicros: fc.option(fc.integer({ min: -1000, max: 1000 }), { nil: null }),
    firstByte: known(40_000),
    duration: fc.oneof(fc.nat(40), fc.nat(100_000), fc.constantFrom(2 ** 28, 2 ** 33)),
  }),
  { maxLength: 60 },
)

const question = fc
  .record({
    since: moment,
    length: fc.oneof(fc.nat(5 * day), fc.constantFrom(1, minute, hour, day, 3 * day)),
    interval: fc.constantFrom(undefined, minute, 5 * minute, hour, day),
    by: fc.subarray([...(Object.keys(fields) as Dimension[]), 'tag:team', 'tag:cost.center'] as Grouping[], {
      maxLength: 2,
    }),
    key: fc.constantFrom(undefined, [], ['k1'], ['k1', 'k2', 'unknown']),
    ownKeys: fc.constantFrom(undefined, undefined, [], ['k2']),
    model: fc.constantFrom(undefined, undefined, ['small']),
    // Sums do not know these.
    statuses: fc.constantFrom(undefined, undefined, undefined, [[400, 499]] as const),
    minDuration: fc.constantFrom(undefined, undefined, undefined, 30),
  })
  .map(({ since, length, interval, by, key, model, ...others }): SumsQuestion => ({
    filter: { since, until: since + length, words: { key, model }, ...others },
    interval,
    by,
    most: 10_000,
  }))

function valueOf(row: LogRow, name: Grouping): string | null | undefined {
  const tag = tagIn(name)
  return tag === undefined ? row[fields[name as Dimension]] : row.tags?.[tag]
}

/** The sums of rows as one would write them down without any sums. */
function naive(all: readonly LogRow[], { filter, interval, by }: SumsQuestion): Map<string, LogRow[]> {
  const { since, until, words = {}, ownKeys, statuses, minDuration = 0 } = filter
  const isOf = (value: string | null, wanted: readonly string[] | undefined) =>
    wanted === undefined || (value !== null && wanted.includes(value))
  const fits = ({ at, keyId, model, status, duration }: LogRow) =>
    at >= since &&
    at < until &&
    isOf(keyId, words.key) &&
    isOf(keyId, ownKeys) &&
    isOf(model, words.model) &&
    (statuses === undefined || statuses.some(([low, high]) => status >= low && status <= high)) &&
    duration >= minDuration
  const cells = new Map<string, LogRow[]>()
  for (const row of all.filter(fits)) {
    const at = interval === undefined ? undefined : Math.floor(row.at / interval) * interval
    const key = JSON.stringify([at, ...by.map((name) => valueOf(row, name) ?? '')])
    cells.set(key, [...(cells.get(key) ?? []), row])
  }
  return cells
}

function expectSums(cell: Cell, all: readonly LogRow[]): void {
  const own = all.filter(({ type }) => type !== 'judge')
  const count = (fits: (row: LogRow) => boolean) => own.filter(fits).length
  const total = (of: (row: LogRow) => number | null) => all.reduce((sum, row) => sum + (of(row) ?? 0), 0)
  const ofStatus = (hundreds: number) => count(({ status }) => Math.floor(status / 100) === hundreds)
  const { sum: numbers, latency } = cell
  expect(numbers).to.deep.equal({
    requests: own.length,
    completed: count(({ result }) => result === 'completed'),
    client_closed: count(({ result }) => result === 'client_closed'),
    refused: count(({ result }) => result === 'refused'),
    failed: count(({ result }) => result === 'failed'),
    status_1xx: ofStatus(1),
    status_2xx: ofStatus(2),
    status_3xx: ofStatus(3),
    status_4xx: ofStatus(4),
    status_5xx: ofStatus(5),
    unknown_cost: all.filter(({ costMicros }) => costMicros === null).length,
    cost_micros: total((row) => row.costMicros),
    with_savings: all.filter(({ savingsMicros }) => savingsMicros !== null).length,
    savings_micros: total((row) => row.savingsMicros),
    input_tokens: total((row) => row.inputTokens),
    cache_read_tokens: total((row) => row.cacheReadTokens),
    cache_write_tokens: total((row) => row.cacheWriteTokens),
    output_tokens: total((row) => row.outputTokens),
    reasoning_tokens: total((row) => row.reasoningTokens),
  })
  for (const share of [0.5, 0.95, 0.99]) {
    expectNear(
      latency.duration.percentile(share),
      percentile(
        own.map((row) => row.duration),
        share,
      ),
    )
    const firstBytes = own.flatMap(({ firstByte }) => (firstByte === null ? [] : [firstByte]))
    expectNear(latency.first_byte.percentile(share), percentile(firstBytes, share))
  }
}

/** The nearest rank. */
function percentile(times: readonly number[], share: number): number | null {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1] ?? null
}

const longest = 2 ** 28 - 1

function expectNear(found: number | null, exact: number | null): void {
  if (exact === null || exact < 32) return void expect(found).to.equal(exact)
  const counted = Math.min(exact, longest)
  expect(found).to.be.within(counted * (1 - 1 / 31), counted * (1 + 1 / 31))
}

/** The script of a process that adds up the rows of an earlier version. */
const script = (url: string) => `
  import { pino } from 'pino'
  import { openDatabase } from './engine/store/database.ts'
  import { addUpEarlierRows } from './plugins/request-log/earlier-rows.ts'
  const { query: database, dialect } = await openDatabase(${JSON.stringify(url)})
  await addUpEarlierRows({ database, dialect, log: pino({ level: 'silent' }) }, new AbortController().signal)`

function contract(fresh: (context: Context) => Promise<string>): void {
  let database: Database
  beforeEach(async function () {
    database = await openDatabase(await fresh(this))
    await migrateService(database, requests, log)
  })
  afterEach(() => database.close())

  const sumTables = ['requests_groups', 'requests_names', 'requests_sums', 'requests_latencies'] as const

  /** All sums, with their groups instead of the ids of these. */
  async function tables() {
    const queries = tablesOf(database)
    const groups = new Map(
      (await queries.selectFrom('requests_groups').selectAll().execute()).map(({ id, whole_id: _whole, ...texts }) => [
        id,
        texts,
      ]),
    )
    const of = async (table: 'requests_sums' | 'requests_latencies') =>
      (await queries.selectFrom(table).selectAll().execute())
        .map(({ group_id: id, ...sum }) => JSON.stringify({ ...groups.get(id), ...sum }))
        .toSorted()
    return { requests_sums: await of('requests_sums'), requests_latencies: await of('requests_latencies') }
  }

  /** Adds up all rows anew. */
  async function rebuild(): Promise<void> {
    for (const table of sumTables) await database.rows(`delete from ${table}`)
    for (const statement of addUp) await database.rows(`with added as (select * from requests) ${statement}`)
  }

  const ask = (asked: SumsQuestion) => addedUp({ database: tablesOf(database), dialect: database.dialect }, asked)

  it('are those of the rows, whatever the window, the groups and the filters', async function () {
    this.timeout(0)
    const { view, rows: written } = openRequestLog(database)
    let all: LogRow[] = []
    let count = 0
    await fc.assert(
      fc.asyncProperty(rows, fc.array(question, { minLength: 4, maxLength: 4 }), async (more, questions) => {
        // Each run adds rows to those of the runs before, most of them late.
        const added = more.map((changes) => logRow(`r${count++}`, changes))
        for (const row of added) view.write(row)
        await written.flush()
        all = [...all, ...added]
        for (const asked of questions) {
          const cells = (await ask(asked)) ?? []
          const expected = naive(all, asked)
          const keys = cells.map(({ at, group }) => JSON.stringify([at, ...asked.by.map((name) => group[name])]))
          expect(keys.toSorted()).to.deep.equal([...expected.keys()].toSorted())
          for (const [index, cell] of cells.entries()) expectSums(cell, expected.get(keys[index] as string) ?? [])
          expect(cells.map(({ at = 0 }) => at)).to.deep.equal(cells.map(({ at = 0 }) => at).toSorted((a, b) => a - b))
        }
      }),
      { numRuns: 40 },
    )
    await written.close()
    const before = await tables()
    expect(before.requests_latencies.length).to.be.greaterThan(0)
    await rebuild()
    expect(await tables()).to.deep.equal(before)
  })

  it('count every row once, though processes write the same rows at the same time', async function () {
    this.timeout(0)
    const logs = [openRequestLog(database), openRequestLog(database), openRequestLog(database)]
    // Each process begins elsewhere, so that they meet the same groups in different orders.
    for (let count = 0; count < 900; count += 1)
      for (const [index, { view }] of logs.entries()) {
        const number = (count + index * 300) % 900
        view.write(logRow(`r${number}`, { at: start + number * minute, keyId: `k${number % 7}`, duration: number }))
      }
    await Promise.all(logs.map(({ rows: written }) => written.flush()))
    const [cell, ...others] = (await ask({ filter: { since: start, until: start + day }, by: [], most: 1 })) ?? []
    expect(others).to.deep.equal([])
    expect(cell?.sum.requests).to.equal(900)
    expect(logs.reduce((sum, { view }) => sum + view.counters.dropped, 0)).to.equal(0)
    const before = await tables()
    await rebuild()
    expect(await tables()).to.deep.equal(before)
    await Promise.all(logs.map(({ rows: written }) => written.close()))
  })

  it('are those of the rows that are there after a process was killed', async function () {
    this.timeout(0)
    for (let round = 0; round < 3; round += 1) {
      const script = `
        import { pino } from 'pino'
        import { openDatabase } from './engine/store/database.ts'
        import { logRow, openRequestLog } from './test/support/request-log.ts'
        const { view } = openRequestLog(await openDatabase(${JSON.stringify(database.url)}), { limit: 20_000 })
        for (let count = 0; count < 10_000; count += 1)
          view.write(logRow('${round}-' + count, { at: ${start} + count * 1000, keyId: 'k' + count % 5 }))
        setInterval(() => console.log(view.counters.written), 1)`
      const child = execFile(process.execPath, ['--input-type=module', '-e', script])
      const exit = once(child, 'exit')
      for await (const line of createInterface(child.stdout as Readable)) if (Number(line) >= 400) break
      child.kill('SIGKILL')
      await exit
      const found = await tablesOf(database).selectFrom('requests').select('id').execute()
      expect(found.filter(({ id }) => id.startsWith(`${round}-`)).length).to.be.within(400, 9_999)
      const before = await tables()
      await rebuild()
      expect(await tables()).to.deep.equal(before)
    }
  })

  it('stay when rows are deleted, and name keys and members as their last rows did', async () => {
    const { view, rows: written } = openRequestLog(database)
    view.write(logRow('a', { at: start, keyName: 'app', memberName: 'ann' }))
    await written.flush()
    view.write(logRow('b', { at: start - day, keyName: 'site', memberName: 'ann' }))
    view.write(logRow('c', { at: start + hour, keyName: null, memberId: null, memberName: null }))
    await written.flush()
    await tablesOf(database).deleteFrom('requests').execute()
    const cells = await ask({
      filter: { since: start - day, until: start + day },
      interval: hour,
      by: ['key'],
      most: 9,
    })
    expect(cells?.map(({ at, group, sum }) => [at, group, sum.requests])).to.deep.equal([
      [start - day, { key: 'k' }, 1],
      [start, { key: 'k' }, 1],
      [start + hour, { key: 'k' }, 1],
    ])
    const names = await tablesOf(database).selectFrom('requests_names').selectAll().orderBy('kind').execute()
    expect(names).to.deep.equal([
      { kind: 'key', id: 'k', name: 'site' },
      { kind: 'member', id: 'm-1', name: 'ann' },
    ])
    await written.close()
  })

  it('answer without a row, and those of all keys without the sums of each', async () => {
    const { view, rows: written } = openRequestLog(database)
    for (let count = 0; count < 500; count += 1)
      view.write(logRow(`r${count}`, { at: start + count * minute, keyId: `k${count}`, memberId: `m${count}` }))
    await written.flush()
    const window = { since: start, until: start + 7 * hour + 5 * minute }
    const all: SumsQuestion = { filter: window, interval: hour, by: ['model', 'type'], most: 99 }
    const ofKey: SumsQuestion = { filter: { ...window, words: { key: ['k7'] } }, by: ['member'], most: 99 }
    const whole = { group: { model: 'small-1', type: 'chat' }, requests: [60, 60, 60, 60, 60, 60, 60, 5] }
    const shown = async () => {
      const cells = (await ask(all)) ?? []
      return { group: cells[0]?.group, requests: cells.map(({ sum }) => sum.requests) }
    }
    await database.rows('alter table requests rename to requests_elsewhere')
    try {
      expect(await shown()).to.deep.equal(whole)
      expect((await ask(ofKey))?.map(({ group, sum }) => [group, sum.requests])).to.deep.equal([[{ member: 'm7' }, 1]])
      for (const table of ['requests_sums', 'requests_latencies'])
        await database.rows(`delete from ${table} where whole = 0`)
      expect(await shown()).to.deep.equal(whole)
      const [days] = await database.rows<{ sums: number }>(
        `select count(*) as sums from requests_sums where grain = ${day}`,
      )
      expect(Number(days?.sums)).to.equal(1)
    } finally {
      await database.rows('alter table requests_elsewhere rename to requests')
      await written.close()
    }
  })

  it('are kept for 400 days, those of minutes for 8', async () => {
    const { view, rows: written } = openRequestLog(database)
    const now = start + 6 * day + hour
    const ages = [0, 7, 9, 399, 401]
    for (const age of ages) view.write(logRow(`of ${age} days ago`, { at: now - age * day }))
    await written.flush()
    for (const statement of expired(now)) await database.rows(statement)
    for (const table of ['requests_sums', 'requests_latencies'] as const) {
      const found = await tablesOf(database).selectFrom(table).select(['whole', 'grain', 'at']).distinct().execute()
      const left = (grain: number) =>
        found.filter((sum) => sum.grain === grain && sum.whole === 1).map(({ at }) => Math.round((now - at) / day))
      expect(left(minute), table).to.have.members([0, 7])
      for (const grain of [hour, day]) expect(left(grain).length, table).to.equal(4)
    }
    await written.close()
  })

  it('are those of the rows, too, that an earlier version wrote, whoever adds them up and is killed', async function () {
    this.timeout(0)
    const { view, rows: written } = openRequestLog(database)
    for (let count = 0; count < 1_200; count += 1)
      view.write(
        logRow(`r${count}`, { at: start + count * minute, keyId: count % 2 === 0 ? null : 'k', savingsMicros: null }),
      )
    await written.flush()
    const before = await tables()
    for (const table of [...sumTables, 'requests_unsummed']) await database.rows(`drop table ${table}`)
    await database.rows('alter table requests drop column savings_micros')
    await database.rows(`delete from service_migrations where name like '%sum%'`)
    await migrateService(database, requests, log)
    const left = async () =>
      Number((await database.rows<{ rows: number }>('select count(*) as rows from requests_unsummed'))[0]?.rows)
    expect([await left(), (await tables()).requests_sums]).to.deep.equal([1_200, []])
    // What is written meanwhile counts once, too.
    view.write(logRow('late', { at: start - day, keyId: 'k', savingsMicros: null }))
    await written.flush()
    const child = execFile(process.execPath, ['--input-type=module', '-e', script(database.url)])
    const exit = once(child, 'exit')
    await until(async () => (await left()) < 1_200)
    child.kill('SIGKILL')
    await exit
    const kept = await left()
    expect(kept % 100).to.equal(0)
    expect(kept).to.be.lessThan(1_200)
    const other = await openDatabase(database.url)
    const { signal } = new AbortController()
    await Promise.all(
      [database, other].map((each) =>
        addUpEarlierRows({ database: tablesOf(each), dialect: each.dialect, log }, signal),
      ),
    )
    await other.close()
    expect(await left()).to.equal(0)
    const since = (sums: readonly string[]) =>
      sums.filter((sum) => Number((JSON.parse(sum) as { at: number | string }).at) >= start)
    const found = await tables()
    expect(since(found.requests_sums)).to.deep.equal(before.requests_sums)
    expect(since(found.requests_latencies)).to.deep.equal(before.requests_latencies)
    await rebuild()
    expect(await tables()).to.deep.equal(found)
    await written.close()
  })
}

describe('sums of the request log', () => {
  it('of an earlier version are made while the gateway serves, and once', async function () {
    this.timeout(0)
    const folder = mkdtempSync(join(tmpdir(), 'sluice-earlier-'))
    const url = `sqlite:${folder}/sluice.db`
    const insert = (id: number) =>
      `insert into requests (id, at, type, model, stream, status, result, attempts, input_tokens, duration, metadata)
      values ('${id}', ${Date.now() - hour}, 'chat', 'echo', 0, 200, 'completed', 1, 5, 10, '{}')`
    const rowsBefore = Array.from({ length: 250 }, (_, id) => insert(id))
    await makeOldDatabase(url, releasedMigrations.at(-1) ?? '', rowsBefore)
    const start = async (told: readonly number[]) => {
      const gateway = await startGateway({ database: url })
      const lines = () => gateway.lines.filter((line) => line.includes('requests of an earlier version'))
      try {
        await until(() => lines().length === told.length)
        expect(lines().map((line) => (JSON.parse(line) as { rows: number }).rows)).to.deep.equal(told)
        const window = { since: Date.now() - day, until: Date.now() }
        const cells = await viewOf(gateway.engine, 'requests').addedUp({ filter: window, by: ['model'], most: 9 })
        expect(cells?.map(({ group, sum }) => [group, sum.requests, sum.input_tokens])).to.deep.equal([
          [{ model: 'echo' }, 250, 1_250],
        ])
      } finally {
        await gateway.close()
      }
    }
    await start([250, 250])
    await start([])
    // An earlier form of the migration added the rows up itself.
    const database = await openDatabase(url)
    await database.rows('drop table requests_unsummed')
    await database.rows('drop index requests_failed_providers')
    await database.rows('alter table requests drop column failed_providers')
    await database.rows(`delete from service_migrations where name in ('0009-unsummed', '0010-failed-providers')`)
    await database.close()
    await start([])
    rmSync(folder, { recursive: true })
  })

  describe('on SQLite', () => {
    let folder: string
    before(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-sums-'))))
    after(() => rmSync(folder, { recursive: true }))
    let count = 0
    contract(async () => `sqlite:${folder}/${(count += 1)}.db`)
  })

  describe('on PostgreSQL', () => {
    contract(async (context) => (await postgres(context)).url)
  })
})
