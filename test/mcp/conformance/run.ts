import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { startSdkServer } from '../../support/mcp-sdk.ts'
import { eventStore } from './event-store.ts'
import { changes, statelessServer } from './rounds.ts'
import { conformanceServer } from './server.ts'

// Runs the official conformance suite against a server directly, and against the same server behind the gateway, over
// HTTP and as a program. The gateway is right if as many checks pass. Most of the time goes to programs, of which each
// session of the suite starts one.
//   npm run conformance:mcp [-- --only stdio]

const root = join(import.meta.dirname, '..', '..', '..')
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : ''
const released = join(root, 'node_modules/mcp-conformance/dist/index.js')
const next = join(root, 'node_modules/mcp-conformance-next/dist/index.js')

interface Run {
  readonly name: string
  readonly suite: string
  readonly options: readonly string[]
  /** What the checks come to: of the server directly, behind the gateway over HTTP, and over stdio. */
  readonly directly: Checks
  readonly http?: Checks
  readonly stdio?: Checks
  /** Whether the server without sessions is asked. */
  readonly isStateless?: true
}

interface Checks {
  readonly passed: number
  readonly failed?: number
}

const all = (passed: number): Checks => ({ passed })

const runs: readonly Run[] = [
  { name: '0.1.16', suite: released, options: [], directly: all(40), stdio: all(40) },
  // No stream of a program is ended in the middle of a call.
  {
    name: '0.1.16 server-sse-polling',
    suite: released,
    options: ['--scenario', 'server-sse-polling'],
    directly: all(3),
  },
  { name: '0.2.0-alpha.12', suite: next, options: [], directly: all(73), stdio: all(73) },
  {
    name: '0.2.0-alpha.12 for 2025-11-25',
    suite: next,
    options: ['--requirements', '2025-11-25'],
    directly: all(84),
    stdio: all(83),
  },
  {
    // Checks of the extension for tasks fail, which the server does not have and the revision does not require. The
    // server also does not compare `mcp-param-*` headers with the arguments; the gateway does.
    name: '0.2.0-alpha.12 for 2026-07-28',
    suite: next,
    options: ['--requirements', '2026-07-28'],
    directly: { passed: 158, failed: 36 },
    http: { passed: 164, failed: 30 },
    isStateless: true,
  },
]

/** What a run printed, with the numbers of checks. */
interface Result {
  readonly passed: number
  readonly failed: number
  readonly output: string
}

async function run({ suite, options }: Run, url: string): Promise<Result> {
  const given = [suite, 'server', '--url', url, ...options]
  // Failed checks make it exit with 1; what it prints tells them.
  const { stdout: output } = await promisify(execFile)(process.execPath, given, {
    cwd: root,
    maxBuffer: 2 ** 26,
  }).catch((error: { readonly stdout: string }) => error)
  const totals = [
    ...output.matchAll(/^(?:Total: (\d+) passed|Passed: (\d+)\/\d+), (\d+) failed(?:, (\d+) warnings)?/gm),
  ].at(-1)
  if (totals === undefined) throw new Error(`no totals in: ${output.slice(-2_000)}`)
  const [, all, one, failed, warnings = '0'] = totals
  return { passed: Number(all ?? one), failed: Number(failed) + Number(warnings), output }
}

/** The suite sends no credentials: a proxy adds them, and changes nothing else. */
async function startProxy({ url, key }: RunningGateway) {
  const proxy = createServer((incoming, response) => {
    const { method, headers, url: path = '' } = incoming
    const given = { method, headers: { ...headers, authorization: `Bearer ${key}` } }
    const passed = ask(`${url}${path}`, given, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const close = () => {
    proxy.close()
    proxy.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close }
}

const upstream = await startSdkServer({
  make: conformanceServer,
  makeStateless: statelessServer,
  changes,
  transport: { eventStore: eventStore(), retryInterval: 100 },
  // The requests that the suite writes itself name an earlier revision than its session has.
  version: '2025-11-25',
  isLocal: true,
})
const program = [join(import.meta.dirname, 'program.ts')]
const gateway = await startGateway({
  key_fields: { mcp_servers: ['http', 'stateless', 'stdio'] },
  // The clients of the suite leave their sessions.
  server_config: { mcp_security: { sessions_per_key: 10_000, programs_per_key: 256 } },
  records: {
    mcp_servers: [
      { name: 'http', transport: 'http', url: `${upstream.url}/mcp` },
      { name: 'stateless', transport: 'http', url: `${upstream.url}/stateless` },
      { name: 'stdio', transport: 'stdio', command: process.execPath, arguments: program },
    ],
  },
})
const proxy = await startProxy(gateway)
try {
  for (const one of runs) {
    const places: [name: string, url: string, wanted: Checks | undefined][] = [
      ['directly', `${upstream.url}/${one.isStateless ? 'stateless' : 'mcp'}`, one.directly],
      ['over HTTP', `${proxy.url}/servers/${one.isStateless ? 'stateless' : 'http'}/mcp`, one.http ?? one.directly],
      ['over stdio', `${proxy.url}/servers/stdio/mcp`, one.stdio],
    ]
    for (const [place, url, wanted] of places) {
      if (wanted === undefined || !place.endsWith(only)) continue
      const { passed, failed, output } = await run(one, url)
      const isRight = passed === wanted.passed && failed === (wanted.failed ?? 0)
      console.log(
        `${isRight ? 'ok  ' : 'FAIL'} ${one.name}, ${place}: ${passed} of ${wanted.passed} passed, ${failed} failed`,
      )
      if (isRight) continue
      console.log(output)
      process.exitCode = 1
    }
  }
} finally {
  proxy.close()
  await gateway.close()
  await upstream.close()
}
