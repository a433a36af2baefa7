import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scenario, Shape } from './scenarios.ts'

export interface Target {
  readonly name: string
  readonly port: number
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Where it serves what; a scenario of anything else leaves it out. */
  readonly paths: Readonly<Partial<Record<Scenario['operation'], string>>>
  readonly headers: Readonly<Record<string, string>>
  readonly shape: Shape
  /** It serves streams, too. */
  readonly streams: boolean
}

const here = import.meta.dirname
const checkout = join(here, '..', '..')
export const benchKey = 'sk-sluice-bench-0000000000000000000000000000'

/** What is measured, each on a port of its own above `mockPort`. */
export function targetsFor(names: readonly string[], mockPort: number, work: string): Target[] {
  return names.map((name, index) => make(name, mockPort + 1 + index, mockPort, work))
}

function make(name: string, port: number, mockPort: number, work: string): Target {
  const common = {
    name,
    port,
    env: {},
    paths: { chat: '/v1/chat/completions', decisions: '/v1/decisions' },
    headers: { authorization: `Bearer ${benchKey}` },
    shape: 'chat' as Shape,
    streams: true,
  }
  switch (name) {
    case 'bare':
      return { ...common, command: [process.execPath, join(here, 'bare.ts'), String(port), String(mockPort)] }
    case 'floor':
      return {
        ...common,
        command: [process.execPath, join(here, 'floor.ts'), String(port), String(mockPort), join(work, 'floor.db')],
        env: { BENCH_KEY: benchKey },
        paths: { chat: common.paths.chat },
        streams: false,
      }
    case 'sluice':
    case 'sluice-limited':
    case 'before':
      return { ...common, ...gateway(common, mockPort, work, 'native') }
    case 'sluice-unmeasured':
      return { ...common, ...gateway(common, mockPort, work, 'native', { telemetry: { metrics: { enabled: false } } }) }
    case 'sluice-traced':
    case 'sluice-traced-content': {
      const traces = name === 'sluice-traced' ? {} : { content: 'span' }
      const target = gateway(common, mockPort, work, 'native', { telemetry: { traces } })
      const endpoint = `http://127.0.0.1:${collectorPort(mockPort)}`
      return { ...common, ...target, env: { ...target.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } }
    }
    case 'sluice-guarded':
      return { ...common, ...gateway(common, mockPort, work, 'native', {}, guards) }
    case 'sluice-translating':
    case 'before-translating':
      return {
        ...common,
        ...gateway(common, mockPort, work, 'bridge_a'),
        paths: { ...common.paths, chat: '/v1/messages' },
        shape: 'messages',
      }
    case 'portkey':
      return { ...common, ...peer(port, mockPort), paths: { chat: common.paths.chat } }
    default:
      return { ...common, ...further(name, port, mockPort), paths: { chat: common.paths.chat }, streams: false }
  }
}

/** Where what traces is sent to: beyond the ports of all targets. */
export const collectorPort = (mockPort: number) => mockPort + 90

/** What judges text on its own, of requests and answers alike. */
const guards = ['pii', 'secrets'].map((kind) => ({ name: kind, kind, side: ['input', 'output'] }))

/** Limits that nobody reaches: of requests, tokens, places and money. */
const rate = { requests: 1_000_000_000, tokens: 1_000_000_000_000, concurrency: 100_000, period: '60s' }
const budget = { usd: 1_000_000, period: 'month' }

/** @param judge type of the provider that decides: of the client's own protocol, or a bridge to the other one */
function gateway(
  { name, port }: Pick<Target, 'name' | 'port'>,
  mockPort: number,
  work: string,
  judge: string,
  settings: object = {},
  guards: readonly object[] = [],
) {
  const config = join(work, `${name}.yaml`)
  const isLimited = name === 'sluice-limited'
  // Another checkout, to compare two versions in turns.
  const root = name.startsWith('before') ? (process.env['BENCH_BEFORE'] ?? checkout) : checkout
  const upstream = { base_url: `http://127.0.0.1:${mockPort}/v1`, api_key: 'sk-upstream' }
  const streams = ['mock', 'mock-c200-d0', 'mock-c5-d4', 'mock-c100-d40']
  writeFileSync(
    config,
    JSON.stringify({
      listen: { host: '127.0.0.1', port },
      database: { url: `sqlite:${join(work, `${name}.db`)}` },
      plugins: [join(root, 'plugins')],
      pipelines: join(root, 'pipelines'),
      providers: [
        { name: 'mock', type: 'compatible', ...upstream },
        { name: 'judge', type: judge, ...upstream },
      ],
      models: [
        ...streams.map((model) => ({ name: model, provider: 'mock', pricing: { input: 1, output: 2 } })),
        { name: 'judge', provider: 'judge', supports_mapeval: true, pricing: { input: 1, output: 2 } },
      ],
      api_keys: [{ name: 'bench', key: benchKey, ...(isLimited ? { rate_limit: rate, budget } : {}) }],
      server_config: {
        ...(isLimited ? { rate_limits: { server: rate, budget: { server: budget } } } : {}),
        ...settings,
      },
      guards,
    }),
  )
  return {
    command: [process.execPath, join(root, 'engine', 'bin', 'sluice.cjs'), 'serve'],
    env: { SLUICE_CONFIG: config, PORT: String(port) },
  }
}

function peer(port: number, mockPort: number) {
  const entry = join(here, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
  if (!existsSync(entry))
    execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error'], {
      cwd: here,
      stdio: 'inherit',
    })
  return {
    command: [process.execPath, entry, `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    headers: {
      authorization: `Bearer ${benchKey}`,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${mockPort}/v1`,
    },
  }
}

/** A proxy of one's own, from `BENCH_EXTRA`: a list of `{ name, command }`, with `$PORT` and `$MOCK` for the two ports. */
function further(name: string, port: number, mockPort: number) {
  const extra = JSON.parse(process.env['BENCH_EXTRA'] ?? '[]') as { name: string; command: string[] }[]
  const found = extra.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no target named "${name}"`)
  const command = found.command.map((word) => word.replace('$PORT', String(port)).replace('$MOCK', String(mockPort)))
  return { command, env: { BENCH_KEY: benchKey } }
}
