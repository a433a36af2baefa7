import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'

const here = import.meta.dirname
const messages = [{ role: 'user' as const, content: 'Hello' }]

/** What one answer costs: 9 tokens in, 4 out, 100 USD per million of each. */
const cost = 1300

interface State {
  readonly held: number
  readonly spent: number
  readonly inside: number
  readonly notes: readonly string[]
}

describe('seams/settle', function () {
  this.timeout(300_000)

  let upstream: ScriptedUpstream
  let gateway: FolderGateway
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: chatAnswer })
    const pricing = { input: 100, output: 100 }
    gateway = await startFolder(
      {
        plugins: [join(here, 'plugin.ts')],
        providers: [{ name: 'far', type: 'compatible', base_url: upstream.url }],
        models: [
          { name: 'm', provider: 'far', pricing, fallbacks: ['n'] },
          { name: 'n', provider: 'far', pricing },
        ],
      },
      { 'pipelines/acme.yaml': await readFile(join(here, 'pipelines', 'acme.yaml'), 'utf8') },
    )
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const state = async (): Promise<State> => (await fetch(`${gateway.url}/acme/state`)).json() as Promise<State>
  const gate = (what: 'open' | 'shut') => fetch(`${gateway.url}/acme/state/${what}`, { method: 'POST' })
  const ask = (more: object = {}, path = '/acme/chat') => gateway.ask(path, { model: 'm', messages, ...more })
  /** The state once it is as wanted: what comes after an answer, no client is told. */
  const once = async (wanted: (state: State) => boolean): Promise<State> => {
    let now = await state()
    await until(async () => wanted((now = await state())))
    return now
  }
  const settled = () => once(({ held, inside }) => held === 0 && inside === 0)
  const settings = async (acme_budgets: object) => {
    const { version } = (await gateway.ready()).body.config
    await gateway.configure({ server_config: { acme_budgets } })
    await until(async () => (await gateway.ready()).body.config.version !== version)
  }

  it('holds a budget in a race, and settles it with the bill', async () => {
    await settings({ micros: 10_000 })
    const gone = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await gone.promise
      return { body: chatAnswer }
    })
    const statuses: number[] = []
    const refused = Promise.withResolvers<void>()
    const asked = Array.from({ length: 12 }, async () => {
      statuses.push((await ask()).status)
      if (statuses.length === 7) refused.resolve()
    })
    await refused.promise
    expect(statuses).to.deep.equal(Array(7).fill(429))
    expect(await state()).to.include({ held: 10_000, spent: 0 })
    gone.resolve()
    await Promise.all(asked)
    expect(statuses.slice(7)).to.deep.equal(Array(5).fill(200))
    expect(await settled()).to.include({ spent: 5 * cost })
    expect((await ask()).status).to.equal(200)
    expect(await settled()).to.include({ spent: 6 * cost })
  })

  it('frees a place when the client has its answer, and a budget when it has its bill', async () => {
    await settings({ places: 1 })
    await gate('shut')
    for (const _ of [1, 2, 3]) expect(await (await ask()).json()).to.have.property('choices')
    const waiting = await once(({ notes }) => notes.filter((note) => note === 'finally').length === 3)
    expect(waiting).to.include({ inside: 0, held: 6_000, spent: 0 })
    await gate('open')
    expect(await settled()).to.include({ spent: 3 * cost })
  })

  it('settles a try that failed before the next model is asked, and the one that served with the exchange', async () => {
    const seen: (readonly string[])[] = []
    upstream.answer({ status: 503, body: { error: { message: 'no room' } } }, async () => {
      seen.push((await state()).notes)
      return { body: chatAnswer }
    })
    expect((await ask()).status).to.equal(200)
    expect(seen).to.deep.equal([['try m', 'tried m: 503', 'try n']])
    const { notes } = await settled()
    expect(notes.slice(3)).to.deep.equal(['tried n: completed', 'finally', 'completed well reported'])
  })

  it('settles the last try that failed at once, and what was taken before it with the error', async () => {
    upstream.answer({ status: 503, body: { error: { message: 'no room' } } })
    expect((await ask()).status).to.equal(502)
    const { notes, spent } = await settled()
    expect(notes).to.deep.equal([
      'try m',
      'tried m: 503',
      'try n',
      'tried n: 503',
      'try m',
      'tried m: 503',
      'finally',
      'failed upstream_error reported',
    ])
    expect(spent).to.equal(0)
    upstream.answer({ body: 'page' })
    expect((await ask()).status).to.equal(502)
    // Nobody knows what it cost: what was set aside.
    const after = await once((now) => now.spent > 0)
    expect(after.spent).to.equal(2_000)
    expect(after.notes.at(-1)).to.equal('failed upstream_invalid_response unknown')
  })

  it('keeps what it holds over a reload: an old stream settles on the shared count', async () => {
    await settings({ micros: 3_000 })
    const rest = Promise.withResolvers<void>()
    const [first, ...others] = chatFrames('Hello', ' there')
    upstream.answer({
      headers: { 'content-type': 'text/event-stream' },
      chunks: (async function* () {
        yield `data: ${JSON.stringify(first && typeof first === 'object' ? first.data : first)}\n\n`
        await rest.promise
        for (const frame of others) yield `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame.data)}\n\n`
      })(),
    })
    const streamed = await ask({ stream: true })
    expect(streamed.status).to.equal(200)
    expect((await ask()).status).to.equal(429)
    await settings({ micros: 5_500 })
    upstream.answer({ body: chatAnswer })
    expect((await ask()).status).to.equal(200)
    expect(await once(({ spent }) => spent > 0)).to.include({ held: 2_000, spent: cost })
    expect((await ask()).status).to.equal(200)
    rest.resolve()
    await streamed.text()
    const { spent } = await settled()
    expect(spent).to.be.greaterThan(2 * cost)
    expect((await ask()).status).to.equal(429)
  })

  it('settles once when the client leaves, with what is known by then', async () => {
    upstream.answer({ frames: chatFrames('Hello', ' there').slice(0, 2), ending: 'hang' })
    const leaving = new AbortController()
    const { key, url } = gateway
    const response = await fetch(`${url}/acme/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'm', messages, stream: true }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    const { notes } = await settled()
    expect(notes).to.deep.equal(['try m', 'tried m: 499', 'finally', 'client_closed client_closed estimated'])
  })

  it('settles when a stage throws after it, and costs nothing where nobody was asked', async () => {
    const answer = await ask({}, '/acme/broken')
    expect(answer.status).to.equal(500)
    const { notes, spent } = await settled()
    expect(notes).to.deep.equal(['failed internal_error unasked'])
    expect(spent).to.equal(0)
  })

  it('settles with its bill when another stage has failed after the exchange', async () => {
    expect((await ask({}, '/acme/unpriced')).status).to.equal(200)
    const { notes, spent } = await settled()
    expect(notes).to.deep.equal(['completed well reported'])
    expect(spent).to.equal(cost)
    expect(gateway.lines.filter((line) => line.includes('acme-fails has failed'))).to.have.length(1)
  })

  it('settles what is cut when the gateway stops', async () => {
    upstream.answer({ frames: chatFrames('Hello', ' there').slice(0, 2), ending: 'hang' })
    const response = await ask({ stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    await gateway.engine.close(1)
    const closed = gateway.lines.map((line) => JSON.parse(line) as { msg: string; state?: State })
    const { state: last } = closed.find(({ msg }) => msg === 'the budgets are closed') ?? {}
    expect(last).to.include({ held: 0, inside: 0 })
    expect(last?.notes.at(-1)).to.equal('failed draining estimated')
  })

  it('settles each turn of a socket, and what was held to find out who asks for it', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/acme/socket`, { headers: { 'x-name': 'me' } })
    let completed = Promise.withResolvers<void>()
    socket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { type: string }).type === 'response.completed') completed.resolve()
    })
    await new Promise((resolve) => socket.once('open', resolve))
    expect((await once(({ inside }) => inside === 0)).notes).to.deep.equal(['door 101 completed'])
    for (const turn of [1, 2]) {
      completed = Promise.withResolvers()
      upstream.answer({ body: chatAnswer })
      socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hello' }))
      await completed.promise
      const { notes, spent } = await settled()
      // The socket is looked at every few seconds, too.
      const turns = notes.filter((note) => note !== 'door 101 completed')
      expect(turns.slice((turn - 1) * 2)).to.deep.equal(['door 200 completed', 'completed well reported'])
      expect(spent).to.equal(turn * cost)
    }
    socket.close()
  })

  it('settles what was held for who may not open a socket', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/acme/socket`)
    expect(await new Promise((resolve) => socket.once('close', resolve))).to.equal(4401)
    expect((await once(({ inside }) => inside === 0)).notes).to.deep.equal(['door 401 invalid_api_key'])
  })
})
