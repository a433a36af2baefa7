import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { openDatabase } from '../../engine/store/database.ts'
import type { Database } from '../../engine/store/database.ts'
import { startServe } from '../engine/cli/process.ts'
import type { Serving } from '../engine/cli/process.ts'
import { root } from '../engine/cli/sandbox.ts'
import { ownPostgres, redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const key = 'sk-charges-0123456789abcdef0123456789abcdef'
/** 400 tokens at 1 USD per million, and 20 at 2 USD. */
const micros = 440
/** Requests at a time. */
const clients = 16

/** How long the database is away: so many answers, and so many seconds. `OUTAGE_REQUESTS=60000 OUTAGE_SECONDS=60`: a minute at 1,000 a second. */
const outage = {
  requests: Number(process.env['OUTAGE_REQUESTS'] ?? 1_000),
  seconds: Number(process.env['OUTAGE_SECONDS'] ?? 0),
}

interface Answer {
  readonly id: string
  readonly status: number
  /** When its last byte was read, and how long that took, in milliseconds. */
  readonly at: number
  readonly took: number
}

/** Clients that ask one request after the other until they are told to stop, or cannot connect. */
class Load {
  readonly answers: Answer[] = []
  readonly #agent = new Agent({ keepAlive: true, maxSockets: clients })
  readonly #done: Promise<unknown>
  #isOver = false

  constructor(url: string) {
    const ask = async () => {
      while (!this.#isOver) this.answers.push(await this.#ask(url))
    }
    this.#done = Promise.allSettled(Array.from({ length: clients }, ask))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
    this.#agent.destroy()
  }

  #ask(url: string): Promise<Answer> {
    const body = JSON.stringify({ model: 'plain', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const began = performance.now()
    return new Promise((resolve, reject) => {
      const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent: this.#agent, headers }, (answer) => {
        answer.resume().on('error', reject)
        answer.on('end', () => {
          const at = performance.now()
          const id = String(answer.headers['x-request-id'])
          resolve({ id, status: answer.statusCode ?? 0, at, took: at - began })
        })
      })
      sent.on('error', reject).end(body)
    })
  }
}

/** With whom a gateway counts. */
interface Sharing {
  readonly workers?: number
  readonly key_value?: { readonly url: string }
}

describe('rows and charges', function () {
  this.timeout(600_000)
  let folder: string
  let upstream: ScriptedUpstream
  let service: Service | undefined
  let database: Database
  let serving: Serving | undefined

  const start = async (): Promise<string> => {
    const started = startServe(folder, { SLUICE_CONFIG: 'sluice.yaml' }, '--json')
    serving = started
    await started.until(() => started.out.some((line) => line.includes('"url"')))
    return (Object.assign({}, ...started.out.map((line) => JSON.parse(line) as object)) as { url: string }).url
  }
  /** Ends the gateway without a warning; returns when. */
  const kill = async (): Promise<number> => {
    const at = performance.now()
    serving?.interrupt('SIGKILL')
    await serving?.ended
    return at
  }
  const prepare = async (url?: string, more: Sharing = {}) => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-charges-'))
    const place = url ?? `sqlite:${folder}/sluice.db`
    upstream = await scriptedUpstream()
    const usage = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    upstream.answer({ body: { id: 'c', object: 'chat.completion', created: 1, model: 'plain', choices, usage } })
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0, workers: more.workers ?? 1 },
        ...(more.key_value && { key_value: more.key_value }),
        database: { url: place },
        plugins: [join(root, 'plugins')],
        pipelines: join(root, 'pipelines'),
        providers: [{ name: 'far', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' }],
        models: [{ name: 'plain', provider: 'far', pricing: { input: 1, output: 2 } }],
        api_keys: [{ name: 'test', key, budget: { usd: 1_000_000, period: 'total' } }],
        server_config: { logging: { level: 'error' } },
      }),
    )
    const at = await start()
    database = await openDatabase(place)
    return at
  }
  afterEach(async () => {
    await serving?.remove()
    await database.close()
    await service?.stop()
    service = undefined
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Stops or continues the server of the database, with all of its processes. */
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const { pid } = service as Service
    if (pid === undefined) throw new Error('the server of the database has no process here')
    const children = async () => (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').map(Number)
    for (const each of [pid, ...(await children())]) if (each > 0) process.kill(each, name)
  }
  const column = async (statement: string) =>
    (await database.rows<{ value: string | number }>(statement)).map(({ value }) => value)
  const number = async (statement: string) => Number((await column(statement))[0] ?? 0)
  const counts = async () => ({
    rows: await number('select count(*) as value from requests'),
    charges: await number('select count(*) as value from limits_ledger'),
    spent: (await number(`select sum(micros) as value from limits_sums where bucket = 'server'`)) / micros,
    ofKey: (await number(`select sum(micros) as value from limits_sums where bucket like 'key:%'`)) / micros,
    logged: (await number('select sum(cost_micros) as value from requests')) / micros,
    summed: await number('select sum(requests) as value from requests_sums where whole = 1 and grain = 86400000'),
    cost:
      (await number('select sum(cost_micros) as value from requests_sums where whole = 0 and grain = 60000')) / micros,
  })
  /** Waits until no row of an earlier process is in a file, and all that were written are added up. */
  const settled = async () => {
    await until(async () => (await readdir(join(folder, 'data', 'spill')).catch(() => [])).length === 0)
    await until(async () => {
      const { rows, summed } = await counts()
      return rows === summed
    })
  }
  const expectAgreement = async (): Promise<number> => {
    const { rows, ...others } = await counts()
    for (const [name, value] of Object.entries(others)) expect(value, name).to.equal(rows)
    return rows
  }
  /** The ids of answers that lack their row or their charge. */
  const missing = async (answers: readonly Answer[]) => {
    const rows = new Set(await column('select id as value from requests'))
    const charges = new Set(await column('select id as value from limits_ledger'))
    return answers.filter(({ id }) => !rows.has(id) || !charges.has(id)).map(({ id }) => id)
  }
  /**
   * What was answered a second before the gateway was killed. On a machine that has no time for it, a second is longer:
   * by what the slowest answer took.
   */
  const wellBefore = (killed: number, { answers }: Load) => {
    const slowest = answers.reduce((longest, { took }) => Math.max(longest, took), 0)
    return answers.filter(({ at }) => at < killed - 1_000 - 3 * slowest)
  }
  /** Lets a gateway answer until there is something well before a kill, and kills it; a new one takes over. */
  const killedUnder = async (load: Load, before: () => Promise<unknown>) => {
    const first = load.answers.length
    await until(() => wellBefore(performance.now(), load).length > first + outage.requests)
    const killed = await kill()
    await load.stop()
    await before()
    await start()
    await settled()
    const kept = wellBefore(killed, load)
    expect(kept.map(({ status }) => status).filter((status) => status !== 200)).to.deep.equal([])
    expect(await missing(kept)).to.deep.equal([])
    expect(await expectAgreement()).to.be.within(kept.length, load.answers.length + clients)
  }

  it('are all there, each once, after PostgreSQL was away while requests went on', async function () {
    service = await ownPostgres(this)
    const load = new Load(await prepare(service.url))
    await until(() => load.answers.length > 100)
    await signal('SIGSTOP')
    const [answered, since] = [load.answers.length, performance.now()]
    await until(
      () => load.answers.length > answered + outage.requests && performance.now() > since + 1_000 * outage.seconds,
    )
    const [away, seconds] = [load.answers.length - answered, (performance.now() - since) / 1_000]
    await signal('SIGCONT')
    await load.stop()
    const { answers } = load
    if (outage.seconds > 0) console.log(`${away} requests in ${seconds.toFixed(1)} s without the database`)
    expect(answers.filter(({ status }) => status !== 200)).to.deep.equal([])
    await until(async () => (await counts()).rows >= answers.length)
    await settled()
    expect(await missing(answers)).to.deep.equal([])
    expect(await expectAgreement()).to.equal(answers.length)
  })

  it('are there of what was answered a second before PostgreSQL was away and the gateway killed', async function () {
    service = await ownPostgres(this)
    const load = new Load(await prepare(service.url))
    await until(() => load.answers.length > 100)
    await signal('SIGSTOP')
    await killedUnder(load, () => signal('SIGCONT'))
  })

  for (const store of ['SQLite', 'PostgreSQL'])
    it(`are there of what was answered a second before the gateway was killed, in ${store}`, async function () {
      if (store === 'PostgreSQL') service = await ownPostgres(this)
      await killedUnder(new Load(await prepare(service?.url)), async () => undefined)
    })

  for (const counters of ['the first of several processes', 'Redis'])
    it(`are written together where ${counters} counts, and are there after a kill`, async function () {
      if (counters === 'Redis') service = await redis(this)
      const sharing = service ? { key_value: { url: service.url } } : { workers: 2 }
      await killedUnder(new Load(await prepare(undefined, sharing)), async () => undefined)
      const carried = 'select count(charged_micros) as value from requests'
      expect(await number(carried)).to.equal((await counts()).rows)
    })
})
