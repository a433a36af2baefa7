import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { asText } from '../../../engine/kit.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { pool } from './rig.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')
const asked = 1_000
/** Requests at the same time. */
const together = 20

describe('a log of 1,000 routed requests', function () {
  this.timeout(600_000)
  let folder: string
  let gateway: AdminGateway
  const configuration = () => ({
    database: `sqlite:${join(folder, 'sluice.db')}`,
    providers: [{ name: 'far', type: 'echo' }],
    models: [...pool, { ...pool[1], name: 'beside' }].map((model) => ({ ...model, supports_tools: true })),
    server_config: { smart_routing: { enabled: true, seed: 'seed' } },
  })
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-replay-'))
    gateway = await startAdmin(configuration())
  })
  after(async () => {
    await gateway.close()
    await rm(folder, { recursive: true })
  })

  /** The body of a request: questions of all kinds, and steps of agents. */
  const bodyOf = (index: number): JsonObject => {
    const words = ['How many legs has a spider?', 'Prove that there are infinitely many primes, step by step.', 'Hi']
    const messages: JsonObject[] = [{ role: 'user', content: `${words[index % 3]} ${'and why? '.repeat(index % 7)}` }]
    if (index % 5 === 0) {
      const call = { id: 'c', type: 'function', function: { name: 'read_file', arguments: '{}' } }
      messages.push({ role: 'assistant', content: null, tool_calls: [call] })
      messages.push({ role: 'tool', tool_call_id: 'c', content: 'Done.' })
    }
    return { model: ['auto', 'fast', 'best'][index % 3] ?? 'auto', messages }
  }

  it('is decided again as it was, all of it', async () => {
    for (let first = 0; first < asked; first += together)
      await Promise.all(
        Array.from({ length: together }, async (_, index) => {
          const answer = await gateway.post('/v1/chat/completions', bodyOf(first + index))
          await answer.text()
          expect(answer.status).to.equal(200)
        }),
      )
    await gateway.rows(asked)
    const body = { settings: {}, since: '2020-01-01T00:00:00Z', limit: asked }
    const { status, body: replayed } = await gateway.asAdmin('POST /api/routing/replay', body)
    expect(status).to.equal(200)
    expect(replayed).to.include({ rows: asked, changed: 0, cost_change: 0 })
    const data = replayed['data'] as readonly { readonly would: JsonObject }[]
    expect(new Set(data.map(({ would }) => would['because']))).to.deep.equal(new Set(['same']))
    expect(new Set(data.map(({ would }) => would['model'])).size).to.be.at.least(3)
  })

  it('is decided again by the command, which says what has changed', async () => {
    const rows = await gateway.rows(asked)
    const blocks = rows.map(({ id, metadata }) => {
      const { routing } = JSON.parse(metadata) as { readonly routing: JsonObject }
      return { id, chosen: routing['chosen'], tier: routing['tier'] }
    })
    const { database, models, ...given } = configuration()
    const replay = async (id: string, without?: unknown): Promise<JsonObject> => {
      const file = join(folder, 'sluice.yaml')
      const left = models.filter(({ name }) => name !== without)
      await writeFile(file, JSON.stringify({ ...given, models: left, database: { url: database } }))
      const command = [sluice, 'route', '--replay', id, '--json', '--config', file]
      return run(process.execPath, command, { cwd: folder }).then(
        ({ stdout }) => JSON.parse(stdout) as JsonObject,
        ({ code, stderr }: { code: number; stderr: string }) => ({ code, error: stderr.trim() }),
      )
    }
    for (const chosen of [...new Set(blocks.map((block) => asText(block.chosen)))].slice(0, 2)) {
      const one = blocks.find((block) => block.chosen === chosen)
      const { id = '', tier = null } = one ?? {}
      const was = { model: chosen, tier }
      const same = await replay(id)
      expect(same).to.deep.include({ request_id: id, was, same: true, changed: [] })
      expect(same['would']).to.include({ ...was, because: 'same' })
      const gone = await replay(id, chosen)
      expect(gone).to.deep.include({ was, same: false, changed: [chosen] })
      expect(gone['would']).to.include({ because: 'gone' })
    }
    expect(await replay('nothing')).to.deep.equal({
      code: 1,
      error: 'sluice: there is no routed request "nothing" in the log',
    })
  })
})
