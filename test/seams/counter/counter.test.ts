import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import type { Told, ToldEnd } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'

const here = import.meta.dirname
const kinds = ['exchange', 'stage', 'attempt', 'call', 'reload', 'socket'] as const satisfies (keyof Told)[]
const messages = [{ role: 'user', content: 'The treasure lies under the oak.' }]

/** Hears everything that is told, in its order. */
class Ear {
  readonly heard: { readonly name: string; readonly message: ToldEnd; readonly text: string }[] = []
  readonly #listen = (message: unknown, name: string | symbol) =>
    void this.heard.push({ name: String(name), message: message as ToldEnd, text: JSON.stringify(message) })

  constructor() {
    for (const name of Ear.names()) subscribe(name, this.#listen)
  }

  static names(): string[] {
    return kinds.flatMap((kind) => ['start', 'error', 'end'].map((when) => `sluice:${kind}:${when}`))
  }

  /** What was told on a channel. */
  of<K extends keyof Told>(kind: K, when: 'start' | 'error' | 'end'): Told[K][] {
    return this.heard
      .filter(({ name }) => name === `sluice:${kind}:${when}`)
      .map(({ message }) => message as unknown as Told[K])
  }

  close(): void {
    for (const name of Ear.names()) unsubscribe(name, this.#listen)
  }
}

describe('seams/counter', () => {
  let upstream: ScriptedUpstream
  let pipelines: Pipelines
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    pipelines = await copyPipelines()
    await copyFile(join(here, 'pipelines', 'acme-metrics.yaml'), join(pipelines.folder, 'acme-metrics.yaml'))
    gateway = await startGateway({
      pipelines: pipelines.folder,
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
      plugins: [join(here, 'plugin.ts')],
      providers: [
        { name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'key-of-the-provider' },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'big', provider: 'far', upstream_model: 'big-2026', fallbacks: ['echo'] },
        { name: 'alone', provider: 'far' },
        { name: 'echo', provider: 'echo' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
    await pipelines.remove()
  })
  const ask = (model: string, more: object = {}) => gateway.post('/v1/chat/completions', { model, messages, ...more })
  const metrics = async () => (await fetch(`${gateway.url}/acme/metrics`)).text()

  it('counts what the gateway does, and serves the counts', async () => {
    upstream.answer({ body: chatAnswer }, { status: 503, body: { error: { message: 'no room' } } })
    for (const model of ['big', 'big', 'alone', 'nothing']) await (await ask(model)).text()
    // An exchange is over when its row is handed in, which its client does not wait for.
    await gateway.rows(4)
    const lines = (await metrics()).split('\n')
    expect(lines).to.include.members([
      'acme_exchanges{pipeline="chat-completions",status="200",model="big",error=""} 1',
      'acme_exchanges{pipeline="chat-completions",status="200",model="echo",error=""} 1',
      'acme_exchanges{pipeline="chat-completions",status="502",model="",error="upstream_error"} 1',
      'acme_exchanges{pipeline="chat-completions",status="404",model="",error="model_not_found"} 1',
      'acme_tokens{model="big"} 13',
      'acme_stages{stage="auth",error=""} 4',
      'acme_stages{stage="resolve",error="model_not_found"} 1',
      'acme_stages{stage="log",error=""} 4',
      'acme_attempts{model="big",error=""} 1',
      'acme_attempts{model="big",error="upstream_error"} 1',
      'acme_attempts{model="echo",error=""} 1',
      'acme_attempts{model="alone",error="upstream_error"} 3',
      'acme_calls{provider="far",status="200",error=""} 1',
      'acme_calls{provider="far",status="503",error=""} 4',
      'acme_calls{provider="echo",status="",error=""} 1',
    ])
    expect(upstream.requests).to.have.length(5)
    expect(await metrics()).to.include('acme_exchanges{pipeline="acme-metrics",status="200",model="",error=""} 1\n')
  })

  describe('what it hears', () => {
    let ear: Ear
    beforeEach(() => void (ear = new Ear()))
    afterEach(() => ear.close())

    /** After every start comes one end, of the same object; an error comes before it. */
    const expectWhole = () => {
      for (const kind of kinds) {
        const starts = ear.of(kind, 'start')
        const ends: readonly ToldEnd[] = ear.of(kind, 'end')
        expect(new Set(ends), kind).to.deep.equal(new Set(starts))
        expect(ends.length, kind).to.equal(starts.length)
        for (const { duration } of ends) expect(duration).to.be.a('number')
        const failed = ends.filter(({ error }) => error !== undefined)
        expect(new Set<ToldEnd>(ear.of(kind, 'error')), kind).to.deep.equal(new Set(failed))
      }
      for (const [index, { name, message }] of ear.heard.entries())
        if (name.endsWith(':error'))
          expect(ear.heard.findIndex((one) => one.message === message && one.name.endsWith(':end'))).to.be.above(index)
    }
    const over = async () => {
      await until(() => ear.of('exchange', 'end').length >= ear.of('exchange', 'start').length)
    }

    it('tells of each exchange, stage, try and call whose part they are', async () => {
      upstream.answer({ body: chatAnswer })
      const answer = await ask('big')
      const id = answer.headers.get('x-request-id') ?? ''
      await over()
      expectWhole()
      const [exchange, ...others] = ear.of('exchange', 'end')
      expect(others).to.deep.equal([])
      expect(exchange).to.deep.include({
        id,
        pipeline: 'chat-completions',
        transport: 'http',
        method: 'POST',
        path: '/v1/chat/completions',
        status: 200,
        result: 'completed',
        key: { id: 'file:test', name: 'test' },
        operation: 'generate',
        protocol: 'chat',
        stream: false,
        model: 'big',
        provider: 'far',
      })
      expect(exchange?.bill?.tokens).to.include({ input: 9, output: 4 })
      expect(exchange?.bill?.cost).to.include({ origin: 'unknown' })
      const [call] = ear.of('call', 'end')
      expect(call).to.deep.include({
        exchange: id,
        attempt: 1,
        provider: 'far',
        type: 'compatible',
        operation: 'generate',
        protocol: 'chat',
        model: 'big-2026',
        status: 200,
      })
      expect(ear.of('attempt', 'end')).to.have.length(1)
      expect(ear.of('attempt', 'end')[0]).to.include({ exchange: id, attempt: 1, model: 'big', provider: 'far' })
      const stages = ear.of('stage', 'end')
      expect(stages.map(({ stage }) => stage).slice(0, 3)).to.deep.equal(['auth', 'parse', 'apply-policy'])
      expect(new Set(stages.map(({ exchange: one }) => one))).to.deep.equal(new Set([id]))
      expect(stages.at(-1)).to.include({ stage: 'log', pipeline: 'chat-completions' })
      expect(stages.at(-1)?.at).to.match(/chat-completions\.yaml:\d+:\d+$/)
    })

    it('tells of a socket while it is open', async () => {
      const headers = { authorization: `Bearer ${gateway.key}` }
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers })
      await once(socket, 'open')
      await until(() => ear.of('socket', 'start').length === 1)
      expect(ear.of('socket', 'end')).to.deep.equal([])
      socket.close()
      await until(() => ear.of('socket', 'end').length === 1)
      expectWhole()
      expect(ear.of('socket', 'end')[0]).to.include({ carries: 'messages' })
    })

    it('ends a call with the last byte of its answer', async () => {
      const last = Promise.withResolvers<string>()
      const [first, ...rest] = chatFrames('Hello').map(
        (frame) => `data: ${JSON.stringify((frame as { data: object }).data ?? frame)}\n\n`,
      )
      async function* chunks() {
        yield first ?? ''
        yield await last.promise
      }
      upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: chunks() })
      const answer = await ask('alone', { stream: true })
      const reader = answer.body!.getReader()
      await reader.read()
      expect(ear.of('call', 'start')[0]?.firstByte).to.be.a('number')
      expect(ear.of('call', 'end')).to.deep.equal([])
      expect(ear.of('attempt', 'end')).to.have.length(1)
      last.resolve(`${rest.slice(0, -1).join('')}data: [DONE]\n\n`)
      while (!(await reader.read()).done);
      await over()
      expectWhole()
      expect(ear.of('call', 'end')).to.have.length(1)
      expect(ear.of('call', 'error')).to.deep.equal([])
    })

    it('tells of what fails, breaks off or is left', async () => {
      upstream.answer({ raw: '', ending: 'close' })
      await (await ask('alone')).text()
      await over()
      expect(ear.of('call', 'error')[0]?.error).to.deep.include({ code: 'upstream_error' })
      expect(ear.of('stage', 'error')[0]).to.deep.include({ stage: 'call' })
      expect(ear.of('attempt', 'error')).to.have.length(3)
      expect(ear.of('exchange', 'error')[0]).to.deep.include({ status: 502, result: 'failed' })
      upstream.answer({ frames: chatFrames('Hel', 'lo').slice(0, 2), ending: 'reset' })
      await (await ask('alone', { stream: true })).text().catch(() => undefined)
      await over()
      // The reset may overtake the frames; then there are further tries.
      expect(ear.of('call', 'error')).to.have.length.within(4, 6)
      expect(ear.of('exchange', 'error')).to.have.length(2)
      upstream.answer({ frames: chatFrames('Hel', 'lo').slice(0, 2), ending: 'hang' })
      const leaving = new AbortController()
      const left = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ model: 'alone', messages, stream: true }),
        signal: leaving.signal,
      })
      await left.body!.getReader().read()
      leaving.abort()
      await over()
      await upstream.closed()
      expect(ear.of('exchange', 'end').at(-1)).to.include({ result: 'client_closed' })
      expectWhole()
    })

    it('tells of providers that answer in neutral form, whole, streamed or abandoned', async () => {
      await (await ask('echo')).text()
      await (await ask('echo', { stream: true })).text()
      await over()
      expect(ear.of('call', 'end')).to.have.length(2)
      for (const call of ear.of('call', 'end')) {
        expect(call).to.include({ provider: 'echo', type: 'echo', operation: 'generate' })
        expect(call).not.to.have.any.keys('protocol', 'status', 'cancelled', 'error')
      }
      expectWhole()
    })

    it('hears no prompt, no answer and no secret', async () => {
      upstream.answer(
        { body: chatAnswer },
        { status: 400, body: { error: { message: `no treasure for ${gateway.key}` } } },
      )
      for (const more of [{}, { stream: true }]) await (await ask('big', more)).text()
      await gateway.post('/v1/chat/completions?key=secret-in-the-query', { model: 'treasure', messages })
      await over()
      const told = ear.heard.map(({ text }) => text).join('\n')
      for (const hidden of ['treasure', 'Hello there', gateway.key, 'key-of-the-provider', 'secret-in-the-query'])
        expect(told, hidden).not.to.include(hidden)
      expectWhole()
    })

    it('tells of configurations that go live, are refused, or are what they were', async () => {
      const { live } = gateway.engine
      const previous = live.current.version
      await live.reloadIfChanged()
      const file = join(pipelines.folder, 'acme-metrics.yaml')
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replace('acme-counts', 'acme-count'))
      await live.reload()
      await writeFile(file, `${text}\n`)
      await live.reload()
      const [unchanged, refused, swapped, ...others] = ear.of('reload', 'end')
      expect(others).to.deep.equal([])
      expect(unchanged).to.deep.include({ previous, version: previous, result: 'unchanged', findings: 0 })
      expect(refused).to.deep.include({ previous, result: 'refused', findings: 1, error: { code: 'unknown-stage' } })
      expect(swapped).to.deep.include({ previous, version: live.current.version, result: 'live', findings: 0 })
      expect(await metrics()).to.include('acme_reloads{result="live"}')
      expectWhole()
    })
  })
})

describe('seams/counter, at its end', () => {
  it('leaves nobody behind who listens', async () => {
    const listening = () => Ear.names().filter((name) => channel(name).hasSubscribers)
    expect(listening()).to.deep.equal([])
    const gateway = await startGateway({
      plugins: [join(here, 'plugin.ts')],
      server_config: { telemetry: { metrics: { enabled: false } } },
    })
    expect(listening()).to.deep.equal(kinds.map((kind) => `sluice:${kind}:end`))
    await gateway.close()
    expect(listening()).to.deep.equal([])
  })
})
