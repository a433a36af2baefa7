// Measures the gateway beside a bare proxy and another gateway in one run, interleaved, and prints medians.
//   npm run bench [-- --rounds 3 --targets bare,sluice --scenarios json32]
//   BENCH_BEFORE=<checkout> npm run bench -- --targets bare,floor,before,sluice   (two versions in turns)
// The figure to trust on a shared machine is processor time per unit, as a ratio within one run.
// Linux only (/proc, taskset); needs cc. The peer is installed into this folder on first use.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMicros, residentMb } from './processes.ts'
import { report } from './report.ts'
import type { Row, Started } from './report.ts'
import { scenarios } from './scenarios.ts'
import type { Scenario } from './scenarios.ts'
import { benchKey, collectorPort, targetsFor } from './targets.ts'
import type { Target } from './targets.ts'

const here = import.meta.dirname
const argument = (name: string, fallback: string) => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : (process.argv[index + 1] ?? fallback)
}
const rounds = Number(argument('rounds', '3'))
const mockPort = Number(argument('port', '19400'))
const work = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
// Not beside the configurations: a gateway reads its own again when a file appears there.
const bodies = join(work, 'bodies')
mkdirSync(bodies)
const native = join(here, 'gwbench')
const source = join(here, 'gwbench.c')
if (!existsSync(native) || statSync(native).mtimeMs < statSync(source).mtimeMs)
  execFileSync('cc', ['-O2', '-o', native, source])

const children = new Set<ChildProcess>()
const stopAll = () => {
  for (const child of children) child.kill('SIGTERM')
  rmSync(work, { recursive: true, force: true })
}
process.on('exit', stopAll)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** Starts a command on one core. */
function start(core: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess & { pid: number } {
  const child = spawn('taskset', ['-c', core, ...command], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', process.env['BENCH_DEBUG'] ? 'inherit' : 'ignore'],
  })
  children.add(child)
  child.on('exit', () => children.delete(child))
  child.stdout.resume()
  if (child.pid === undefined) throw new Error(`cannot start ${command[0]}`)
  return child as ChildProcess & { pid: number }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

function post(target: Target, body: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: target.port,
        method: 'POST',
        path: target.paths.chat,
        headers: { 'content-type': 'application/json', ...target.headers },
        agent: false,
      },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    sent.on('error', () => resolve(0))
    sent.end(body)
  })
}

async function boot(target: Target): Promise<Started> {
  // The first start makes the database and fills the compile cache; what is measured is every other one.
  const { child: first } = await answering(target)
  first.kill('SIGTERM')
  await new Promise((resolve) => first.on('close', resolve))
  const { child, startMs } = await answering(target)
  await pause(500)
  return { target, pid: child.pid, startMs, idleMb: residentMb(child.pid) }
}

async function answering(target: Target): Promise<{ readonly child: ChildProcess & { pid: number }; startMs: number }> {
  const began = performance.now()
  const child = start('1', target.command, target.env)
  const body = JSON.stringify(scenarios.json32.body(target.shape))
  while ((await post(target, body)) !== 200) {
    if (performance.now() - began > 20_000) throw new Error(`${target.name} does not answer`)
    await pause(3)
  }
  return { child, startMs: performance.now() - began }
}

interface Load {
  readonly secs: number
  readonly reqs: number
  readonly errs: number
  readonly ttfb_us: { readonly n: number; readonly p50: number }
  readonly chunk_us: { readonly n: number; readonly p50: number; readonly p99: number }
  readonly total_us: { readonly n: number; readonly p50: number; readonly p99: number }
}

async function load(
  { target, pid }: Started,
  name: string,
  scenario: Scenario,
  round: number,
): Promise<Row | undefined> {
  const path = target.paths[scenario.operation]
  if (path === undefined || (scenario.unit === 'chunk' && !target.streams)) return undefined
  const file = join(bodies, `${name}-${target.shape}.json`)
  writeFileSync(file, JSON.stringify(scenario.body(target.shape)))
  const headers = Object.entries(target.headers).map(([key, value]) => `${key}: ${value}`)
  const before = residentMb(pid)
  const child = start(
    '0',
    [
      native,
      'load',
      String(target.port),
      String(scenario.connections),
      String(scenario.seconds),
      String(scenario.ramp),
      file,
      ...headers,
    ],
    { BENCH_PATH: path },
  )
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const over = new Promise((resolve) => child.on('close', resolve))
  await pause(scenario.ramp * 1000)
  const from = cpuMicros(pid)
  await pause(scenario.seconds * 1000 - 60)
  const spent = (cpuMicros(pid) - from) * (scenario.seconds / (scenario.seconds - 0.06))
  const grown = residentMb(pid) - before
  await over
  const result = JSON.parse(output) as Load
  const units = scenario.unit === 'request' ? result.reqs : result.chunk_us.n
  return {
    target: target.name,
    scenario: name,
    round,
    cpu: spent / units,
    rate: units / result.secs,
    firstByte: result.ttfb_us.n >= 50 ? result.ttfb_us.p50 : Number.NaN,
    grown,
    errors: result.errs,
  }
}

const names = argument('targets', 'bare,floor,sluice,sluice-translating,portkey').split(',')
const chosen = argument('scenarios', 'json32,decisions,stream-burst,stream-ttfb,stream-1000').split(',')
start('0', [native, 'mock', String(mockPort)])
start('0', [process.execPath, join(here, 'collector.ts'), String(collectorPort(mockPort))])
await pause(200)
const started: Started[] = []
for (const target of targetsFor(names, mockPort, work)) started.push(await boot(target))
// Until V8 has optimized all that a request runs through, what is measured is the compiler.
for (const one of started)
  for (const [name, seconds] of [
    ['json32', 10],
    ['decisions', 5],
    ['stream-burst', 3],
  ] as const)
    await load(one, `warm-up-${name}`, { ...scenarios[name], seconds }, -1)
const rows: Row[] = []
for (let round = 0; round < rounds; round++)
  for (const name of chosen)
    for (const one of started) {
      const scenario = scenarios[name as keyof typeof scenarios]
      await pause(60)
      const row = await load(one, name, scenario, round)
      if (row !== undefined) rows.push(row)
    }
process.stdout.write(report(started, chosen, rows, benchKey))
process.exit(0)
