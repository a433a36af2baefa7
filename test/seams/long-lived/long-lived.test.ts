import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

const here = import.meta.dirname

/** What a listener hears. */
interface Listener {
  readonly headers: Headers
  /** Everything so far, once it holds `text`. */
  until(text: string): Promise<string>
  /** Everything, once the stream has ended; rejects where it was cut. */
  readonly ended: Promise<string>
  leave(): void
}

describe('seams/long-lived', () => {
  let folder: string
  let gateway: RunningGateway
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-lasting-'))
    gateway = await startGateway({ folder, plugins: [join(here, 'plugin.ts')], pipelines: join(here, 'pipelines') })
  })
  afterEach(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  const listen = async (name: string): Promise<Listener> => {
    const abort = new AbortController()
    const response = await fetch(`${gateway.url}/news/${name}`, { signal: abort.signal })
    expect(response.status).to.equal(200)
    let heard = ''
    const watchers = new Set<() => void>()
    const ended = (async () => {
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        heard += Buffer.from(chunk).toString()
        watchers.forEach((look) => look())
      }
      return heard
    })()
    ended.catch(() => undefined)
    return {
      headers: response.headers,
      ended,
      leave: () => abort.abort(),
      until: (text) =>
        new Promise((resolve) => {
          const look = () => {
            if (heard.includes(text)) resolve(heard)
          }
          watchers.add(look)
          look()
        }),
    }
  }
  const state = async () =>
    (await (await fetch(`${gateway.url}/state`)).json()) as {
      listeners: number
      settled: number
      closed: string[]
      greeting: string
    }
  const tell = async (body: object) => {
    const response = await fetch(`${gateway.url}/tell`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
  const greetWith = async (greeting: string) => {
    const file = join(folder, 'sluice.yaml')
    const text = (await readFile(file, 'utf8')).replace(/\nserver_config:[^]*$/, '')
    await writeFile(file, `${text}\nserver_config: { acme: { greeting: ${greeting} } }\n`)
    expect(await gateway.engine.live.reload()).to.deep.equal([])
  }

  it('an answer that is written to for ever is over, for its exchange, when its headers have left', async () => {
    const one = await listen('ann/of/somewhere')
    expect(one.headers.get('content-type')).to.equal('text/event-stream')
    expect(await one.until('hello')).to.equal('data: hello ann/of/somewhere\n\n')
    expect(await state()).to.deep.include({ listeners: 1, settled: 1 })
    expect(await tell({ text: 'rain' })).to.deep.equal({ status: 200, body: { told: 1 } })
    expect(await one.until('rain')).to.include('data: rain\n\n')
    one.leave()
    await until(async () => (await state()).listeners <= 0)
  })

  it('holds no old configuration, and hears what a newer one tells', async () => {
    const old = await listen('ann')
    await old.until('hello ann')
    await greetWith('welcome')
    await until(async () => (await state()).closed.length > 0)
    expect(await state()).to.include({ greeting: 'welcome', listeners: 1 })
    const young = await listen('bob')
    await young.until('welcome bob')
    expect((await tell({ text: 'snow' })).body).to.deep.equal({ told: 2 })
    expect(await old.until('snow')).to.equal('data: hello ann\n\ndata: snow\n\n')
    await young.until('snow')
    await greetWith('goodbye')
    await until(async () => (await state()).closed.length === 2)
    expect((await state()).closed).to.deep.equal(['hello', 'welcome'])
    old.leave()
    young.leave()
  })

  it('is ended by another request', async () => {
    const one = await listen('ann')
    await one.until('hello ann')
    const forget = (name: string) => fetch(`${gateway.url}/news/${name}`, { method: 'DELETE' })
    expect((await forget('ann')).status).to.equal(204)
    expect(await one.ended).to.equal('data: hello ann\n\n')
    expect((await forget('ann')).status).to.equal(404)
  })

  it('is ended in good order when the gateway stops, which does not wait for it', async () => {
    const listeners = await Promise.all(['ann', 'bob'].map(listen))
    for (const one of listeners) await one.until('hello')
    // An exchange that went on would be waited for as long as this.
    await gateway.engine.close(3_600_000)
    expect(await Promise.all(listeners.map(({ ended }) => ended))).to.deep.equal([
      'data: hello ann\n\n',
      'data: hello bob\n\n',
    ])
  })

  it('routes that end in /* take every path below, but for those that others name', async () => {
    const get = async (path: string) => (await fetch(gateway.url + path)).headers.get('content-type')
    expect(await get('/news/of/ann')).to.equal('application/json')
    const deep = await listen('a%2Fb/c')
    expect(await deep.until('hello')).to.equal('data: hello a/b/c\n\n')
    deep.leave()
    expect((await fetch(`${gateway.url}/news`)).status).to.equal(404)
    expect((await fetch(`${gateway.url}/news/x`, { method: 'POST' })).headers.get('allow')).to.match(/GET/)
  })

  it("an error answers to what was asked, in its protocol's words", async () => {
    const refused = await tell({ id: 7, text: 7 })
    expect(refused).to.deep.equal({
      status: 400,
      body: { id: 7, error: { message: 'Invalid value at text: it is no text.' } },
    })
    const unread = await fetch(`${gateway.url}/tell`, {
      method: 'POST',
      body: 'no',
      headers: { 'content-type': 'application/json' },
    })
    expect(await unread.json()).to.deep.include({ id: null })
  })
})
