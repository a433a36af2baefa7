import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { Registry } from '../../plugins/telemetry/registry.ts'
import report, { left } from '../../plugins/telemetry/totals.ts'
import type { Totals } from '../../plugins/telemetry/totals.ts'
import { startServe } from '../engine/cli/process.ts'
import { until } from '../support/until.ts'
import { valueIn } from './exposition.ts'

const key = 'sk-scraper-0123456789abcdef0123456789abcdef'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }

describe('metrics of several processes', function () {
  this.timeout(300_000)

  it('are one, wherever they are read, and what an ended process counted stays', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-metrics-'))
    const configure = (...models: string[]) =>
      writeFile(
        join(folder, 'sluice.yaml'),
        stringify({
          listen: { port: 0, workers: 2 },
          database: { url: `sqlite:${join(folder, 'sluice.db')}` },
          providers: [{ name: 'echo', type: 'echo' }],
          models: models.map((name) => ({ name, provider: 'echo' })),
          api_keys: [{ name: 'scraper', key, metrics: true }],
        }),
      )
    await configure('echo')
    const environment = { SLUICE_SECRET: 'secret-of-the-test-0123456789' }
    const serving = startServe(folder, environment, '--config', 'sluice.yaml', '--json', '--no-watch')
    const workers = async () => {
      const { pid } = serving
      return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
    }
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      const { url } = Object.assign({}, ...serving.out.map((line) => JSON.parse(line) as object)) as { url: string }
      const ask = async (model = 'echo') => {
        const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
        const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
        await answer.text()
        return answer.status
      }
      const allServe = async (model: string) => {
        for (let sent = 0; sent < 12; sent++) if ((await ask(model)) !== 200) return false
        return true
      }
      const scrape = async () => (await fetch(`${url}/metrics`, { headers })).text()
      const counted = async () => valueIn(await scrape(), 'sluice_requests_total', { model: 'echo', code: 'ok' })
      for (let sent = 0; sent < 40; sent++) await ask()
      await until(async () => (await counted()) === 40)
      await until(async () => valueIn(await scrape(), 'sluice_workers') === 2)
      /** What every process tells. */
      const toldByAll = async () => {
        const readers = new Set<number | undefined>()
        for (let read = 0; read < 12; read++) readers.add(await counted())
        return [...readers]
      }
      expect(await toldByAll()).to.deep.equal([40])

      // What is there no more is counted on for a while, by all: a counter that falls has begun anew.
      await configure('other')
      serving.signal('SIGHUP')
      await until(() => allServe('other'))
      expect(await toldByAll()).to.deep.equal([40])

      const [killed = 0] = await workers()
      process.kill(killed, 'SIGKILL')
      await until(async () => {
        const now = await workers()
        return now.length === 2 && !now.includes(killed)
      })
      await until(async () => valueIn(await scrape(), 'sluice_workers') === 2)
      expect(await toldByAll()).to.deep.equal([40])
      await configure('echo', 'back')
      serving.signal('SIGHUP')
      await until(() => allServe('back'))
      await ask()
      await until(async () => (await counted()) === 41)
    } finally {
      await serving.remove()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('end what is there no more for all at once, and one that comes back begins anew', () => {
    const minute = 60_000
    let now = 0
    /** A process that counts requests of keys. */
    class Process {
      readonly number: number
      readonly registry: Registry
      readonly count: (key: string) => void
      keys = ['one', 'two']
      constructor(number: number) {
        this.number = number
        this.registry = new Registry(
          () => undefined,
          () => now,
        )
        this.registry.asks('keys', () => (key) => this.keys.includes(key))
        const counter = this.registry.counter({
          name: 'test_total',
          help: 'Requests.',
          labels: { key: { free: 'key' } },
        })
        this.count = (key) => counter({ key }).add()
      }

      /** @returns what it was asked for, by key */
      tell(asks: boolean): Record<string, number> {
        const { registry, number } = this
        const own = registry.told()
        const answer = report({ metrics: own, ended: registry.ends(), asks } as never, number) as unknown as Totals
        if (!asks) return {}
        const values = registry.current([own, ...answer.told], answer.ended).flat(1)
        const sums: Record<string, number> = {}
        for (const { labels, value } of values.flatMap((metric) => metric.values))
          sums[labels['key'] ?? ''] = (sums[labels['key'] ?? ''] ?? 0) + value
        return sums
      }
    }
    const [first, second, third] = [101, 102, 103].map((number) => new Process(number)) as [Process, Process, Process]
    for (const each of [first, second, third]) for (const key of ['one', 'one', 'two']) each.count(key)
    const all = [first, second]
    for (const each of [third, ...all]) each.tell(false)
    left(103)
    expect(all.map((each) => each.tell(true))).to.deep.equal(all.map(() => ({ one: 6, two: 3 })))
    const seen = new Set<string>()
    /** Each process tells every second, and both are read. */
    const pass = (minutes: number) => {
      for (const end = now + minutes * minute; now < end; now += 1_000)
        for (const each of all) {
          each.tell(false)
          for (const read of all) seen.add(JSON.stringify(read.tell(true)))
        }
    }
    // One of them hears of it a little later.
    first.keys = ['two']
    pass(0.5)
    second.keys = ['two']
    pass(54)
    expect([...seen]).to.deep.equal([JSON.stringify({ one: 6, two: 3 })])
    pass(3)
    // Never a part of it.
    expect([...seen]).to.deep.equal([{ one: 6, two: 3 }, { two: 3 }].map((sums) => JSON.stringify(sums)))
    for (const each of all) each.keys = ['one', 'two']
    for (const each of all) each.tell(false)
    second.count('one')
    second.tell(false)
    expect(all.map((each) => each.tell(true))).to.deep.equal(all.map(() => ({ one: 1, two: 3 })))
    pass(10)
    expect(all.map((each) => each.tell(true))).to.deep.equal(all.map(() => ({ one: 1, two: 3 })))
    for (const each of all) left(each.number)
  })
})
