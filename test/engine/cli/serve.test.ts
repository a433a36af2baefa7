import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDatabase } from '../../../engine/store/database.ts'
import { freePort } from '../../support/free-port.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { startBelowShell, startCommand, startServe } from './process.ts'
import type { Serving } from './process.ts'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

/** A step that leaves a rejection that nobody handles. */
const crash = `export default {
  kind: 'stage', name: 'crash', summary: 'Fails behind the back of its request.',
  config: { type: 'object', additionalProperties: false, properties: {} }, needs: [], provides: ['reply'],
  build: () => () => {
    void Promise.reject(new Error('nobody caught this'))
    return { reply: { status: 200, headers: {}, body: { kind: 'json', value: {} } } }
  },
}
`
const pipelines = {
  'pipelines/chat.yaml':
    'name: chat\nsummary: Chat.\nprotocol: chat\nroutes: [POST /chat]\nwithout: [limit, allow, reserve, breaker, price, charge, log]\nstages: [auth, parse, resolve, requested, { attempt: { do: [translate, call, translate-back] } }]\nfinally: [price, { log: { type: chat } }]\n',
  'pipelines/crash.yaml': 'name: crash\nsummary: Fails.\npublic: true\nroutes: [GET /crash]\nstages: [crash]\n',
  'pipelines/health.yaml':
    'name: ready\nsummary: Ready.\npublic: true\nroutes: [GET /ready]\nstages: [{ health: { report: ready } }]\n',
}
const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

describe('cli/serve', function () {
  let here: Sandbox
  let upstream: ScriptedUpstream
  let serving: Serving | undefined
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    here = await sandbox({ ...pipelines, 'plugins/crash.ts': crash })
    serving = undefined
  })
  afterEach(async () => {
    await serving?.remove()
    await upstream.close()
    await here.remove()
  })

  /** Writes the configuration and starts it. */
  const start = async (listen: string, environment: Record<string, string> = {}, ...words: string[]) => {
    const providers = `[{ name: far, type: compatible, base_url: '${upstream.url}' }]`
    await here.write(
      'config/sluice.yaml',
      `listen: ${listen}\nshutdown: { notice: "\${NOTICE:-0s}" }\ndatabase: { url: 'sqlite:${here.folder}/sluice.db' }\nproviders: ${providers}\nmodels: [{ name: m, provider: far }]\n`,
    )
    return (serving = startServe(here.folder, environment, ...words))
  }
  /** The log, which is JSON, and what else stands in standard error. */
  const logOf = ({ error }: Serving) =>
    error
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { pid: number; level: string; msg: string; err?: { message: string } })
  const said = ({ error }: Serving) => error.filter((line) => !line.startsWith('{'))
  const livePids = (process: Serving) =>
    new Set(logOf(process).flatMap(({ msg, pid }) => (msg === 'the configuration is live' ? [pid] : [])))
  /** What was said in JSON on standard output, once it serves. */
  const introduced = async (process: Serving) => {
    await process.until(() => process.out.some((line) => line.includes('"url"')))
    return Object.assign({}, ...process.out.map((line) => JSON.parse(line) as object)) as { url: string; key: string }
  }
  /** Some process listens: its configuration is live a moment before. */
  const listening = async ({ url }: { url: string }) => {
    for (let heard = false; !heard;)
      heard = await fetch(url).then(
        ({ ok, status }) => ok || status === 404 || status === 503,
        () => false,
      )
  }
  /** A stream that is under way until `finish`; the answer is its whole text. */
  const streaming = async ({ url, key }: { url: string; key: string }) => {
    const gate = Promise.withResolvers<void>()
    async function* slow() {
      yield chunk('one')
      await gate.promise
      yield `${chunk('two')}data: [DONE]\n\n`
    }
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: slow() })
    const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/chat`, { method: 'POST', headers, body })
    expect(response.status).to.equal(200)
    return { text: response.text(), finish: () => gate.resolve() }
  }
  const rows = async () => {
    const database = await openDatabase(`sqlite:${here.folder}/sluice.db`)
    try {
      return await tablesOf(database).selectFrom('requests').select(['type', 'result']).execute()
    } finally {
      await database.close()
    }
  }

  it('loads no query builder for a database that needs nothing done, not even to answer and to log', async function () {
    this.timeout(300_000)
    await here.write(
      'loaded.mjs',
      `import { registerHooks } from 'node:module'
      registerHooks({ load: (url, given, next) => {
        if (url.includes('/node_modules/kysely/')) console.error('loads ' + url)
        return next(url, given)
      } })`,
    )
    const environment = { NODE_OPTIONS: `--import=${here.folder}/loaded.mjs` }
    const loads = (process: Serving) => said(process).filter((line) => line.startsWith('loads '))
    const first = await start('{ port: 0 }', environment, '--json')
    const { key } = await introduced(first)
    expect(loads(first)).not.to.deep.equal([])
    first.signal('SIGTERM')
    await first.ended
    const second = await start('{ port: 0 }', environment, '--json')
    const { url } = await introduced(second)
    await listening({ url })
    upstream.answer({ body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] } })
    const answer = await fetch(`${url}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect(answer.status, await answer.text()).to.equal(200)
    second.signal('SIGTERM')
    expect(await second.ended).to.equal(0)
    expect(loads(second)).to.deep.equal([])
  })

  it('writes results to standard output and the log to standard error', async () => {
    const process = await start('{ port: 0 }')
    await process.until(() => process.out.some((line) => line.includes('-d ')))
    process.interrupt('SIGTERM')
    expect(await process.ended).to.equal(0)
    expect(process.out[0]).to.equal('An API key was created for you. It is shown only once:')
    expect(process.out[2]).to.match(/^ {2}sk-sluice-[\w-]{43}$/)
    expect(process.out.filter((line) => line.startsWith('{'))).to.deep.equal([])
    expect(said(process)).to.deep.equal([])
    expect(logOf(process).map(({ msg }) => msg)).to.include('the configuration is live')
  })

  it('writes JSON alone to standard output', async () => {
    const process = await start('{ port: 0 }', {}, '--json')
    const { url, key } = await introduced(process)
    const response = await fetch(`${url}/chat`, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
    expect(response.status).to.equal(400)
    process.interrupt('SIGTERM')
    expect(await process.ended).to.equal(0)
    const printed = process.out.map((line) => JSON.parse(line) as Record<string, string>)
    expect(printed.map((one) => Object.keys(one))).to.deep.equal([['key'], ['url'], ['setup_url']])
    expect(printed[2]?.['setup_url']).to.match(new RegExp(`^${url}/setup#token=[\\w-]{43}$`))
  })

  it('ends in order, with exit code 1, after a rejection that nobody handled', async () => {
    const process = await start('{ port: 0 }', {}, '--json')
    const served = await introduced(process)
    const { text, finish } = await streaming(served)
    await fetch(`${served.url}/crash`)
    await process.until(() => logOf(process).some(({ level }) => level === 'fatal'))
    finish()
    expect(await text)
      .to.contain('"two"')
      .and.to.contain('[DONE]')
    expect(await process.ended).to.equal(1)
    const fatal = logOf(process).filter(({ level }) => level === 'fatal')
    expect(fatal.map(({ err }) => err?.message)).to.deep.equal(['nobody caught this'])
    expect(await rows()).to.deep.equal([{ type: 'chat', result: 'completed' }])
  })

  sideBySide('says which plugin never finishes loading, as `check` does, and ends', async () => {
    const own = await sandbox({ 'plugins/endless.ts': 'await new Promise(() => {})\nexport default {}\n' })
    const finding =
      'plugins/endless.ts:1:1: cannot be loaded: it had not finished loading after 10 seconds; ' +
      'does a top-level "await" never end? [plugin]'
    const started = [startServe(own.folder), startCommand(own.folder, {}, 'check')] as const
    const [process, checking] = started
    try {
      expect(await checking.ended).to.equal(1)
      expect(checking.out).to.include(finding)
      expect(await process.ended).to.equal(1)
      expect(process.error.join('\n')).to.include(JSON.stringify(finding).slice(1, -1))
    } finally {
      await Promise.all(started.map((one) => one.remove()))
      await own.remove()
    }
  })

  for (const workers of [1, 2])
    it(`reads its files again on SIGHUP alone when it does not watch them, with workers: ${workers}`, async () => {
      const process = await start(`{ port: 0, workers: ${workers} }`, {}, '--json', '--no-watch')
      const { url } = await introduced(process)
      await process.until(() => livePids(process).size === workers)
      await here.write(
        'pipelines/more.yaml',
        pipelines['pipelines/health.yaml'].replaceAll('ready', 'more').replace('report: more', 'report: ready'),
      )
      // Whoever accepts HTML gets the page of the console where nothing else is served.
      const more = () => fetch(`${url}/more`, { headers: { accept: 'application/json' } })
      expect((await more()).status).to.equal(404)
      process.signal('SIGHUP')
      const live = () => logOf(process).filter(({ msg }) => msg === 'the configuration is live').length
      await process.until(() => live() === 2 * workers)
      for (let asked = 0; asked < 4; asked++) expect((await more()).status).to.equal(200)
      process.interrupt('SIGTERM')
      expect(await process.ended).to.equal(0)
      expect(live()).to.equal(2 * workers)
    })

  it('follows its files without being asked to', async () => {
    const process = await start('{ port: 0 }', {}, '--json')
    await introduced(process)
    await here.write('plugins/later.ts', crash.replaceAll('crash', 'later'))
    await process.until(() => logOf(process).filter(({ msg }) => msg === 'the configuration is live').length === 2)
  })

  it('ends in order when the npm that started it is gone, although a shell stands in between', async () => {
    await start('{ port: 0 }').then((first) => first.remove())
    const process = (serving = startBelowShell(here.folder))
    await introduced(process)
    process.signal('SIGKILL')
    await process.ended
    expect(logOf(process).map(({ msg }) => msg)).to.include('stopping: requests under way may finish')
    expect(said(process)).to.deep.equal([])
  })

  for (const workers of [1, 2])
    it(`takes requests for a while after SIGTERM, and says that it is not ready, with workers: ${workers}`, async () => {
      const process = await start(`{ port: 0, workers: ${workers} }`, { NOTICE: '1h' }, '--json')
      const served = await introduced(process)
      await process.until(() => livePids(process).size === workers)
      process.interrupt('SIGTERM')
      const stopping = () => logOf(process).filter(({ msg }) => msg.startsWith('stopping')).length
      await process.until(() => stopping() === (workers === 1 ? 1 : workers + 1))
      // Enough of them to reach every process.
      for (let asked = 0; asked < 4; asked++) {
        const ready = await fetch(`${served.url}/ready`)
        expect(ready.status).to.equal(503)
        expect(await ready.json()).to.include({ status: 'draining', draining: true })
      }
      const { text, finish } = await streaming(served)
      finish()
      expect(await text).to.contain('[DONE]')
    })

  it('says in one line that its database cannot be used', async () => {
    const process = await start('{ port: 0 }', { DATABASE_URL: 'sqlite:/dev/null/sluice.db' })
    expect(await process.ended).to.equal(1)
    expect(said(process)).to.have.length(1)
    expect(said(process)[0]).to.match(
      /^sluice cannot start: the folder \/dev\/null of the database cannot be written: /,
    )
    expect(logOf(process).filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  it('says in one line that the file of the environment cannot be read', async () => {
    await here.write('.env/is-a-folder', '')
    const process = await start('{ port: 0 }')
    expect(await process.ended).to.equal(1)
    expect(process.error).to.deep.equal(['sluice: .env cannot be read: EISDIR'])
  })

  describe('where it cannot listen', () => {
    let taken: Server
    let port: number
    beforeEach(async () => {
      taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      port = (taken.address() as AddressInfo).port
    })
    afterEach(() => taken.close())

    for (const [reason, host] of [
      ['the port is in use', '127.0.0.1'],
      ['this machine has no such address', '192.0.2.1'],
    ] as const)
      it(`says in one line that ${reason}`, async () => {
        const process = await start(`{ port: ${port} }`, { HOST: host })
        expect(await process.ended).to.equal(1)
        expect(said(process)).to.deep.equal([`sluice cannot start: cannot listen on ${host}:${port}: ${reason}`])
        expect(livePids(process)).to.have.property('size', 0)
        expect(process.out).to.deep.equal([])
      })

    it('ends with several processes too, and has shown the key it made', async () => {
      const process = await start(`{ port: ${port}, workers: 3 }`, {}, '--json')
      expect(await process.ended).to.equal(1)
      expect(said(process)).to.deep.equal([
        `sluice cannot start: cannot listen on 127.0.0.1:${port}: the port is in use`,
      ])
      expect(livePids(process)).to.have.property('size', 0)
      expect(process.out.map((line) => Object.keys(JSON.parse(line) as object))).to.deep.equal([['key']])
    })
  })

  describe('with several processes', () => {
    it('takes their number from the environment, finishes what is under way on Ctrl-C, and replaces what dies', async () => {
      // Were no process there for a moment, port 0 would become another one.
      const listen = `{ port: ${await freePort()}, workers: "\${WORKERS:-1}" }`
      const process = await start(listen, { WORKERS: '2' }, '--json')
      const served = await introduced(process)
      await process.until(() => livePids(process).size === 2)

      const [victim = 0] = livePids(process)
      globalThis.process.kill(victim, 'SIGKILL')
      await process.until(() => livePids(process).size === 3)
      await listening(served)

      const { text, finish } = await streaming(served)
      process.interrupt('SIGINT')
      await process.until(() => logOf(process).filter(({ msg }) => msg.startsWith('stopping')).length === 3)
      finish()
      expect(await text)
        .to.contain('"two"')
        .and.to.contain('[DONE]')
      expect(await process.ended).to.equal(0)
      expect(await rows()).to.deep.equal([{ type: 'chat', result: 'completed' }])
      expect(said(process)).to.deep.equal([])
    })

    it('is ready when all of them serve', async () => {
      const late = `import cluster from 'node:cluster'
        import { existsSync } from 'node:fs'
        import { setTimeout as pause } from 'node:timers/promises'
        while (cluster.worker?.id === 2 && !existsSync(${JSON.stringify(join(here.folder, 'go'))})) await pause(5)
        export default { kind: 'stage', name: 'late', summary: 'Loads late.', needs: [], provides: [],
          config: { type: 'object', additionalProperties: false, properties: {} }, build: () => () => ({}) }
        `
      await here.write('plugins/late.ts', late)
      const process = await start(`{ port: ${await freePort()}, workers: 2 }`, {}, '--json')
      const { url } = await introduced(process)
      // The first one serves, and says that the gateway is not ready yet.
      await listening({ url: `${url}/ready` })
      const ready = () => fetch(`${url}/ready`)
      const early = await ready()
      expect(early.status).to.equal(503)
      expect(await early.json()).to.have.property('status', 'starting')
      await here.write('go', '')
      await until(async () => (await ready()).status === 200)
      await process.until(() => livePids(process).size === 2)
      // One that takes the place of another is ready at once.
      globalThis.process.kill([...livePids(process)][0] as number, 'SIGKILL')
      await process.until(() => livePids(process).size === 3)
      for (let asked = 0; asked < 20; asked++) expect((await ready()).status).to.equal(200)
    })

    it('resets the connections that were handed to a process that dies', async () => {
      const process = await start(`{ port: ${await freePort()}, workers: 2 }`, {}, '--json')
      const { url } = await introduced(process)
      await process.until(() => livePids(process).size === 2)
      const { hostname, port } = new URL(url)
      // Serving processes stand still: what is handed to them now, they never take.
      const pids = [...livePids(process)]
      for (const pid of pids) globalThis.process.kill(pid, 'SIGSTOP')
      const clients = pids.map(() => createConnection(Number(port), hostname))
      await Promise.all(clients.map((client) => once(client, 'connect')))
      const closed = clients.map((client) =>
        once(
          client.on('error', () => undefined),
          'close',
        ),
      )
      for (const pid of pids) globalThis.process.kill(pid, 'SIGKILL')
      await Promise.all(closed)
    })
  })
})
