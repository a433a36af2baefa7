import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { pino } from 'pino'
import type { Database } from '../../../engine/store/database.ts'
import { RowSpill, spilledTables } from '../../../engine/store/row-spill.ts'
import { Rows } from '../../../engine/store/rows.ts'
import { until } from '../../support/until.ts'
import { onBothDatabases } from './both-databases.ts'

const log = pino({ level: 'silent' })
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `h${from + index}`)

function contract(open: () => Promise<Database>): void {
  let folder: string
  let database: Database
  let rows: Rows
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'sluice-spill-')), 'spill')
    database = await open()
    rows = new Rows({ url: database.url, log, spill: folder })
    await database.rows('create table hens (id text primary key, eggs integer)')
    await database.rows('create table hens_eggs (yard text primary key, eggs integer not null)')
  })
  afterEach(async () => {
    await rows.close()
    for (const table of ['hens', 'hens_eggs']) await database.rows(`drop table if exists ${table}`)
    await database.close()
    rmSync(join(folder, '..'), { recursive: true })
  })

  const queueOf = (of: Rows) => {
    const queue = of.of('hens')
    queue.waits = true
    queue.sums = [
      `insert into hens_eggs (yard, eggs) select 'all', sum(eggs) from added where true having count(*) > 0
        on conflict (yard) do update set eggs = hens_eggs.eggs + excluded.eggs`,
    ]
    return queue
  }
  const away = () => database.rows('alter table hens rename to hens_elsewhere')
  const back = () => database.rows('alter table hens_elsewhere rename to hens')
  const eggs = async () =>
    (await database.rows<{ eggs: number | string }>('select eggs from hens_eggs')).map((row) => Number(row.eggs))
  const files = () => spilledTables(folder)

  it('keeps in a file, for its owner alone, what the database does not take, and writes each row once', async () => {
    const queue = queueOf(rows)
    await away()
    for (const id of numbers(1500)) queue.append({ id, eggs: 1 })
    await until(() => files().length === 1)
    // Later rows do not wait for the database.
    for (const id of numbers(20_000, 1500)) queue.append({ id, eggs: 1 })
    const inFiles = () =>
      readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length, 0)
    await until(() => inFiles() > 21_500)
    expect(queue.counters).to.include({ written: 0, dropped: 0, pending: 21_500 })
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).to.equal(0o600)
    await back()
    await rows.flush()
    expect(queue.counters).to.deep.equal({ written: 21_500, dropped: 0, pending: 0, failing: undefined })
    await until(() => files().length === 0)
    expect(await eggs()).to.deep.equal([21_500])
    queue.append({ id: 'later', eggs: 1 })
    await rows.flush()
    expect(await eggs()).to.deep.equal([21_501])
    // What is not repeated any more is not remembered.
    expect((await database.rows('select * from written_batches')).length).to.be.at.most(2)
  })

  it('writes what a killed process left, once, though a part of it was written and the rows were deleted since', async () => {
    const queue = queueOf(rows)
    await away()
    for (const id of numbers(300)) queue.append({ id, eggs: 1 })
    const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
    // A file is there before its rows are.
    await until(() => files().length === 1 && textOf(readdirSync(folder)[0] ?? '').split('\n').length > 300)
    const [name] = readdirSync(folder) as [string]
    const kept = textOf(name)
    await back()
    await rows.flush()
    await until(() => files().length === 0)
    await rows.close()
    // As if the process had been killed after the commit, before it removed the file; the end of the file was cut, too.
    await database.rows("insert into written_batches (batch, part) values ('again', 0)")
    const again = kept.replace(/"id":"[^"]+"/, '"id":"again"')
    const left = `${again}${again.replace('"again"', '"cut"').slice(0, -20)}`
    const next = again.replace('"again"', '"next"').replaceAll('\t["h', '\t["n')
    writeFileSync(join(folder, 'hens.elsewhere~1~x.1'), left)
    writeFileSync(join(folder, 'hens.elsewhere~1~x.2'), next)
    await database.rows('delete from hens')
    rows = new Rows({ url: database.url, log, spill: folder })
    queueOf(rows)
    rows.recover()
    // Another machine's process that has just touched its files is alive.
    expect(readdirSync(folder)).to.have.length(2)
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), 0, 0)
    rows.recover()
    await until(() => files().length === 0)
    expect(await eggs()).to.deep.equal([600])
    expect(await database.rows('select id from hens')).to.have.length(300)
  })

  it('is remembered by name until its process closes, or for 30 days after a kill', async () => {
    const names = async () =>
      (await database.rows<{ batch: string }>('select batch from written_batches')).map(({ batch }) => batch)
    const remember = (batch: string) =>
      database.rows(`insert into written_batches (batch, part) values ('${batch}', 0)`)
    await database.rows('delete from written_batches')
    const day = 24 * 3_600_000
    const [old, young] = [31, 29].map((days) => `${Date.now() - days * day}.run.1`) as [string, string]
    for (const batch of [old, young, '10000000-another-name']) await remember(batch)
    const write = async (id: string) => {
      queueOf(rows).append({ id, eggs: 1 })
      await rows.flush()
    }
    await write('one')
    expect(await names())
      .to.have.length(3)
      .and.not.include(old)
    await rows.close()
    expect((await names()).toSorted()).to.deep.equal(['10000000-another-name', young])

    // A file may repeat any batch.
    await remember(old)
    new RowSpill(folder, 'elsewhere').add('ducks', { id: old, columns: [['id']], rows: '0\t["d"]' })
    rows = new Rows({ url: database.url, log, spill: folder })
    await write('two')
    expect(await names()).to.include(old)
  })

  it('is written by the next process when one was killed while the database was away', async () => {
    await away()
    const module = new URL('../../../engine/store/rows.ts', import.meta.url).href
    const program = join(folder, '..', 'killed.ts')
    writeFileSync(
      program,
      `const { Rows } = await import(${JSON.stringify(module)})
       const log = { info() {}, warn() {}, error() {}, child: () => log }
       const queue = new Rows({ url: ${JSON.stringify(database.url)}, log, spill: ${JSON.stringify(folder)} }).of('hens')
       queue.waits = true
       for (let id = 0; id < 2500; id++) queue.append({ id: 'h' + id, eggs: 1 })
       setInterval(() => undefined, 1000)`,
    )
    const killed = fork(program, { execArgv: ['--experimental-strip-types', '--no-warnings'] })
    const lines = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length)
    await until(() => files().length > 0 && lines().reduce((sum, one) => sum + one, 0) > 2500)
    const exit = once(killed, 'exit')
    killed.kill('SIGKILL')
    await exit
    await back()
    queueOf(rows)
    rows.recover()
    await until(() => files().length === 0)
    expect(await database.rows('select id from hens')).to.have.length(2500)
    expect(await eggs()).to.deep.equal([2500])
  })
}

describe('engine/store/row-spill', () => {
  onBothDatabases(contract)

  it('reads batches as they were added, the files of a table in their order, and no other table', () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'sluice-spill-')), 'spill')
    const spill = new RowSpill(folder, 'p')
    const batch = (id: string, rows: string) => ({ id, columns: [['id']], rows })
    const many = Array.from({ length: 3 }, (_, index) =>
      batch(String(index), `0\t["${'x'.repeat(5_000_000)}"]\n0\t["y"]`),
    )
    for (const one of many) spill.add('hens', one)
    spill.add('eggs', batch('e', '0\t["e"]'))
    const seen: string[] = []
    for (let file = spill.take('hens'); file; file = spill.take('hens')) {
      expect(file.own).to.equal(true)
      seen.push(...spill.read(file.path).map(({ id }) => id))
      spill.remove(file.path)
    }
    expect(seen).to.deep.equal(['0', '1', '2'])
    expect(spilledTables(folder)).to.deep.equal(['eggs'])
    expect(new RowSpill(folder, 'q').take('eggs')?.own).to.equal(false)
    rmSync(join(folder, '..'), { recursive: true })
  })
})
