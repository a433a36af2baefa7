// Sends bodies that are made to hold the gateway up, one kind after the other, beside small requests, and prints how long
// its thread was held up and what the clients were answered.
//   npm run bench:hostile [-- --seconds 10 --port 19600]
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { benchKey } from './targets.ts'

const here = import.meta.dirname
const argument = (name: string, fallback: number) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}
const seconds = argument('seconds', 10)
const port = argument('port', 19_600)
const url = `http://127.0.0.1:${port}`
const work = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
mkdirSync(join(work, 'pipelines'))

const repeat = (text: string, count: number) => Array.from({ length: count }, () => text).join(',')
const turn = '{"role":"user","content":"hi"}'
const body = (messages: string, rest = '') => `{"model":"m","messages":[${messages}]${rest}}`
/** A kind each, with a body that is as bad as its bounds allow, or worse. */
const bodies: Readonly<Record<string, string>> = {
  'small requests alone': body(turn),
  'members at the bound': body(repeat(turn, 28_000), `,"x":{${repeatedKeys(5_000)}}`),
  'keys at the bound': body(turn, `,"x":{${repeatedKeys(95_000)}}`),
  '60 MB of empty lists': body(turn, `,"x":[${repeat('[]', 20_000_000)}]`),
  'a text of 60 MB': body(`{"role":"user","content":"${'x'.repeat(60_000_000)}"}`),
  'escapes alone': body(`{"role":"user","content":"${'\\"'.repeat(700_000)}"}`),
  'a picture of 20 MB': body(
    `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${'A'.repeat(20_000_000)}"}}]}`,
  ),
  'nested 6 million deep': body(turn, `,"x":${'['.repeat(6_000_000)}`),
  'cut in the middle': body(repeat(turn, 28_000)).slice(0, -1),
}

function repeatedKeys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')
}

writeFileSync(
  join(work, 'pipelines', 'loop-delay.yaml'),
  'name: loop-delay\nsummary: Delays.\npublic: true\nroutes: [GET /loop-delay]\nstages: [loop-delay]\n',
)
writeFileSync(
  join(work, 'sluice.yaml'),
  JSON.stringify({
    listen: { host: '127.0.0.1', port },
    database: { url: `sqlite:${join(work, 'hostile.db')}` },
    plugins: [join(here, 'loop-delay.ts')],
    pipelines: join(work, 'pipelines'),
    providers: [{ name: 'echo', type: 'echo' }],
    models: [{ name: 'm', provider: 'echo' }],
    api_keys: [{ name: 'hostile', key: benchKey }],
    server_config: { logging: { level: 'error' } },
  }),
)
const gateway = spawn(
  process.execPath,
  [join(here, '..', '..', 'engine/bin/sluice.cjs'), 'serve', '--no-watch', '--config', join(work, 'sluice.yaml')],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
process.on('exit', () => {
  gateway.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
})

async function ask(text: string): Promise<number> {
  const headers = { authorization: `Bearer ${benchKey}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: text })
  await answer.arrayBuffer()
  return answer.status
}

async function delays(): Promise<{ p50: number; p99: number; max: number }> {
  return (await (await fetch(`${url}/loop-delay`)).json()) as { p50: number; p99: number; max: number }
}

while (!(await delays().catch(() => undefined))) await pause(50)
await ask(body(turn))
const rows: object[] = []
for (const [kind, text] of Object.entries(bodies)) {
  await delays()
  const statuses = new Set<number>()
  const end = performance.now() + seconds * 1000
  const sends = async (one: string, seen?: Set<number>) => {
    while (performance.now() < end) {
      const status = await ask(one)
      seen?.add(status)
    }
  }
  await Promise.all([sends(text, statuses), sends(text, statuses), sends(body(turn))])
  const { p50, p99, max } = await delays()
  const shown = (milliseconds: number) => Number(milliseconds.toFixed(1))
  rows.push({ bodies: kind, p50: shown(p50), p99: shown(p99), max: shown(max), statuses: [...statuses].join(' ') })
}
console.table(rows)
process.exit(0)
