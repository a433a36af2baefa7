// Keeps a thousand streams and two hundred WebSockets open on one gateway at once, twice, and prints what memory it
// took and whether it came back. Ends with 1 when any answer was not what it should be.
//   npm run bench:soak [-- --streams 1000 --sockets 200 --port 19500]
// Linux only (/proc).
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuMicros, residentMb } from './processes.ts'
import { Seen, socket, stream } from './soak-load.ts'
import { benchKey } from './targets.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
const argument = (name: string, fallback: number) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}
const streams = argument('streams', 1000)
const sockets = argument('sockets', 200)
const port = argument('port', 19_500)
const work = mkdtempSync(join(tmpdir(), 'sluice-soak-'))

/** Words of a stream, and of each of a socket's turns: both take about as long. */
const long = { words: 40, turns: 1, model: 'words-40-350' }
const short = { words: 10, turns: 3, model: 'words-10-300' }

const children: ChildProcess[] = []
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

function start(command: readonly string[], env: NodeJS.ProcessEnv = {}): number {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  children.push(child)
  if (child.pid === undefined) throw new Error('a process cannot be started')
  return child.pid
}

/** The models by the lane they take: the upstream's own protocol is the client's, or another. */
const lanes = [
  { provider: 'relayed', offers: ['responses'] },
  { provider: 'translated', offers: ['chat'] },
]
const named = ({ provider }: { readonly provider: string }, model: string) => `${provider}/${model}`
writeFileSync(
  join(work, 'sluice.yaml'),
  JSON.stringify({
    listen: { port },
    database: { url: `sqlite:${join(work, 'soak.db')}` },
    plugins: [join(root, 'plugins')],
    pipelines: join(root, 'pipelines'),
    providers: lanes.map(({ provider, offers }) => ({
      name: provider,
      type: 'compatible',
      base_url: `http://127.0.0.1:${port + 1}/v1`,
      offers,
    })),
    models: lanes.flatMap((lane) =>
      [long, short].map(({ model }) => ({ name: named(lane, model), provider: lane.provider, upstream_model: model })),
    ),
    api_keys: [{ name: 'soak', key: benchKey }],
    server_config: { logging: { level: 'error' } },
  }),
)

start([join(here, 'soak-upstream.ts'), String(port + 1)])
const measured = [
  '--expose-gc',
  '--import',
  join(here, 'collect-garbage.ts'),
  join(root, 'engine/bin/sluice.cjs'),
  'serve',
]
const gateway = start(measured, { SLUICE_CONFIG: join(work, 'sluice.yaml'), PORT: String(port), HOST: '127.0.0.1' })
await ready()

/** Runs so many streams and sockets at once, half of each by either lane. */
function wave(seen: Seen, streamCount: number, socketCount: number): Promise<unknown> {
  const load = { port, seen }
  const lane = (index: number) => lanes[index % lanes.length] as (typeof lanes)[number]
  return Promise.all([
    ...Array.from({ length: streamCount }, (_, index) => stream(named(lane(index), long.model), long.words, load)),
    ...Array.from({ length: socketCount }, (_, index) =>
      socket(named(lane(index), short.model), short.words, short.turns, load),
    ),
  ])
}

const warm = new Seen()
await wave(warm, 20, 20)
const rows = [{ when: 'before', 'memory MB': await settled() }]
const waves: Seen[] = [warm]
for (const name of ['first', 'second']) {
  const seen = new Seen()
  waves.push(seen)
  const began = performance.now()
  const cpu = cpuMicros(gateway)
  let peak = 0
  const look = setInterval(() => (peak = Math.max(peak, residentMb(gateway))), 250)
  await wave(seen, streams, sockets)
  clearInterval(look)
  const seconds = (performance.now() - began) / 1000
  const busy = (cpuMicros(gateway) - cpu) / 1e6 / seconds
  console.log(
    `${name} wave: ${seen.turns} answers, ${seen.most} at once, ${seconds.toFixed(1)} s, ${Math.round(busy * 100)} % of a core`,
  )
  rows.push({ when: `peak of the ${name} wave`, 'memory MB': Math.round(peak) })
  rows.push({ when: `after the ${name} wave`, 'memory MB': await settled() })
}
console.table(rows)
const errors = waves.flatMap((seen) => [...seen.errors])
for (const [what, count] of errors) console.log(`${count} × ${what}`)
console.log(`errors: ${errors.reduce((sum, [, count]) => sum + count, 0)}`)
process.exit(errors.length === 0 && waves.slice(1).every(({ most }) => most >= streams) ? 0 : 1)

async function ready(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/health/ready`).catch(() => undefined)
    if (answer?.ok) return
    await pause(50)
  }
  throw new Error('the gateway does not start')
}

/** Resident memory in MB, once there is nothing more to do and the garbage is gone. */
async function settled(): Promise<number> {
  await pause(2000)
  process.kill(gateway, 'SIGUSR2')
  await pause(1000)
  return Math.round(residentMb(gateway))
}
