import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { freePort } from '../../support/free-port.ts'
import { startCommand, startServe } from './process.ts'
import { root, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

/** Milliseconds of processor time that a container may spend on every look. */
const most = 300

describe('cli/health', () => {
  let here: Sandbox
  let gateway: Server
  let port: number
  let answer: RequestListener
  const asked: string[] = []
  beforeEach(async () => {
    here = await sandbox()
    asked.length = 0
    answer = (_, response) => response.end('{"status":"ok"}\n')
    gateway = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      answer(request, response)
    })
    gateway.listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    port = (gateway.address() as AddressInfo).port
  })
  afterEach(async () => {
    gateway.closeAllConnections()
    gateway.close()
    await here.remove()
  })

  it('asks the gateway at an address, and says that it is ready', async () => {
    const url = `http://127.0.0.1:${port}`
    expect(await here.run('health', '--url', `${url}/`)).to.deep.equal({
      status: 0,
      out: [`${url} is ready`],
      error: [],
    })
    expect(asked).to.deep.equal(['GET /api/health/ready'])
    await here.run('health', '--url', `${url}/sluice/`)
    expect(asked[1]).to.equal('GET /sluice/api/health/ready')
  })

  it('prints the answer as it came with --json, whatever it is', async () => {
    const words = ['health', '--json', '--url', `http://127.0.0.1:${port}`]
    expect(await here.run(...words)).to.deep.equal({ status: 0, out: ['{"status":"ok"}'], error: [] })
    answer = (_, response) => response.writeHead(503).end('{"status":"draining","draining":true}')
    const { status, out, error } = await here.run(...words)
    expect([status, out]).to.deep.equal([1, ['{"status":"draining","draining":true}']])
    expect(error).to.have.length(1)
  })

  describe('without an address', () => {
    const listen = (text: string) => here.write('config/sluice.yaml', `listen: ${text}\n`)
    const ready = () => ({ status: 0, out: [`http://127.0.0.1:${port} is ready`], error: [] })

    it('asks at HOST and PORT', async () => {
      await listen('{ host: 192.0.2.1, port: 1 }')
      expect(await here.run(['health'], { HOST: '127.0.0.1', PORT: String(port) })).to.deep.equal(ready())
    })

    it('takes from the configuration what the environment lacks', async () => {
      await listen(`{ host: 192.0.2.1, port: ${port} }`)
      expect(await here.run(['health'], { HOST: '127.0.0.1', PORT: '' })).to.deep.equal(ready())
      await listen(`{ host: 127.0.0.1, port: "\${MY_PORT}" }`)
      expect(await here.run(['health'], { MY_PORT: String(port) })).to.deep.equal(ready())
    })

    it('asks at the loopback address what listens on all addresses', async () => {
      await listen(`{ host: 0.0.0.0, port: ${port} }`)
      expect(await here.run('health')).to.deep.equal(ready())
      const { error } = await here.run(['health'], { HOST: '::', PORT: String(await freePort()) })
      expect(error[0]).to.match(/^sluice: http:\/\/\[::1\]:\d+ is not ready: /)
    })

    it('asks at the usual address where there is no configuration, and beside one that is broken', async () => {
      await listen('{ port: [')
      expect(await here.run(['health'], { PORT: String(port) })).to.deep.equal(ready())
      const { status, error } = await here.run(['health'], { HOST: '127.0.0.2' })
      expect(status).to.equal(1)
      expect(error).to.deep.equal([
        'sluice: http://127.0.0.2:8080 is not ready: nothing listens there (config/sluice.yaml is no YAML)',
      ])
      const empty = await here.run(['health', '--config', 'none.yaml'], { HOST: '127.0.0.2' })
      expect(empty.error[0]).to.include('(none.yaml cannot be read: ENOENT)')
    })
  })

  describe('answers 1 and says in one sentence', () => {
    const says = async (sentence: string, ...words: string[]) => {
      const url = `http://127.0.0.1:${port}`
      const { status, out, error } = await here.run('health', '--url', url, ...words)
      expect([status, out, error]).to.deep.equal([1, [], [`sluice: ${url} is not ready: ${sentence}`]])
    }

    it('which other answer came', async () => {
      answer = (_, response) => response.writeHead(503).end('{"status":"draining"}')
      await says('it answered 503, which means: draining')
      answer = (_, response) => response.writeHead(302, { location: '/' }).end()
      await says('it answered 302')
      answer = (_, response) => response.writeHead(204).end()
      await says('it answered 204')
    })

    it('that none came in time, not even half of one', async () => {
      answer = () => undefined
      await says('no answer within 20ms', '--timeout', '20ms')
      answer = (_, response) => void response.writeHead(200).write('{')
      await says('no answer within 200ms', '--timeout', '200ms')
    })

    it('that the connection is refused, or closed', async () => {
      answer = (request) => request.socket.destroy()
      await says('the connection was closed without an answer')
      port = await freePort()
      await says('nothing listens there')
    })

    it('that the answer does not end', async () => {
      answer = (_, response) => void response.writeHead(200).end('x'.repeat(100_000))
      await says('its answer is larger than 65536 bytes')
    })
  })

  for (const [what, words, environment = {}] of [
    ['a port that nobody knows', ['health', '--config', 'config/any.yaml']],
    ['a port of 0 in the environment', ['health'], { PORT: '0' }],
    ['a port that is none', ['health'], { PORT: 'many' }],
    ['a host that is none', ['health'], { HOST: 'a b' }],
    ['an address that is none', ['health', '--url', 'localhost:8080']],
    ['an address with a query', ['health', '--url', 'http://localhost?a=b']],
    ['a timeout that is none', ['health', '--timeout', '3']],
    ['a timeout of nothing', ['health', '--timeout', '0s']],
    ['an argument', ['health', 'http://localhost']],
  ] as const)
    it(`answers 2 to ${what}`, async () => {
      await here.write('config/any.yaml', 'listen: { port: 0 }\n')
      const { status, out, error } = await here.run(words, environment)
      expect([status, out]).to.deep.equal([2, []])
      expect(error).to.have.length(1)
    })

  it('asks a real gateway, which says when it stops', async () => {
    await here.write('config/sluice.yaml', `listen: { port: ${await freePort()} }\nshutdown: { notice: 1h }\n`)
    await here.write('pipelines/none.test.yaml', '')
    const serving = startServe(here.folder, {}, '--json')
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      expect((await here.run('health')).status).to.equal(0)
      serving.signal('SIGTERM')
      await serving.until(() => serving.error.some((line) => line.includes('stopping')))
      const { status, error } = await here.run('health')
      expect(status).to.equal(1)
      expect(error[0]).to.match(/: it answered 503, which means: draining$/)
    } finally {
      await serving.remove()
    }
  })

  it(`loads no plugin, no database and none of their packages, in ${most} ms of the processor`, async () => {
    await here.write('plugins/mine.ts', `throw new Error('a plugin was loaded')\n`)
    await here.write('config/sluice.yaml', `listen: { port: ${port} }\nplugins: [./plugins]\n`)
    await here.write(
      'watched.mjs',
      `import { registerHooks } from 'node:module'
      registerHooks({ load: (url, given, next) => (console.error('loads ' + url), next(url, given)) })
      process.on('exit', () => console.error('took ' + (process.cpuUsage().user + process.cpuUsage().system)))`,
    )
    const environment = { NODE_OPTIONS: `--import=${here.folder}/watched.mjs` }
    const runs: string[][] = []
    // The first one fills the cache of compiled code.
    for (let run = 0; run < 4; run++) {
      const command = startCommand(here.folder, environment, 'health')
      expect(await command.ended, command.error.join('\n')).to.equal(0)
      runs.push([...command.error])
    }
    const loaded = runs.flat().filter((line) => line.startsWith('loads '))
    expect(loaded.some((line) => line.endsWith('/engine/cli/health.ts'))).to.equal(true)
    expect(
      loaded.filter((line) => /\/plugins\/|better-sqlite3|node_modules\/(ajv|koa|undici)\//.test(line)),
    ).to.deep.equal([])
    const times = runs.flat().flatMap((line) => /^took (\d+)$/.exec(line)?.slice(1).map(Number) ?? [])
    expect(times).to.have.length(4)
    expect(Math.min(...times) / 1000).to.be.below(most)
  })

  it('is part of the command line that asks nobody for a plugin', () => {
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'engine/bin/sluice.cjs'), 'health', '--help'], {
      cwd: here.folder,
      encoding: 'utf8',
    })
    expect(status).to.equal(0)
    expect(stdout).to.match(/--url <url>[\s\S]*--timeout <time>/)
  })
})
