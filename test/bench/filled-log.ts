import { pino } from 'pino'
import type { Database } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import requests from '../../plugins/request-log/requests.ts'
import { addUp, expired } from '../../plugins/request-log/sums.ts'

const day = 86_400_000

/** A whole number below `most`, and one that is small more often than large. */
const any = (most: number) => `abs(random()) % ${most}`
const skewed = (most: number) => `(abs(random()) % 1000) * (abs(random()) % 1000) * ${most} / 1000000`

/** What several columns of row `i` are made of, drawn once. */
const drawn = `select i, ${any(50)} as key, ${any(10)} as model, ${any(50)} as outcome from numbers`

const stages = ['auth', 'parse', 'apply-policy', 'validate', 'limit', 'route/resolve', 'route/switch/2/requested']
const tries = ['breaker', 'translate', 'call', 'answered', 'translate-back'].map((name) => `generate/attempt/${name}`)
const metadata = JSON.stringify({
  times: {},
  stop: 'stop',
  upstream_id: 'chatcmpl-0123456789abcdef0123456789abcdef',
  tries: [{ model: 'model', provider: 'provider', status: 200, milliseconds: 400 }],
  laps: [
    ...stages.map((name, index) => [name, index * 100, 90]),
    ...tries.map((name, index) => [name, 1000 + index * 80_000, 79_000, 1]),
  ],
})

const columnsOf = (count: number, days: number) => ({
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
  pipeline: `'chat-completions'`,
  metadata: `'${metadata}'`,
})

/** Makes the tables of the request log in a SQLite database, with so many rows of the last days, and adds them up. */
export async function fillLog(database: Database, count: number, days: number): Promise<void> {
  await migrateService(database, requests, pino({ level: 'silent' }))
  const columns = columnsOf(count, days)
  await database.rows(`with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < ${count - 1}),
    drawn as materialized (${drawn})
    insert into requests (${Object.keys(columns).join()}) select ${Object.values(columns).join()} from drawn`)
  for (const statement of addUp) await database.rows(`with added as (select * from requests) ${statement}`)
  for (const statement of expired(Date.now())) await database.rows(statement)
}
