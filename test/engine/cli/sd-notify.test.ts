import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { startServe } from './process.ts'
import type { Serving } from './process.ts'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

/** A datagram socket as systemd's: what it was sent, one text per message. */
interface Datagrams {
  /** Takes what has arrived, and returns all messages so far. */
  read(): readonly string[]
  /** Fills the queue with messages of its own, which `read` leaves out. */
  fill(): void
  close(): void
}

interface Library {
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly bind: (socket: number, address: Buffer, size: number) => number
  readonly recv: (socket: number, into: Buffer, length: bigint, flags: number) => bigint
  readonly sendto: (socket: number, text: Buffer, length: bigint, flags: number, to: Buffer, size: number) => bigint
  readonly close: (socket: number) => number
}

const filling = 'NONSENSE=1'

/** Binds a socket to a path, or with `@` to an abstract name. */
function datagrams(name: string): Datagrams {
  const ffi = process.getBuiltinModule('node:ffi') as unknown as {
    dlopen(library: null, signatures: object): { functions: Library }
  }
  const word = (...words: string[]) => ({ arguments: words.slice(0, -1), return: words.at(-1) })
  const { socket, bind, recv, sendto, close } = ffi.dlopen(null, {
    socket: word('i32', 'i32', 'i32', 'i32'),
    bind: word('i32', 'buffer', 'u32', 'i32'),
    recv: word('i32', 'buffer', 'u64', 'i32', 'i64'),
    sendto: word('i32', 'buffer', 'u64', 'i32', 'buffer', 'u32', 'i64'),
    close: word('i32', 'i32'),
  }).functions
  const family = Buffer.from(endianness() === 'LE' ? [1, 0] : [0, 1])
  const address = Buffer.concat([family, Buffer.from(name.startsWith('@') ? `\0${name.slice(1)}` : `${name}\0`)])
  // AF_UNIX; SOCK_DGRAM | SOCK_CLOEXEC.
  const [receiver, sender] = [socket(1, 2 | 0o2000000, 0), socket(1, 2 | 0o2000000, 0)]
  expect(bind(receiver, address, address.length), `bind ${name}`).to.equal(0)
  const got: string[] = []
  const into = Buffer.alloc(4096)
  const dontWait = 0x40
  return {
    read() {
      for (let size = 0; (size = Number(recv(receiver, into, 4096n, dontWait))) > 0;)
        got.push(into.toString('utf8', 0, size))
      return got.filter((message) => message !== filling)
    },
    fill() {
      const text = Buffer.from(filling)
      while (sendto(sender, text, BigInt(text.length), dontWait, address, address.length) > 0n);
    },
    close: () => [receiver, sender].forEach((one) => close(one)),
  }
}

const isSay = (message: string) => !message.startsWith('WATCHDOG')
/** The messages of a state, such as `READY=1`. */
const those = (messages: readonly string[], state: string) =>
  messages.filter((message) => message.split('\n').includes(state))
const statusOf = (message: string | undefined) => /^STATUS=(.*)$/m.exec(message ?? '')?.[1] ?? ''

describe('what systemd is told', function () {
  let here: Sandbox
  let systemd: Datagrams
  let serving: Serving | undefined
  before(function () {
    if (process.platform !== 'linux') this.skip()
  })
  beforeEach(async () => {
    here = await sandbox()
    systemd = datagrams(join(here.folder, 'notify'))
    serving = undefined
  })
  afterEach(async () => {
    await serving?.remove()
    systemd.close()
    await here.remove()
  })

  const configured = (more = '') =>
    here.write(
      'config/sluice.yaml',
      `listen: { port: "\${MY_PORT}", workers: "\${WORKERS:-1}" }\nshutdown: { notice: "\${NOTICE:-0s}" }\n${more}`,
    )
  const start = async (environment: Record<string, string> = {}, ...words: string[]) => {
    const port = await freePort()
    const given = { NOTIFY_SOCKET: join(here.folder, 'notify'), MY_PORT: String(port), ...environment }
    serving = startServe(here.folder, given, '--json', ...words)
    return { serving, url: `http://127.0.0.1:${port}` }
  }
  /** Waits for a number of messages of a state; fails when the gateway ends. */
  const told = async (state: string, count = 1): Promise<string[]> => {
    let isOver = false
    void serving?.ended.then(() => (isOver = true))
    await until(() => isOver || those(systemd.read(), state).length >= count)
    const messages = those(systemd.read(), state)
    expect(messages.length, serving?.error.join('\n')).to.be.at.least(count)
    return messages
  }
  const logged = () => (serving?.error ?? []).map((line) => JSON.parse(line) as { level: string; msg: string })

  for (const kind of ['a path', 'an abstract name'])
    it(`is that the gateway is ready once its port answers, at ${kind}`, async () => {
      await configured()
      const name = kind === 'a path' ? join(here.folder, 'notify') : `@sluice test ${process.pid}`
      const own = kind === 'a path' ? systemd : (systemd.close(), (systemd = datagrams(name)))
      const { serving, url } = await start({ NOTIFY_SOCKET: name })
      const [ready] = await told('READY=1')
      expect((await fetch(`${url}/api/health/ready`)).status).to.equal(200)
      expect(statusOf(ready)).to.match(new RegExp(`^Serves on ${url} with configuration [0-9a-f]{12}$`))
      serving.signal('SIGTERM')
      expect(await serving.ended).to.equal(0)
      expect(own.read().map((message) => message.split('\n')[0])).to.deep.equal(['READY=1', 'STOPPING=1'])
      // All that it said is JSON: Node's warning that foreign functions may change is not shown.
      expect(logged().filter(({ level }) => level !== 'info')).to.deep.equal([])
    })

  it('is when it reads its configuration again, and why a new one is refused', async () => {
    await configured()
    const { serving } = await start({}, '--no-watch')
    await told('READY=1')
    const microseconds = () => process.hrtime.bigint() / 1000n
    const before = microseconds()
    serving.signal('SIGHUP')
    const [, again] = await told('READY=1', 2)
    const [reloading] = await told('RELOADING=1')
    const at = BigInt(/^MONOTONIC_USEC=(\d+)$/m.exec(reloading ?? '')?.[1] ?? 0)
    expect(at >= before && at <= microseconds(), `${before} ${at}`).to.equal(true)
    expect(statusOf(again)).to.match(/with configuration [0-9a-f]{12}$/)

    await configured('colour: red\n')
    serving.signal('SIGHUP')
    const [, , refused] = await told('READY=1', 3)
    expect(statusOf(refused)).to.match(
      /; a newer configuration is refused: config\/sluice\.yaml:3:1: .*"colour".* \[\S+\]$/,
    )
    const order = systemd.read().flatMap((message) => /^(READY|RELOADING)/.exec(message)?.[1] ?? [])
    expect(order).to.deep.equal(['READY', 'RELOADING', 'READY', 'RELOADING', 'READY'])

    await configured('models: []\n')
    serving.signal('SIGHUP')
    const [, , , accepted] = await told('READY=1', 4)
    expect(statusOf(accepted)).not.to.include('refused')
  })

  it('is also what became of a file that was saved', async () => {
    await configured()
    await start()
    await told('READY=1')
    await configured('colour: "red\\nREADY=1"\n')
    const last = () => statusOf(systemd.read().filter(isSay).at(-1))
    await until(() => last().includes('refused'))
    await configured('models: []\n')
    await until(() => !last().includes('refused'))
    // A saved file is no reload that systemd has asked for, and a text in a file is no word of the gateway.
    expect(those(systemd.read(), 'READY=1')).to.have.length(1)
    expect(those(systemd.read(), 'RELOADING=1')).to.deep.equal([])
  })

  it('is that it stops, before the notice that load balancers get', async () => {
    await configured()
    const { serving, url } = await start({ NOTICE: '1h' })
    await told('READY=1')
    serving.signal('SIGTERM')
    await told('STOPPING=1')
    expect((await fetch(`${url}/api/health/ready`)).status).to.equal(503)
    serving.signal('SIGHUP')
    await serving.until(() => logged().filter(({ msg }) => msg === 'the configuration is live').length === 2)
    // It goes on telling nothing until its end, which a second signal brings. One that follows at once is the first.
    let isOver = false
    void serving.ended.then(() => (isOver = true))
    await until(() => {
      serving.signal('SIGTERM')
      return isOver
    })
    expect(systemd.read().map((message) => message.split('=')[0])).to.deep.equal(['READY', 'STOPPING'])
  })

  it('is that it lives, as often as systemd wants to hear', async () => {
    await configured()
    const { serving } = await start({ WATCHDOG_USEC: '20000', NOTICE: '1h' })
    const beats = () => systemd.read().filter((message) => message === 'WATCHDOG=1').length
    await told('READY=1')
    const before = beats()
    await until(() => beats() > before + 3)
    // While it stops, too.
    serving.signal('SIGTERM')
    await told('STOPPING=1')
    const then = beats()
    await until(() => beats() > then + 3)
  })

  it('is not that it lives, where another process is watched', async () => {
    await configured()
    const { serving } = await start({ WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' })
    await told('READY=1')
    serving.signal('SIGTERM')
    await serving.ended
    expect(systemd.read().filter((message) => !isSay(message))).to.deep.equal([])
  })

  it('arrives later where systemd has no room for it', async () => {
    await configured()
    systemd.fill()
    const { serving, url } = await start()
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
    expect((await fetch(`${url}/api/health/ready`)).status).to.equal(200)
    await told('READY=1')
  })

  it('comes of the first process alone, once all of them serve', async () => {
    await configured()
    const late = `import cluster from 'node:cluster'
      import { existsSync } from 'node:fs'
      import { setTimeout as pause } from 'node:timers/promises'
      while (cluster.worker?.id === 2 && !existsSync(${JSON.stringify(join(here.folder, 'go'))})) await pause(5)
      export default { kind: 'stage', name: 'late', summary: 'Loads late.', needs: [], provides: [],
        config: { type: 'object', additionalProperties: false, properties: {} }, build: () => () => ({}) }
      `
    await here.write('plugins/late.ts', late)
    const { serving, url } = await start({ WORKERS: '2' })
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
    expect((await fetch(`${url}/api/health/ready`)).status).to.equal(503)
    expect(systemd.read()).to.deep.equal([])
    await here.write('go', '')
    const [ready] = await told('READY=1')
    expect((await fetch(`${url}/api/health/ready`)).status).to.equal(200)
    expect(statusOf(ready)).to.equal(`Serves on ${url} with 2 processes`)
    const live = logged().filter(({ msg }) => msg === 'the configuration is live') as unknown as { pid: number }[]
    for (const { pid } of live) expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.to.include('NOTIFY_SOCKET')

    serving.signal('SIGHUP')
    await told('READY=1', 2)
    await configured('colour: red\n')
    serving.signal('SIGHUP')
    const [, , refused] = await told('READY=1', 3)
    expect(statusOf(refused)).to.match(/^Serves on \S+ with 2 processes; a newer configuration is refused: .*"colour"/)
    expect(those(systemd.read(), 'RELOADING=1')).to.have.length(2)
    serving.interrupt('SIGTERM')
    expect(await serving.ended).to.equal(0)
    expect(those(systemd.read(), 'STOPPING=1')).to.have.length(1)
    expect(those(systemd.read(), 'READY=1')).to.have.length(3)
  })

  it('is no concern of programs that the gateway starts', async () => {
    const written = (name: string) => JSON.stringify(join(here.folder, name))
    const write = (name: string) =>
      `require('node:fs').writeFileSync(${written(name)}, JSON.stringify(Object.keys(process.env)))`
    await here.write('server.cjs', `${write('server.json')}; process.stdin.resume()`)
    // A plugin's child inherits everything.
    await here.write(
      'plugins/child.ts',
      `import { execFileSync } from 'node:child_process'
      execFileSync(process.execPath, ['-e', ${JSON.stringify(write('child.json'))}])
      export default { kind: 'stage', name: 'child', summary: 'Starts a child.', needs: [], provides: [],
        config: { type: 'object', additionalProperties: false, properties: {} }, build: () => () => ({}) }`,
    )
    const key = 'sk-sluice-0123456789abcdef0123456789abcdef0123456789a'
    const program = `{ name: docs, transport: stdio, command: ${JSON.stringify(process.execPath)}, arguments: [${written('server.cjs')}] }`
    await configured(`mcp_servers: [${program}]\napi_keys: [{ name: k, key: ${key}, mcp_servers: [docs] }]\n`)
    const { url } = await start({ WATCHDOG_USEC: '1000000' })
    await told('READY=1')
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    }
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const asking = fetch(`${url}/servers/docs/mcp`, { method: 'POST', headers, body: JSON.stringify(call) })
    asking.catch(() => undefined)
    await until(() => existsSync(join(here.folder, 'server.json')))
    for (const name of ['child.json', 'server.json']) {
      let names: string[] = []
      await until(
        async () =>
          (names = JSON.parse((await readFile(join(here.folder, name), 'utf8')) || '[]') as string[]).length > 0,
      )
      expect(names).to.include('PATH')
      expect(names.filter((one) => /^(NOTIFY|WATCHDOG)_/.test(one))).to.deep.equal([])
    }
  })

  for (const [what, name] of [
    ['no path', 'vsock:2:1234'],
    ['too long', `/${'x'.repeat(108)}`],
  ] as const)
    it(`is nothing where its address is ${what}: one line is logged, and the gateway serves`, async () => {
      await configured()
      const { serving, url } = await start({ NOTIFY_SOCKET: name })
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      expect((await fetch(`${url}/api/health/ready`)).status).to.equal(200)
      const warnings = logged().filter(({ level }) => level !== 'info')
      expect(warnings.map(({ msg }) => msg)).to.deep.equal(['systemd cannot be told how the gateway is'])
      serving.signal('SIGTERM')
      expect(await serving.ended).to.equal(0)
    })

  it('is nothing without foreign functions: one line is logged, and the gateway serves', async () => {
    await configured()
    // As a Node that has none answers.
    await here.write(
      'without.mjs',
      `const { getBuiltinModule } = process
      process.getBuiltinModule = (name) => (name === 'node:ffi' ? undefined : getBuiltinModule(name))`,
    )
    const { serving, url } = await start({ NODE_OPTIONS: `--import=${here.folder}/without.mjs` })
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
    expect((await fetch(`${url}/api/health/ready`)).status).to.equal(200)
    const warnings = logged().filter(({ level }) => level !== 'info') as unknown as { err: { message: string } }[]
    expect(warnings.map(({ err }) => err.message)).to.deep.equal([`Node ${process.version} has no node:ffi`])
  })
})
