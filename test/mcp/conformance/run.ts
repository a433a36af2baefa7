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
import { conformanceServer } from './server.ts'

// Runs the official conformance suite against a server directly, and against the same server behind the gateway, over
// HTTP and as a program. The gateway is right if as many checks pass. It takes a few minutes, because over stdio each
// session of the suite starts a process.
//   npm run conformance:mcp [-- --only stdio]

const root = join(import.meta.dirname, '..', '..', '..')
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : ''
const released = join(root, 'node_modules/mcp-conformance/dist/index.js')
const next = join(root, 'node_modules/mcp-conformance-next/dist/index.js')

interface Run {
  readonly name: string
  readonly suite: string
  readonly options: readonly string[]
  /** Checks that pass: of the server directly and over HTTP, and over stdio. */
  readonly http: number
  readonly stdio?: number
}

const runs: readonly Run[] = [
  { name: '0.1.16', suite: released, options: [], http: 40, stdio: 40 },
  // No stream of a program is ended in the middle of a call.
  { name: '0.1.16 server-sse-polling', suite: released, options: ['--scenario', 'server-sse-polling'], http: 3 },
  { name: '0.2.0-alpha.12', suite: next, options: [], http: 73, stdio: 73 },
  {
    name: '0.2.0-alpha.12 for 2025-11-25',
    suite: next,
    options: ['--requirements', '2025-11-25'],
    http: 84,
    stdio: 83,
  },
]

/**
 * Most runs until all checks pass. On a busy machine, the suite and the official server package now and then lose the
 * answer to a request of the server, also without the gateway.
 */
const mostTries = 5

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
  transport: { eventStore: eventStore(), retryInterval: 100 },
  // The requests that the suite writes itself name an earlier revision than its session has.
  version: '2025-11-25',
  isLocal: true,
})
const program = [join(import.meta.dirname, 'program.ts')]
const gateway = await startGateway({
  records: {
    mcp_servers: [
      { name: 'http', transport: 'http', url: `${upstream.url}/mcp` },
      { name: 'stdio', transport: 'stdio', command: process.execPath, arguments: program },
    ],
  },
})
const proxy = await startProxy(gateway)
try {
  for (const one of runs) {
    const places: [name: string, url: string, wanted: number | undefined][] = [
      ['directly', `${upstream.url}/mcp`, one.http],
      ['over HTTP', `${proxy.url}/servers/http/mcp`, one.http],
      ['over stdio', `${proxy.url}/servers/stdio/mcp`, one.stdio],
    ]
    for (const [place, url, wanted] of places) {
      if (wanted === undefined || !place.endsWith(only)) continue
      let { passed, failed, output } = await run(one, url)
      const isRight = () => passed === wanted && failed === 0
      for (let tries = 1; tries < mostTries && !isRight(); tries++) ({ passed, failed, output } = await run(one, url))
      console.log(
        `${isRight() ? 'ok  ' : 'FAIL'} ${one.name}, ${place}: ${passed} of ${wanted} passed, ${failed} failed`,
      )
      if (isRight()) continue
      console.log(output)
      process.exitCode = 1
    }
  }
} finally {
  proxy.close()
  await gateway.close()
  await upstream.close()
}
