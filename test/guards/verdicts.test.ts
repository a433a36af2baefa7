import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Context } from 'mocha'
import { pino } from 'pino'
import type { ServiceHost } from '../../engine/index.ts'
import { openDatabase } from '../../engine/store/database.ts'
import type { Database } from '../../engine/store/database.ts'
import { migrateService } from '../../engine/store/migrate-service.ts'
import guards from '../../plugins/guards/guards.ts'
import { VerdictCounts } from '../../plugins/guards/verdict-counts.ts'
import { postgres } from '../support/services.ts'
import { tablesOf } from '../support/tables.ts'

const log = pino({ level: 'silent' })

function contract(fresh: (context: Context) => Promise<string>): void {
  let database: Database
  /** As two processes have them. */
  let counts: readonly [VerdictCounts, VerdictCounts]
  beforeEach(async function () {
    database = await openDatabase(await fresh(this))
    await migrateService(database, guards, log)
    const host = { database: tablesOf(database), log } as unknown as ServiceHost
    counts = [new VerdictCounts(host), new VerdictCounts(host)]
  })
  afterEach(() => database.close())

  it('are those of all processes, live beside shadow, with percentiles of their times', async () => {
    const of = { guard: 'pii', side: 'input', shadow: false } as const
    for (let milliseconds = 1; milliseconds <= 100; milliseconds += 1)
      counts[milliseconds % 2 === 0 ? 0 : 1].add({
        ...of,
        outcome: milliseconds > 90 ? 'masked' : 'passed',
        milliseconds,
      })
    counts[0].add({ ...of, outcome: 'error', milliseconds: 2_000 })
    counts[1].add({ ...of, shadow: true, outcome: 'denied', milliseconds: 0 })
    await Promise.all(counts.map((one) => one.close()))
    const today = new Date().toISOString().slice(0, 10)
    const [live, shadow, ...others] = await counts[0].figures(today)
    expect(others).to.deep.equal([])
    expect(live).to.include({ ...of, verdicts: 101, hits: 10, errors: 1, longest: 2_000 })
    expect(live?.p50).to.be.within(51, 51 * 1.19)
    expect(live?.p95).to.be.within(96, 96 * 1.19)
    expect(shadow).to.include({ shadow: true, verdicts: 1, hits: 1, errors: 0, p50: 0, p95: 0, longest: 0 })
    // What was written is added to, whoever wrote it.
    counts[1].add({ ...of, outcome: 'passed', milliseconds: 1 })
    expect((await counts[1].figures(today))[0]).to.include({ verdicts: 102 })
    const days = await counts[1].days(today)
    expect(days.map(({ outcome, verdicts, shadow: isShadow }) => [outcome, verdicts, isShadow])).to.deep.equal([
      ['error', 1, false],
      ['masked', 10, false],
      ['passed', 91, false],
      ['denied', 1, true],
    ])
  })

  it('are none of the days before', async () => {
    counts[0].add({ guard: 'pii', side: 'output', shadow: false, outcome: 'passed', milliseconds: 1 })
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    expect(await counts[0].figures(tomorrow)).to.deep.equal([])
  })
}

describe('guards: figures', () => {
  describe('in SQLite', () => {
    const folders: string[] = []
    after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))
    contract(() => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-verdicts-'))
      folders.push(folder)
      return Promise.resolve(`sqlite:${folder}/sluice.db`)
    })
  })

  describe('in PostgreSQL', () => {
    contract(async (context) => (await postgres(context)).url)
  })
})
