// Measures how long lists of requests take over many rows, and prints the plans of their queries.
//   node test/bench/request-log.ts [--rows 1000000] [--url postgres://… of an empty database]
// Processor time is the figure to trust on a shared machine; on PostgreSQL that of its server is not included.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { openDatabase } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import type { RequestFilter } from '../../plugins/request-log/filter.ts'
import { idsBetween, sliceOf } from '../../plugins/request-log/find.ts'
import requests from '../../plugins/request-log/requests.ts'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { tablesOf } from '../support/tables.ts'

const argument = (name: string) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? undefined : process.argv[index + 1]
}
const count = Number(argument('rows') ?? 1_000_000)
const folder = mkdtempSync(join(tmpdir(), 'sluice-log-'))
const database = await openDatabase(argument('url') ?? `sqlite:${join(folder, 'log.db')}`)
const tables = { database: tablesOf(database), dialect: database.dialect }

const days = 90
const start = Date.now() - days * 86_400_000

/** Half of the rows are of one key; one of 100,000 is of a rare model and type. */
function rowOf(index: number): RequestsTable {
  const pick = (many: number) => (index * 7_919) % many
  const isRare = index % 100_003 === 5
  const key = index % 2 === 0 ? 0 : 1 + pick(48)
  const status = pick(1_000) < 950 ? 200 : pick(1_000) < 990 ? 429 : 502
  const at = start + Math.floor((index * days * 86_400_000) / count)
  return {
    id: `0199${String(index).padStart(32, '0')}`,
    at,
    type: isRare ? 'judge' : (['chat', 'messages', 'responses', 'embeddings'][pick(4)] as string),
    key_id: `0199aaaa-0000-7000-8000-${String(key).padStart(12, '0')}`,
    key_name: `key ${key}`,
    member_id: `0199bbbb-0000-7000-8000-${String(key % 10).padStart(12, '0')}`,
    member_name: `member-${key % 10}`,
    requested: isRare ? 'rare' : `model-${pick(20)}`,
    model: isRare ? 'rare' : `model-${pick(20)}`,
    provider: `provider-${pick(5)}`,
    protocol: 'chat',
    upstream_protocol: 'messages',
    stream: index % 2,
    status,
    result: status === 200 ? 'completed' : status === 429 ? 'refused' : 'failed',
    error: status === 200 ? null : status === 429 ? 'rate_limit_exceeded' : 'upstream_error',
    attempts: 1,
    input_tokens: 1_000,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 100,
    reasoning_tokens: 0,
    cost_micros: pick(100_000),
    savings_micros: null,
    pipeline: 'chat-completions',
    failed_providers: null,
    trace_id: null,
    guarded: null,
    charged_at: null,
    charged_micros: null,
    charged_overrun: null,
    first_byte: 300,
    duration: pick(20_000),
    reference: index % 5 === 0 ? `ref-${index}` : null,
    parent: null,
    tier: index % 3 === 0 ? 'SIMPLE' : null,
    tags: index % 10 === 0 ? '{"team":"a"}' : null,
    config_version: '0123456789abcdef',
    ended: at + 800,
    metadata: JSON.stringify({
      times: { auth: 0.1, call: 812.3, upstream: 811.1 },
      stop: 'end',
      note: 'x'.repeat(600),
    }),
  }
}

const rare = 'rare'
const key = `0199aaaa-0000-7000-8000-${'7'.padStart(12, '0')}`
const busy = `0199aaaa-0000-7000-8000-${'0'.padStart(12, '0')}`
const filters: Readonly<Record<string, RequestFilter>> = {
  'no filter': {},
  'a common model': { words: { model: ['model-3'] } },
  'a rare model': { words: { model: [rare] } },
  'a rare type': { words: { type: ['judge'] } },
  'no such provider': { words: { provider: ['none'] } },
  'one key': { words: { key: [key] } },
  'no row of a busy key': { words: { key: [busy], model: ['none'] } },
  'own keys': { ownKeys: [key, busy] },
  'a status and a model': { statuses: [[500, 599]], words: { model: ['model-2'] } },
  'the dearest': { minCost: 99_999 },
  'the slowest': { minDuration: 19_999 },
  'a tag': { tags: [['team', 'a']] },
  'no such tag': { tags: [['team', 'b']] },
  'a reference': { search: 'ref-500000' },
  'a day, no such model': {
    since: start + 30 * 86_400_000,
    until: start + 31 * 86_400_000,
    words: { model: ['none'] },
  },
}

try {
  await migrateService(database, requests, pino({ level: 'silent' }))
  const began = process.cpuUsage()
  for (let from = 0; from < count; from += 500) {
    const rows = Array.from({ length: Math.min(500, count - from) }, (_, index) => rowOf(from + index))
    await tables.database.insertInto('requests').values(rows).execute()
  }
  const { user, system } = process.cpuUsage(began)
  console.log(`${count} rows on ${database.dialect}: ${((user + system) / count).toFixed(1)} µs of processor time each`)
  if (database.dialect === 'postgres') await sql`vacuum analyze requests`.execute(tables.database)
  for (const [name, filter] of Object.entries(filters)) {
    const [times, cpu]: [number[], number[]] = [[], []]
    let found = 0
    for (let turn = 0; turn < 3; turn++) {
      const [since, spent] = [performance.now(), process.cpuUsage()]
      found = (await sliceOf(tables, filter, { limit: 51, isDescending: true })).length
      times.push(performance.now() - since)
      const used = process.cpuUsage(spent)
      cpu.push((used.user + used.system) / 1_000)
    }
    const best = (all: readonly number[]) => Math.min(...all).toFixed(1)
    console.log(
      `${name.padEnd(24)} ${best(times).padStart(7)} ms, ${best(cpu).padStart(7)} ms of processor, ${found} rows`,
    )
    const ids = idsBetween(filter, tables.dialect, { isDescending: true, limit: 51 })
    const word = database.dialect === 'sqlite' ? 'explain query plan' : 'explain'
    const plan = await sql`${sql.raw(word)} ${ids}`.execute(tables.database)
    for (const line of plan.rows as Readonly<Record<string, unknown>>[])
      console.log(`    ${String(line['detail'] ?? line['QUERY PLAN'])}`)
  }
} finally {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
}
