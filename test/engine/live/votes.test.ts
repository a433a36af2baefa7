import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { pino } from 'pino'
import { assemble } from '../../../engine/components/assemble.ts'
import { defineSignal } from '../../../engine/index.ts'
import { collectVotes } from '../../../engine/live/votes.ts'
import { WorkerPool } from '../../../engine/workers/pool.ts'

const modules = {
  length: `export default ({ text, facts }) => ({ complexity: Math.min(1, text.length / 10), confidence: facts.sure, reasons: ['length'] })`,
  endless: `export default () => { for (;;) {} }`,
  broken: `export default () => { throw new Error('no idea') }`,
  absurd: `export default () => ({ complexity: 7, confidence: 1, reasons: [] })`,
}

describe('votes', () => {
  const pool = new WorkerPool({ threads: 2 })
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-votes-'))
    for (const [name, text] of Object.entries(modules)) await writeFile(join(folder, `${name}.mjs`), text)
  })
  after(async () => {
    await pool.close()
    await rm(folder, { recursive: true })
  })

  it('are those of the signals that answer in time and sense; the others abstain, each with a line', async () => {
    const found = Object.keys(modules).map((name) => ({
      value: defineSignal({ name, summary: 'A test.', module: pathToFileURL(join(folder, `${name}.mjs`)) }),
      from: name,
    }))
    const { registry, diagnostics } = assemble(found)
    expect(diagnostics).to.deep.equal([])
    const names = [...registry.signals.keys(), 'unknown']
    const gateway = {
      log,
      work: <O>(module: URL, input: unknown, deadline: number) => pool.run<unknown, O>(module, input, deadline),
    }
    const votes = await collectVotes(gateway, registry, names, { text: 'five!', facts: { sure: 0.25 } }, 2_000)
    expect([...votes]).to.deep.equal([['length', { complexity: 0.5, confidence: 0.25, reasons: ['length'] }]])
    const abstained = lines.map((line) => (JSON.parse(line) as { signal: string }).signal)
    expect(abstained.sort()).to.deep.equal(['absurd', 'broken', 'endless', 'unknown'])
  })

  it('are given on the event loop by a signal that is quick for such a text, and in a thread for a longer one', async () => {
    await writeFile(
      join(folder, 'where.mjs'),
      `import { isMainThread } from 'node:worker_threads'
      export default () => ({ complexity: isMainThread ? 0 : 1, confidence: 1, reasons: [] })`,
    )
    const module = pathToFileURL(join(folder, 'where.mjs'))
    const { registry } = assemble([
      { value: defineSignal({ name: 'where', summary: 'A test.', module, quick: 5 }), from: 'where' },
      { value: defineSignal({ name: 'never', summary: 'A test.', module }), from: 'never' },
    ])
    const gateway = {
      log,
      work: <O>(one: URL, input: unknown, deadline: number) => pool.run<unknown, O>(one, input, deadline),
    }
    const found = async (text: string) => {
      const votes = await collectVotes(gateway, registry, ['where', 'never'], { text, facts: {} }, 10_000)
      return ['where', 'never'].map((name) => votes.get(name)?.complexity)
    }
    expect(await found('five!')).to.deep.equal([0, 1])
    expect(await found('six!!!')).to.deep.equal([1, 1])
  })

  it('refuses a signal without a module', () => {
    const { diagnostics } = assemble([{ value: { kind: 'signal', name: 'lost', summary: '' }, from: 'lost.ts' }])
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      'signal "lost": "module" must be the URL of its module',
    ])
  })
})
