// Measures how many rows of the request log, each with its charge, the thread that writes rows takes a second.
//   node test/bench/rows.ts [--rows 20000] [--url postgres://… of an empty database]
// Processor time is the figure to trust on a shared machine; on PostgreSQL that of its server is not included.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { openDatabase } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import { RowLines, piecesOf, textOf } from '../../engine/store/row-lines.ts'
import { openRowWriter } from '../../engine/store/row-writer.ts'
import { Ledger } from '../../plugins/limits/ledger.ts'
import limits from '../../plugins/limits/limits.ts'
import requests from '../../plugins/request-log/requests.ts'
import { addUp } from '../../plugins/request-log/sums.ts'

const argument = (name: string) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? undefined : process.argv[index + 1]
}
const count = Number(argument('rows') ?? 20_000)
const folder = mkdtempSync(join(tmpdir(), 'sluice-rows-'))
const database = await openDatabase(argument('url') ?? `sqlite:${join(folder, 'rows.db')}`)
const log = pino({ level: 'silent' })
const laps = ['auth', 'parse', 'apply-policy', 'validate', 'limit', 'route/resolve', 'reserve', 'generate/attempt/call']

/** A tenth of the rows are of another key. */
const rowOf = (id: string, index: number) => ({
  id,
  at: Date.now(),
  type: 'chat',
  key_id: `0199aaaa-0000-7000-8000-${String(index % 10).padStart(12, '0')}`,
  key_name: `key ${index % 10}`,
  member_id: null,
  member_name: null,
  requested: 'model-1',
  model: 'model-1',
  provider: 'provider-1',
  protocol: 'chat',
  upstream_protocol: 'chat',
  stream: index % 2,
  status: 200,
  result: 'completed',
  error: null,
  attempts: 1,
  input_tokens: 1_000,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 100,
  reasoning_tokens: 0,
  cost_micros: 400,
  first_byte: 80 + (index % 900),
  duration: 300 + ((index * 7_919) % 20_000),
  reference: null,
  parent: null,
  tier: null,
  tags: null,
  config_version: '0123456789abcdef',
  ended: Date.now(),
  savings_micros: null,
  pipeline: 'chat-completions',
  failed_providers: null,
  charged_at: Date.now(),
  charged_micros: 400,
  charged_overrun: 10,
  metadata: JSON.stringify({
    times: { upstream: 811.1 },
    stop: 'stop',
    laps: laps.map((lap, at) => [lap, at * 90, 80]),
  }),
})

try {
  for (const service of [requests, limits]) await migrateService(database, service, log)
  const appender = () => ({ append: () => undefined })
  const { keeper } = new Ledger({ dialect: database.dialect, appender } as never)
  const sums = [...addUp, ...keeper.sums]
  const writer = openRowWriter({ url: database.url, process: 'bench', report: console.error, recovered: () => {} })
  let number = 0
  for (const size of [50, 200, 1_000, 5_000]) {
    const [began, spent] = [performance.now(), process.cpuUsage()]
    for (let from = 0; from < count; from += size) {
      const lines = new RowLines()
      const rows = Array.from({ length: size }, (_, index) =>
        lines.lineOf(rowOf(`0199${String(number++).padStart(32, '0')}`, from + index)),
      )
      await writer.write({ table: 'requests', columns: lines.columns, rows: textOf(piecesOf(rows)), waits: true, sums })
    }
    const { user, system } = process.cpuUsage(spent)
    const seconds = (performance.now() - began) / 1_000
    const each = ((user + system) / count).toFixed(1)
    console.log(
      `${database.dialect}, batches of ${size}: ${Math.round(count / seconds)} rows a second, ${each} µs of processor time each`,
    )
  }
  await writer.close()
} finally {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
}
