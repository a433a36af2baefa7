/**
 * Fills a SQLite database with rows of the request log, and measures what a page of the console waits for: lists,
 * figures, usage, series and spending. `node test/bench/usage.ts [rows] [days]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pino } from 'pino'
import { openDatabase } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import requests from '../../plugins/request-log/requests.ts'
import { addUp, expired } from '../../plugins/request-log/sums.ts'
import { askAt, startAdmin } from '../support/admin.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const days = Number(process.argv[3] ?? 30)
const day = 86_400_000
const rounds = 7

/** A whole number below `most`, and one that is small more often than large. */
const any = (most: number) => `abs(random()) % ${most}`
const skewed = (most: number) => `(abs(random()) % 1000) * (abs(random()) % 1000) * ${most} / 1000000`

/** What several columns of row `i` are made of, drawn once. */
const drawn = `select i, ${any(50)} as key, ${any(10)} as model, ${any(50)} as outcome from numbers`

const columns = {
  id: `printf('%08d-bench', i)`,
  at: `${Date.now() - days * day} + cast(i * ${(days * day) / count} as integer)`,
  type: `case ${any(20)} when 0 then 'judge' else 'chat' end`,
  key_id: `'key-' || key`,
  key_name: `'key ' || key`,
  member_id: `'member-' || (key / 5)`,
  member_name: `'member ' || (key / 5)`,
  requested: `'model-' || model`,
  model: `'model-' || model`,
  provider: `'provider-' || (model / 3)`,
  protocol: `case ${any(3)} when 0 then 'messages' else 'chat' end`,
  upstream_protocol: `'chat'`,
  stream: any(2),
  status: `case outcome when 0 then 502 when 1 then 429 else 200 end`,
  result: `case outcome when 0 then 'failed' when 1 then 'refused' else 'completed' end`,
  attempts: '1',
  input_tokens: skewed(8000),
  cache_read_tokens: skewed(4000),
  cache_write_tokens: '0',
  output_tokens: skewed(2000),
  reasoning_tokens: '0',
  cost_micros: skewed(50_000),
  first_byte: `80 + ${skewed(900)}`,
  duration: `300 + ${skewed(20_000)}`,
  tags: `'{"team":"team-' || (key / 10) || '"}'`,
  metadata: `'{"times":{"auth":0.1,"parse":0.2,"validate":0.3,"resolve":0.1,"call":400.5},"padding":"' || printf('%.400c', ' ') || '"}'`,
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-usage-'))
try {
  const database = await openDatabase(`sqlite:${folder}/sluice.db`)
  await migrateService(database, requests, pino({ level: 'silent' }))
  const began = performance.now()
  await database.rows(`with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < ${count - 1}),
    drawn as materialized (${drawn})
    insert into requests (${Object.keys(columns).join()}) select ${Object.values(columns).join()} from drawn`)
  const filled = performance.now()
  for (const statement of addUp) await database.rows(`with added as (select * from requests) ${statement}`)
  for (const statement of expired(Date.now())) await database.rows(statement)
  console.log(
    `${count} rows of ${days} days: written in ${seconds(filled - began)}, added up in ${seconds(performance.now() - filled)}`,
  )
  for (const table of ['requests_groups', 'requests_sums', 'requests_latencies']) {
    const [found] = await database.rows<{ rows: number }>(`select count(*) as rows from ${table}`)
    console.log(`${found?.rows ?? 0} rows in ${table}`)
  }
  await database.close()
  const gateway = await startAdmin({ folder })
  const ago = (length: number) => `since=${new Date(Date.now() - length).toISOString()}`
  const routes = [
    '/api/logs?limit=50',
    '/api/logs?status=5xx&limit=50',
    '/api/logs/stats',
    `/api/logs/stats?${ago(30 * day)}`,
    '/api/logs/stats?model=model-1&key=key-7',
    '/api/logs/stats?status=5xx',
    `/api/logs/stats?${ago(30 * day)}&status=5xx`,
    '/api/logs/usage',
    '/api/logs/usage?group_by=model',
    '/api/logs/usage?group_by=key,model&interval=none',
    '/api/logs/usage?interval=hour&group_by=model',
    `/api/logs/series?interval=1m&${ago(day / 4 - 60_000)}`,
    '/api/logs/series?interval=5m',
    `/api/logs/series?interval=5m&${ago(2 * day - 60_000)}`,
    `/api/logs/series?interval=1h&${ago(7 * day)}`,
    `/api/logs/series?interval=1h&${ago(30 * day)}`,
    `/api/logs/series?interval=1d&${ago(30 * day)}&group_by=model`,
    '/api/api-keys/spend-summary',
  ]
  const ask = askAt(gateway.url, gateway.admin.token)
  for (const route of routes) {
    const times: number[] = []
    let status = 0
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now()
      const answer = await ask(`GET ${route}`)
      times.push(performance.now() - start)
      status = answer.status
    }
    const sorted = times.toSorted((one, other) => one - other)
    console.log(`${(sorted[Math.floor(rounds / 2)] ?? 0).toFixed(1).padStart(8)} ms  ${status}  ${route}`)
  }
  await gateway.close()
} finally {
  rmSync(folder, { recursive: true })
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
