import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { CompiledQuery, sql } from 'kysely'
import { readQuery } from '../../../engine/kit.ts'
import { filterFields, filterOf, timeFields } from '../../../plugins/request-log/filter.ts'
import { idsBetween, judgedOf, partEnd } from '../../../plugins/request-log/find.ts'
import { newestRows } from '../../../plugins/request-log/pipeline-times.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { tablesOf } from '../../support/tables.ts'

/** Filters, and the index that leads to their rows. */
const indexes: Readonly<Record<string, string>> = {
  '': 'COVERING INDEX requests_list',
  'type=chat&model=m&provider=p&protocol=chat&tier=SIMPLE&requested=r': 'COVERING INDEX requests_list',
  'status=4xx&result=failed&error=e&stream=true': 'COVERING INDEX requests_list',
  'min_cost=1&min_duration_ms=1&tag=a:b': 'COVERING INDEX requests_list',
  'member=m': 'COVERING INDEX requests_list',
  'key=k&model=m': 'COVERING INDEX requests_list',
  'key=k&key=l': 'COVERING INDEX requests_list',
  'key=k': 'INDEX requests_key_id_at',
  'key=k&since=2026-11-01T00:00:00Z': 'INDEX requests_key_id_at',
  'since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00Z': 'COVERING INDEX requests_list',
  'pipeline=p&model=m': 'INDEX requests_list',
  'pipeline=p': 'INDEX requests_pipeline_at',
  'pipeline=p&since=2026-11-01T00:00:00Z': 'INDEX requests_pipeline_at',
  'parent=p': 'INDEX requests_parent',
  'trace_id=t': 'INDEX requests_trace_id',
  'trace_id=t&key=k&model=m': 'INDEX requests_trace_id',
  'failed_provider=p': 'INDEX requests_failed_providers',
  'failed_provider=p&key=k': 'INDEX requests_failed_providers',
  'failed_provider=p&pipeline=q&model=m': 'INDEX requests_failed_providers',
  'failed_provider=p&since=2026-11-01T00:00:00Z': 'INDEX requests_failed_providers',
  'search=s': 'INDEX requests_reference',
}

describe('queries for requests', () => {
  let gateway: RunningGateway
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-plans-'))
    // The plans are those of SQLite.
    gateway = await startGateway({ folder })
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  const planOf = async (query: string, after?: readonly [number, string]) => {
    const filter = filterOf(readQuery(new URLSearchParams(query), { ...filterFields, ...timeFields }))
    const ids = idsBetween(filter, 'sqlite', { after, isDescending: true, limit: 51 })
    const explained = sql<{ detail: string }>`explain query plan ${ids}`
    return (await explained.execute(tablesOf(gateway.engine.database))).rows.map(({ detail }) => detail)
  }

  for (const [query, index] of Object.entries(indexes))
    it(`read one index for ${query || 'all of them'}`, async () => {
      const plan = await planOf(query, [2e12, 'z'])
      expect(plan.join('\n')).to.include(index)
      expect(plan.filter((line) => /SCAN/.test(line) && !line.includes('COVERING INDEX'))).to.deep.equal([])
      if (index.startsWith('COVERING')) expect(plan.filter((line) => line.includes('TEMP B-TREE'))).to.deep.equal([])
    })

  const explained = async (compiled: { readonly sql: string; readonly parameters: readonly unknown[] }) => {
    const query = CompiledQuery.raw(`explain query plan ${compiled.sql}`, [...compiled.parameters])
    const { rows } = await tablesOf(gateway.engine.database).executeQuery(query)
    return rows.map((row) => (row as { readonly detail: string }).detail)
  }

  it('read a part of it at a time, whose end the index of times tells', async () => {
    const plan = await planOf('model=m&since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00Z')
    expect(plan).to.deep.equal(['SEARCH requests USING COVERING INDEX requests_list (at>? AND at<?)'])
    const end = partEnd({ until: 1e12, words: { model: ['m'] } }, true).compile(tablesOf(gateway.engine.database))
    expect(await explained(end)).to.deep.equal(['SEARCH requests USING COVERING INDEX requests_at (at<?)'])
  })

  it('find the rows that a judge was asked about by an index of their own', async () => {
    const tables = { database: tablesOf(gateway.engine.database), dialect: 'sqlite' } as const
    expect(await explained(judgedOf(tables, { limit: 5, after: [1e12, ''] }).compile())).to.deep.equal([
      'SEARCH requests USING INDEX requests_judged ((at,id)>(?,?))',
    ])
  })

  it('find the newest rows of a pipeline by an index', async () => {
    const query = newestRows(tablesOf(gateway.engine.database), 'embeddings', 1e12)
    expect(await explained(query.compile())).to.deep.equal([
      'SEARCH requests USING INDEX requests_pipeline_at (pipeline=? AND at>?)',
    ])
  })

  it('find rows in any part', async () => {
    const database = tablesOf(gateway.engine.database)
    // Every 15,000th row is of another model, and every row has the same start as its neighbour.
    await sql`with recursive n(i) as (select 0 union all select i + 1 from n where i < 59999)
      insert into requests (id, at, type, model, stream, status, result, attempts, duration, metadata)
      select printf('%06d', i), i / 2, 'chat', iif(i % 15000 = 7, 'rare', 'small'), 0, 200, 'completed', 1, 1, '{}'
      from n`.execute(database)
    const requests = viewOf(gateway.engine, 'requests')
    const rare = ['000007', '015007', '030007', '045007']
    const idsOf = async (isDescending: boolean, limit: number, after?: readonly [number, string]) =>
      (await requests.slice({ words: { model: ['rare'] } }, { limit, isDescending, after })).map(({ id }) => id)
    expect(await idsOf(false, 10)).to.deep.equal(rare)
    expect(await idsOf(true, 10)).to.deep.equal(rare.toReversed())
    expect(await idsOf(true, 3)).to.deep.equal(rare.toReversed().slice(0, 3))
    expect(await idsOf(false, 10, [7_503, '015007'])).to.deep.equal(rare.slice(2))
    expect(await idsOf(true, 10, [15_003, '030007'])).to.deep.equal(rare.slice(0, 2).toReversed())
    const timed = await requests.slice(
      { since: 7_000, until: 20_000, words: { model: ['rare'] } },
      { limit: 9, isDescending: true },
    )
    expect(timed.map(({ id }) => id)).to.deep.equal(['030007', '015007'])
  })
})
