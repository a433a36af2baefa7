/**
 * Fills a SQLite database with rows of the request log, and measures what a page of the console waits for: lists,
 * figures, usage, series and spending. `node test/bench/usage.ts [rows] [days]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { openDatabase } from '../../engine/store/database.ts'
import { askAt, startAdmin } from '../support/admin.ts'
import { fillLog } from './filled-log.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const days = Number(process.argv[3] ?? 30)
const day = 86_400_000
const rounds = 7

const folder = mkdtempSync(join(tmpdir(), 'sluice-usage-'))
try {
  const database = await openDatabase(`sqlite:${folder}/sluice.db`)
  const began = performance.now()
  await fillLog(database, count, days)
  const filled = (performance.now() - began) / 1000
  console.log(`${count} rows of ${days} days: written and added up in ${filled.toFixed(1)} s`)
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
