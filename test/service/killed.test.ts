import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { openDatabase } from '../../engine/store/database.ts'
import type { Database } from '../../engine/store/database.ts'
import { startServe } from '../engine/cli/process.ts'
import type { Serving } from '../engine/cli/process.ts'
import { root } from '../engine/cli/sandbox.ts'
import { tablesOf } from '../support/tables.ts'
import { until } from '../support/until.ts'

const key = 'sk-killed-0123456789abcdef0123456789abcdef'

describe('a gateway that is killed', () => {
  let folder: string
  let serving: Serving
  let database: Database
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-killed-'))
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0 },
        database: { url: `sqlite:${folder}/sluice.db` },
        plugins: [join(root, 'plugins')],
        pipelines: join(root, 'pipelines'),
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'chat', provider: 'echo' }],
        api_keys: [{ name: 'test', key }],
      }),
    )
  })
  afterEach(async () => {
    await serving.remove()
    await database?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const start = async () => {
    serving = startServe(folder, { SLUICE_CONFIG: 'sluice.yaml' }, '--json')
    await serving.until(() => serving.out.some((line) => line.includes('"url"')))
    const { url } = Object.assign({}, ...serving.out.map((line) => JSON.parse(line) as object)) as { url: string }
    return url
  }
  /** The id under which a request has its row, once it is answered. */
  const ask = async (url: string): Promise<string> => {
    const messages = [{ role: 'user', content: 'hello' }]
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat', messages }),
    })
    await response.arrayBuffer()
    return response.headers.get('x-request-id') ?? ''
  }
  const written = async () => {
    const rows = await tablesOf(database).selectFrom('requests').select('id').execute()
    return new Set(rows.map(({ id }) => id))
  }

  it('has lost no row but the last ones, and goes on where it was', async () => {
    const url = await start()
    database = await openDatabase(`sqlite:${folder}/sluice.db`)
    const first: string[] = []
    for (let count = 0; count < 100; count += 1) first.push(await ask(url))
    // Nothing more is asked, and nobody tells it to stop: the rows come by themselves.
    for (let found = new Set<string>(); !first.every((id) => found.has(id));) found = await written()
    const later: string[] = []
    const asking = async () => {
      for (;;) later.push(await ask(url))
    }
    const broken = asking().catch((error: Error) => error.message)
    for (let some = 0; some < 200; some = (await written()).size - first.length) await new Promise(setImmediate)
    serving.interrupt('SIGKILL')
    await serving.ended
    // Before or after the head of an answer.
    expect(await broken).to.be.oneOf(['fetch failed', 'terminated'])
    const kept = await written()
    expect(first.filter((id) => !kept.has(id))).to.deep.equal([])
    // Rows are written in the order of the answers: none is missing but the last ones.
    const lost = later.findIndex((id) => !kept.has(id))
    expect(lost).to.satisfy((at: number) => at < 0 || at >= 100)
    if (lost >= 0) expect(later.slice(lost).filter((id) => kept.has(id))).to.deep.equal([])
    const again = await ask(await start())
    await until(async () => (await written()).has(again))
  })
})
