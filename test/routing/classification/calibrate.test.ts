import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { lookUp, tableOf } from '../../../plugins/classification/confidence-map.ts'
import type { ConfidenceMap, Label } from '../../../plugins/classification/confidence-map.ts'
import first from '../../../plugins/classification/confidence.json' with { type: 'json' }
import { fitIsotonic, stepAt } from '../../../plugins/classification/isotonic.ts'
import { fitPlatt } from '../../../plugins/classification/platt.ts'
import { refit } from '../../../plugins/classification/refit.ts'
import { random } from './random.ts'
import { until } from '../../support/until.ts'
import { classifying, said } from './rig.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')

/** Labels of decisions of which `share(raw)` are right. */
function labels(count: number, share: (raw: number) => number, seed = 1): readonly Label[] {
  const next = random(seed)
  return Array.from({ length: count }, () => {
    const raw = 0.35 + 0.6 * next()
    return { raw, right: next() < share(raw) ? 1 : 0 }
  })
}

describe('routing/classification: a refit', () => {
  const before = first as ConfidenceMap

  it('brings the confidence near to what is right here, from 100 labels', () => {
    const here = (raw: number) => 0.5 + 0.4 * (raw - 0.35)
    const misses = Array.from({ length: 20 }, (_, seed) => {
      const { table, kind, labels: count } = refit(labels(100, here, seed + 1), before)
      expect([kind, count]).to.deep.equal(['platt', 100])
      const raws = Array.from({ length: 60 }, (__, at) => 0.35 + at / 100)
      return raws.reduce((sum, raw) => sum + Math.abs(lookUp({ table }, raw) - here(raw)), 0) / raws.length
    })
    expect(misses.reduce((sum, miss) => sum + miss, 0) / misses.length).to.be.below(0.1)
    expect(Math.max(...misses)).to.be.below(0.2)
  })

  it('does not run away from labels that are all alike', () => {
    const { parameters, table } = refit(
      labels(25, () => 1),
      before,
    )
    for (const value of Object.values(parameters)) expect(Math.abs(Number(value))).to.be.below(6)
    for (const value of table) expect(value).to.be.within(0, 1)
  })

  it('is of any shape that never falls from 500 labels on', () => {
    const { kind, table } = refit(
      labels(600, (raw) => (raw < 0.6 ? 0.2 : 0.9)),
      before,
    )
    expect(kind).to.equal('isotonic')
    expect(table).to.deep.equal(table.toSorted((one, other) => one - other))
    expect(lookUp({ table }, 0.45)).to.be.closeTo(0.2, 0.1)
    expect(lookUp({ table }, 0.85)).to.be.closeTo(0.9, 0.1)
  })

  it('finds the line of labels without a prior, and stays at a prior without labels', () => {
    const points = labels(4_000, (raw) => 1 / (1 + Math.exp(-(4 * raw - 2)))).map(({ raw, right }) => ({
      value: raw,
      label: right,
    }))
    const loose = { slope: 1, offset: 0, slopeDeviation: 100, offsetDeviation: 100 }
    const { slope, offset } = fitPlatt(points, loose)
    expect(slope).to.be.closeTo(4, 0.6)
    expect(offset).to.be.closeTo(-2, 0.4)
    expect(fitPlatt([], loose)).to.deep.equal({ slope: 1, offset: 0 })
  })

  it('fits a line for SIMPLE and one for what is above, where equal raw values mean different things', () => {
    const next = random(5)
    const share = { SIMPLE: 0.9, MEDIUM: 0.4, COMPLEX: 0.4 }
    const mixed = Array.from({ length: 120 }, (_, at): Label => {
      const tier = (['SIMPLE', 'MEDIUM', 'COMPLEX'] as const)[at % 3] ?? 'SIMPLE'
      return { raw: 0.67 + 0.28 * next(), right: next() < share[tier] ? 1 : 0, tier }
    })
    const two = refit(mixed, before)
    expect(two.kind).to.equal('platt2')
    expect(Object.keys(two.parameters)).to.have.members(['slope', 'offset', 'slope_above', 'offset_above'])
    expect(two.table_above).to.have.length(101)
    for (const raw of [0.7, 0.8, 0.9]) expect(lookUp(two, raw, 'simple') - lookUp(two, raw, 'above')).to.be.above(0.25)
    expect(lookUp(two, 0.8, 'simple')).to.be.closeTo(0.9, 0.1)
    expect(lookUp(two, 0.8, 'above')).to.be.closeTo(0.4, 0.15)
    // A side without labels keeps its map, and so does the next refit.
    const simple = mixed.filter(({ tier }) => tier === 'SIMPLE')
    const kept = refit(simple, { version: 'local-1', ...two })
    expect([kept.kind, kept.table_above]).to.deep.equal(['platt2', two.table_above])
    expect(refit(simple, before).table_above).to.deep.equal(before.table)
  })

  it('leaves labels without a tier out, unless most have none', () => {
    const next = random(7)
    const mixed = Array.from({ length: 60 }, (_, at): Label => ({
      raw: 0.67 + 0.28 * next(),
      right: next() < 0.6 ? 1 : 0,
      tier: at % 2 === 0 ? 'SIMPLE' : 'MEDIUM',
    }))
    const unknown = (count: number) => mixed.slice(0, count).map(({ raw, right }): Label => ({ raw, right }))
    const two = refit(mixed, before)
    expect([two.kind, two.labels]).to.deep.equal(['platt2', 60])
    expect(refit([...unknown(1), ...mixed], before)).to.deep.equal(two)
    expect(refit([...unknown(60), ...mixed], before)).to.deep.equal(two)
    const one = refit([...unknown(60), ...mixed.slice(0, 59)], before)
    expect([one.kind, one.labels, one.table_above]).to.deep.equal(['platt', 119, undefined])
    // As few as these say nothing of two sides.
    const few = refit([...unknown(10), ...mixed.slice(0, 24)], before)
    expect([few.kind, few.labels]).to.deep.equal(['platt', 34])
  })

  it('is accepted by the shape that it has: each fold has that of all labels', () => {
    const next = random(11)
    const labelled = (count: number, tier: 'SIMPLE' | 'COMPLEX', share: (raw: number) => number) =>
      Array.from({ length: count }, (): Label => {
        const raw = 0.67 + 0.28 * next()
        return { raw, right: next() < share(raw) ? 1 : 0, tier }
      })
    // 80 % of 110 are fewer than a side needs that may have any shape.
    const labels = [...labelled(440, 'SIMPLE', () => 0.9), ...labelled(110, 'COMPLEX', (raw) => Number(raw > 0.9))]
    const { parameters, brier_after: after } = refit(labels, before)
    expect(parameters).to.include.keys('values_above', 'labels_above')
    const errors = (['SIMPLE', 'COMPLEX'] as const).flatMap((tier) =>
      [0, 1, 2, 3, 4].flatMap((fold) => {
        const own = (isHeld: boolean) =>
          labels.filter((label, at) => label.tier === tier && (at % 5 === fold) === isHeld)
        const stairs = fitIsotonic(own(false).map(({ raw, right }) => ({ value: raw, label: right })))
        const table = tableOf((raw) => stepAt(stairs, raw))
        return own(true).map(({ raw, right }) => (lookUp({ table }, raw) - right) ** 2)
      }),
    )
    expect(after).to.be.closeTo(errors.reduce((sum, one) => sum + one, 0) / labels.length, 1e-6)
  })

  it('may have any shape on a side that has enough labels', () => {
    const next = random(9)
    const labelled = (count: number, tier: 'SIMPLE' | 'COMPLEX') =>
      Array.from({ length: count }, (): Label => {
        const raw = 0.67 + 0.28 * next()
        return { raw, right: next() < (raw < 0.8 ? 0.2 : 0.9) ? 1 : 0, tier }
      })
    const { kind, parameters } = refit([...labelled(580, 'SIMPLE'), ...labelled(20, 'COMPLEX')], before)
    expect(kind).to.equal('isotonic')
    expect(Object.keys(parameters)).to.have.members(['values', 'labels', 'slope_above', 'offset_above'])
  })

  it('pools what falls', () => {
    const points = [0, 1, 0, 1, 1].map((label, value) => ({ value, label }))
    const stairs = fitIsotonic(points)
    expect(stairs.values).to.deep.equal([0, 1, 3])
    expect(stepAt(stairs, -1)).to.equal(stepAt(stairs, 0))
    expect(stepAt(stairs, 2)).to.equal(0.5)
    expect(tableOf((raw) => raw)[37]).to.equal(0.37)
  })
})

describe('sluice calibrate', function () {
  this.timeout(0)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-calibrate-'))
  after(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'sluice.yaml')
  writeFileSync(config, JSON.stringify({ database: { url: `sqlite:${join(folder, 'sluice.db')}` } }))
  const file = (name: string, given: readonly object[]) => {
    writeFileSync(join(folder, name), given.map((one) => JSON.stringify(one)).join('\n'))
    return name
  }
  const calibrate = (...words: string[]) =>
    run(process.execPath, [sluice, 'calibrate', ...words, '--config', config], { cwd: folder }).then(
      ({ stdout }) => ({ code: 0, out: stdout.trim(), error: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        out: stdout.trim(),
        error: stderr.trim(),
      }),
    )
  const better = file(
    'better.jsonl',
    labels(200, () => 0.35),
  )

  it('shows a map without storing it, stores it as the next version, and goes back', async () => {
    const dry = JSON.parse((await calibrate('--labels', better, '--dry-run', '--json')).out) as ConfidenceMap
    expect(dry).to.have.all.keys('kind', 'parameters', 'labels', 'brier_before', 'brier_after', 'table')
    expect(dry.table).to.have.length(101)
    expect(dry.brier_after).to.be.below(dry.brier_before)
    const rig = await classifying(undefined, { folder })
    try {
      expect((await rig.classify(said('Prove it.'))).map).to.equal('dev-1')
      const stored = JSON.parse((await calibrate('--labels', better, '--json')).out) as ConfidenceMap
      expect(stored).to.deep.equal({ ...dry, version: 'local-1' })
      // The running gateway takes it without a reload.
      await until(async () => (await rig.classify(said('Prove it.'))).map === 'local-1')
      const { confidence, confidenceRaw } = await rig.classify(said('Prove it.'))
      expect(confidence).to.equal(lookUp(stored, confidenceRaw))
      expect((await calibrate('--to', 'dev-1')).out).to.equal('The confidence map dev-1 is used.')
      await until(async () => (await rig.classify(said('Prove it.'))).map === 'dev-1')
    } finally {
      await rig.close()
    }
    expect((await calibrate('--to', 'local-1')).code).to.equal(0)
  })

  it('refuses a map that is no better, too few labels, and what is no label', async () => {
    const worse = await calibrate('--labels', better)
    expect(worse.code).to.equal(1)
    expect(worse.error).to.match(/The map local-1 stays: its Brier score is 0\.\d+, that of a new one 0\.\d+\./)
    const few = await calibrate(
      '--labels',
      file(
        'few.jsonl',
        labels(24, () => 1),
      ),
    )
    expect([few.code, few.error]).to.deep.equal([1, 'There are 24 labels; at least 25 are needed.'])
    expect((await calibrate()).error).to.equal('There are 0 labels; at least 25 are needed.')
    const broken = await calibrate(
      '--labels',
      file('broken.jsonl', [
        { raw: 0.5, right: 1 },
        { raw: 2, right: 1 },
      ]),
    )
    expect([broken.code, broken.error]).to.deep.equal([
      1,
      'broken.jsonl: line 2 must be {"raw": a number from 0 to 1, "right": 0 or 1}',
    ])
    const unknown = await calibrate('--labels', file('unknown.jsonl', [{ raw: 0.5, right: 1, tier: 'HARD' }]))
    expect([unknown.code, unknown.error]).to.deep.equal([
      1,
      'unknown.jsonl: line 1 has a "tier" that is not SIMPLE, MEDIUM or COMPLEX',
    ])
    expect((await calibrate('--to', 'local-9')).error).to.equal('There is no confidence map of version "local-9".')
    expect((await calibrate('--since', 'yesterday')).code).to.equal(1)
  })
})
