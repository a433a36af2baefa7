import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { startServe } from '../engine/cli/process.ts'
import { until } from '../support/until.ts'
import { valueIn } from './exposition.ts'

const key = 'sk-scraper-0123456789abcdef0123456789abcdef'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }

describe('metrics of several processes', function () {
  this.timeout(300_000)

  it('are one, wherever they are read, and what an ended process counted stays', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-metrics-'))
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0, workers: 2 },
        database: { url: `sqlite:${join(folder, 'sluice.db')}` },
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
        api_keys: [{ name: 'scraper', key, metrics: true }],
      }),
    )
    const environment = { SLUICE_SECRET: 'secret-of-the-test-0123456789' }
    const serving = startServe(folder, environment, '--config', 'sluice.yaml', '--json', '--no-watch')
    const workers = async () => {
      const { pid } = serving
      return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
    }
    try {
      await serving.until(() => serving.out.some((line) => line.includes('"url"')))
      const { url } = Object.assign({}, ...serving.out.map((line) => JSON.parse(line) as object)) as { url: string }
      const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] })
      const ask = async () => (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
      const scrape = async () => (await fetch(`${url}/metrics`, { headers })).text()
      const counted = async () => valueIn(await scrape(), 'sluice_requests_total', { model: 'echo', code: 'ok' })
      for (let sent = 0; sent < 40; sent++) await ask()
      await until(async () => (await counted()) === 40)
      await until(async () => valueIn(await scrape(), 'sluice_workers') === 2)
      const readers = new Set<number | undefined>()
      for (let read = 0; read < 12; read++) readers.add(await counted())
      expect([...readers]).to.deep.equal([40])

      const [killed = 0] = await workers()
      process.kill(killed, 'SIGKILL')
      await until(async () => {
        const now = await workers()
        return now.length === 2 && !now.includes(killed)
      })
      await until(async () => valueIn(await scrape(), 'sluice_workers') === 2)
      expect(await counted()).to.equal(40)
      await ask()
      await until(async () => (await counted()) === 41)
    } finally {
      await serving.remove()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
