import { createServer, request } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { startCommand, startServe } from '../engine/cli/process.ts'
import type { Serving } from '../engine/cli/process.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import type { Sandbox } from '../engine/cli/sandbox.ts'
import { freePort } from '../support/free-port.ts'
import { postgres, redis } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const key = 'sk-sluice-0123456789abcdef0123456789abcdef0123456789a'
const answer = {
  body: {
    id: 'a',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  },
}
const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

/** A proxy as in docs/deploying.md: it asks every gateway whether it is ready, and tries no request twice. */
class Proxy {
  readonly ports: readonly number[]
  readonly #ready = new Set<number>()
  readonly #asking: NodeJS.Timeout
  readonly server: Server
  #turn = 0

  constructor(ports: readonly number[]) {
    this.ports = ports
    this.#asking = setInterval(() => this.ports.forEach((port) => void this.#ask(port)), 100)
    this.server = createServer((incoming, outgoing) => {
      const ready = [...this.#ready]
      const port = ready[this.#turn++ % ready.length]
      if (port === undefined) return outgoing.writeHead(502).end('no gateway is ready')
      const { method, url, headers } = incoming
      const passed = request({ port, method, path: url, headers, agent: false }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      passed.on('error', (error) => outgoing.writeHead(502).end(String(error)))
      return incoming.pipe(passed)
    })
  }

  isReady(port: number): boolean {
    return this.#ready.has(port)
  }

  async #ask(port: number): Promise<void> {
    const { ok } = await fetch(`http://127.0.0.1:${port}/api/health/ready`).catch(() => ({ ok: false }))
    if (ok) this.#ready.add(port)
    else this.#ready.delete(port)
  }

  close(): void {
    clearInterval(this.#asking)
    this.server.closeAllConnections()
    this.server.close()
  }
}

describe('gateways that are replaced one after the other', () => {
  let here: Sandbox
  let upstream: ScriptedUpstream
  let proxy: Proxy
  const running = new Map<number, Serving>()
  let environment: Record<string, string>
  before(async function () {
    const [database, store] = [await postgres(this), await redis(this)]
    environment = { DATABASE_URL: database.url, REDIS_URL: store.url, SLUICE_SECRET: 'the secret that they share' }
    upstream = await scriptedUpstream()
    here = await sandbox({
      'config/sluice.yaml': `providers: [{ name: far, type: compatible, base_url: '${upstream.url}' }]
models: [{ name: m, provider: far }]
api_keys: [{ name: k, key: ${key} }]
`,
    })
    proxy = new Proxy([await freePort(), await freePort()])
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
  })
  after(async () => {
    proxy?.close()
    await Promise.all([...running.values()].map((one) => one.remove()))
    await upstream?.close()
    await here?.remove()
  })

  const start = async (port: number) => {
    const serving = startServe(here.folder, { ...environment, PORT: String(port) }, '--json')
    running.set(port, serving)
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
  }

  it('refuse and lose no request, and no stream that is under way', async () => {
    const ports = proxy.ports
    for (const port of ports) await start(port)
    await until(() => ports.every((port) => proxy.isReady(port)))
    const url = `http://127.0.0.1:${(proxy.server.address() as AddressInfo).port}/v1/chat/completions`
    const ask = (stream: boolean) =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] }),
      })
    /** A stream on each gateway, which ends when it is told. */
    const streams = async () => {
      const gate = Promise.withResolvers<void>()
      async function* slow() {
        yield chunk('one')
        await gate.promise
        yield `${chunk('two')}data: [DONE]\n\n`
      }
      const texts: Promise<string>[] = []
      for (const _ of ports) {
        upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: slow() })
        texts.push((await ask(true)).text())
      }
      return { end: () => (gate.resolve(), Promise.all(texts)) }
    }

    let asked = 0
    for (const port of ports) {
      const { end } = await streams()
      const old = running.get(port)
      old?.signal('SIGTERM')
      // Requests come all the time: while the old one says that it stops, while it does, while the new one starts.
      const served = async (isOver: () => boolean) => {
        while (!isOver()) {
          upstream.answer(answer)
          const response = await ask(false)
          expect(response.status, await response.text()).to.equal(200)
          asked++
        }
      }
      await served(() => !proxy.isReady(port))
      for (const text of await end()) expect(text).to.include('"two"').and.include('[DONE]')
      let state: 'stopping' | 'started' | 'failed' = 'stopping'
      const starting = (async () => {
        expect(await old?.ended).to.equal(0)
        await start(port)
      })()
      starting.then(
        () => (state = 'started'),
        () => (state = 'failed'),
      )
      await served(() => state === 'failed' || (state === 'started' && proxy.isReady(port)))
      await starting
      const health = startCommand(here.folder, { PORT: String(port) }, 'health')
      expect(await health.ended, health.error.join()).to.equal(0)
    }
    expect(asked).to.be.greaterThan(20)
  })
})
