import { request } from 'node:http'
import { join } from 'node:path'
import BetterSqlite from 'better-sqlite3'
import { expect } from 'chai'
import { startServe } from '../engine/cli/process.ts'
import type { Serving } from '../engine/cli/process.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { freePort } from '../support/free-port.ts'
import { bothTypes, rawRequest } from '../support/mcp.ts'
import type { Rpc } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { call, initialize, isAlive, stdio } from './program.ts'

const key = 'sk-test-0123456789abcdef0123456789abcdef'

describe('mcp/processes', function () {
  this.timeout(300_000)
  let here: Awaited<ReturnType<typeof sandbox>>
  let serving: Serving
  let url: string

  beforeEach(async () => {
    here = await sandbox({})
    const port = await freePort()
    url = `http://127.0.0.1:${port}/servers/tools/mcp`
    const settings = {
      listen: { port, workers: 2 },
      shutdown: { notice: '0s' },
      database: { url: `sqlite:${here.folder}/sluice.db` },
      providers: [{ name: 'echo', type: 'echo' }],
      models: [{ name: 'echo', provider: 'echo' }],
      api_keys: [{ name: 'test', key, mcp_servers: ['tools'], rate_limit: { concurrency: 2 } }],
      mcp_servers: [stdio('tools')],
    }
    await here.write('config/sluice.yaml', JSON.stringify(settings))
    serving = startServe(here.folder)
    const live = () => serving.error.filter((line) => line.includes('the configuration is live')).length
    await serving.until(() => live() === 2)
  })
  afterEach(async () => {
    serving.interrupt('SIGTERM')
    await serving.ended
    await serving.remove()
    await here.remove()
  })

  /** Each request has a connection of its own; the processes take connections in turn. */
  const headersOf = (session?: string) => ({
    authorization: `Bearer ${key}`,
    accept: bothTypes,
    'content-type': 'application/json',
    connection: 'close',
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  })
  const ask = (method: string, session?: string, message?: Rpc) =>
    rawRequest(url, method, headersOf(session), message && JSON.stringify(message))
  const opened = async () => {
    const { status, text, headers } = await ask('POST', undefined, initialize())
    expect([status, text]).to.deep.include(200)
    return String(headers['mcp-session-id'])
  }
  /** Asks, and leaves with the first bytes of the answer. */
  const askAndLeave = (session: string, message: Rpc) =>
    new Promise<void>((resolve, reject) => {
      const asking = request(url, { method: 'POST', headers: headersOf(session) }, (response) => {
        response.on('error', () => undefined).once('data', () => asking.destroy())
        response.once('close', resolve)
      })
      asking.once('error', reject)
      asking.end(JSON.stringify(message))
    })
  const pidOf = (text: string) => Number(/\\"pid\\":(\d+)/.exec(text)?.[1])
  const facts = call(1, 'facts')

  it('a session of a program is served by every process of the gateway', async () => {
    const session = await opened()
    const pids = new Set<number>()
    for (let count = 0; count < 6; count++) {
      const { status, text } = await ask('POST', session, facts)
      expect(status, text).to.equal(200)
      pids.add(pidOf(text))
    }
    expect([...pids])
      .to.have.length(1)
      .and.to.not.include(Number.NaN)
    expect((await ask('DELETE', session)).status).to.equal(200)
    for (let count = 0; count < 4; count++) expect((await ask('POST', session, facts)).status).to.equal(404)
    await until(() => [...pids].every((pid) => !isAlive(pid)))
  })

  it('a call keeps its place although its client has left, whichever process has passed it on', async () => {
    const rows = () => {
      const database = new BetterSqlite(join(here.folder, 'sluice.db'), { readonly: true })
      const { count } = database.prepare('select count(*) as count from requests').get() as { count: number }
      database.close()
      return count
    }
    const session = await opened()
    const pid = pidOf((await ask('POST', session, facts)).text)
    // One of the two is passed on by the process that has the program, and the other by the other one.
    for (const id of [1, 2]) await askAndLeave(session, call(id, 'wait'))
    await until(() => rows() === 4)
    let id = 2
    const status = async () => (await ask('POST', session, call(++id, 'facts'))).status
    for (let count = 0; count < 4; count++) expect(await status()).to.equal(429)
    process.kill(pid, 'SIGUSR2')
    await until(async () => (await status()) === 200)
    for (let count = 0; count < 4; count++) expect(await status()).to.equal(200)
  })
})
