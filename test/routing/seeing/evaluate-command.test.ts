import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { pool, routedRow, routingBlock } from './rig.ts'

const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')
const begin = Date.UTC(2026, 0, 1)
const day = 86_400_000

/** Two models that were equally likely, of which the means prefer one. */
const arms = [
  { model: 'm-large', a: 4, b: 2, c: 0, pass: true, trial: true },
  { model: 'm-mid', a: 6, b: 2, c: 0, pass: true },
]
const propensity = { policy: 'mean-1', seed: '5b1f', trial_p: 0.5, arms }

describe('sluice route --evaluate', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-evaluate-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return name
  }
  const policy = (value: object) => file('policy.json', JSON.stringify(value))
  const route = (...words: string[]) =>
    new Promise<{ code: number; out: string; error: string }>((done) => {
      const command = [sluice, 'route', ...words, '--config', join(folder, 'sluice.yaml')]
      const child = execFile(process.execPath, command, { cwd: folder }, (_, out, error) =>
        done({ code: child.exitCode ?? -1, out: out.trim(), error: error.trim() }),
      )
    })

  /** Adds rated rows: a thing for each signal, and what must not count. */
  const rate = () => {
    const database = new DatabaseSync(join(folder, 'sluice.db'))
    const insert = (table: string, row: object) => {
      const names = Object.keys(row)
      const places = names.map(() => '?').join(', ')
      database.prepare(`insert into ${table} (${names.join(', ')}) values (${places})`).run(...Object.values(row))
    }
    const add = (
      id: string,
      at: number,
      model: string,
      signal: string,
      fields: object = {},
      block: JsonObject = {},
    ) => {
      const routing = routingBlock({ chosen: model, served: model, propensity, ...block })
      insert('requests', routedRow(id, { at, model, ended: at + 50, ...fields }, routing))
      insert('routing_records_labels', { id, request_at: at, at: at + 1000, signal, applied: 1 })
    }
    database.exec('begin')
    // m-mid: 120 of 160 are good enough, half of these "strong"; m-large: 144 of 160. Ten days before, all were weak.
    for (let index = 0; index < 160; index++) {
      const good = index % 8 < 3 ? 'ok' : 'strong'
      add(`mid-${index}`, begin + index, 'm-mid', index % 4 === 3 ? 'weak' : good)
      add(`large-${index}`, begin + index, 'm-large', index % 10 === 9 ? 'weak' : 'ok')
    }
    for (let index = 0; index < 50; index++) add(`early-${index}`, begin - 10 * day + index, 'm-mid', 'weak')
    add('refused', begin + 1, 'm-mid', 'weak', { result: 'refused' })
    add('fallback', begin + 1, 'm-mid', 'weak', {}, { served: 'm-large' })
    add('earlier', begin + 1, 'm-mid', 'weak', {}, { propensity: null })
    // Rated, but gone from the log, as after its retention.
    insert('routing_records_labels', { id: 'gone', request_at: begin, at: begin, signal: 'weak', applied: 1 })
    database.exec('commit')
    database.close()
  }
  before(async () => {
    const configuration = {
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      providers: [{ name: 'far', type: 'compatible', base_url: 'http://127.0.0.1:9' }],
      models: pool,
      server_config: { smart_routing: { enabled: true } },
    }
    file('sluice.yaml', JSON.stringify(configuration))
    // The first command makes the tables.
    const empty = await route('--evaluate', policy({ model: 'm-mid' }), '--json')
    expect(empty.code, empty.error).to.equal(1)
    expect(JSON.parse(empty.out)).to.include({ rows: 0, snips: null })
    rate()
  })
  after(() => rmSync(folder, { recursive: true }))

  it('estimates the mean reward of a policy from the rated rows since a time', async () => {
    const since = ['--since', '2026-01-01T00:00:00Z', '--json'] as const
    const large = await route('--evaluate', policy({ model: 'm-large' }), ...since)
    expect([large.code, large.error]).to.deep.equal([0, ''])
    const found = JSON.parse(large.out) as Record<'snips' | 'doubly_robust', Record<'value' | 'low' | 'high', number>>
    expect(found).to.have.all.keys('rows', 'logged', 'ess', 'clipped', 'snips', 'doubly_robust')
    expect(found).to.include({ rows: 320, logged: 264 / 320, ess: 160, clipped: 0 })
    expect(found.snips.value).to.be.closeTo(0.9, 1e-9)
    for (const { value, low, high } of [found.snips, found.doubly_robust]) {
      expect(value).to.be.closeTo(0.9, 0.01)
      expect(low).to.be.within(0.7, value)
      expect(high).to.be.within(value, 1)
    }
    const tiers = await route(
      '--evaluate',
      policy({ tiers: { SIMPLE: 'm-large', MEDIUM: 'm-mid', COMPLEX: 'm-large' } }),
      ...since,
    )
    const means = await route('--evaluate', policy({ policy: 'mean-1' }), ...since)
    expect(tiers.out, 'both choose m-mid').to.equal(means.out)
    expect((JSON.parse(means.out) as typeof found).snips.value).to.be.closeTo(0.75, 1e-9)
  })

  it('takes every rated row without a time, and prints lines for people', async () => {
    const { code, out } = await route('--evaluate', policy({ model: 'm-mid' }))
    expect(code).to.equal(0)
    expect(out.split('\n')[0]).to.match(/rated requests +370, effective sample size 210, weights cut: 0 %$/)
    expect(out).to.match(/snips +0\.5714, between 0\.\d+ and 0\.\d+/)
    expect(out).to.match(/doubly robust +0\.\d+, between/)
  })

  it('refuses with the reason what the rows say too little about', async () => {
    const { code, out, error } = await route('--evaluate', policy({ model: 'other' }))
    expect([code, out]).to.deep.equal([1, ''])
    expect(error).to.equal(
      'sluice: 370 rated requests say too little of this policy: their effective sample size is 0, and at least 100 is needed',
    )
  })

  it('says what is wrong with a policy, a time or the words', async () => {
    const cases: readonly (readonly [readonly string[], string])[] = [
      [['--evaluate', file('text.json', 'nonsense')], '--evaluate has no JSON object'],
      [['--evaluate', file('two.json', '{"model":"a","policy":"ts-1"}')], 'a policy has one of "model"'],
      [['--evaluate', 'gone.json'], '--evaluate cannot be read: ENOENT'],
      [['--evaluate', file('one.json', '{"model":"a"}'), '--since', 'yesterday'], '--since "yesterday" is no time'],
      [['Hello', '--since', '2026-01-01T00:00:00Z'], '--since needs --evaluate'],
      [['Hello', '--evaluate', 'one.json'], 'say one of a prompt, --file, --jsonl, --replay and --evaluate'],
    ]
    for (const [words, message] of cases) {
      const { code, error } = await route(...words)
      expect(code, error).to.equal(2)
      expect(error).to.match(/^sluice: /)
      expect(error).to.include(message)
    }
  })
})
