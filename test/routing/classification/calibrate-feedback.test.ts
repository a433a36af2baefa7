import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { lookUp } from '../../../plugins/classification/confidence-map.ts'
import type { ConfidenceMap } from '../../../plugins/classification/confidence-map.ts'
import first from '../../../plugins/classification/confidence.json' with { type: 'json' }
import { addRows, onEachDatabase, startLogs } from '../../admin/logs/rig.ts'
import { routedRow, routingBlock } from '../seeing/rig.ts'
import { random } from './random.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')

/** The probability that a tier is right here, which is not what the shipped map expects. */
const here = (raw: number) => 0.15 + 0.5 * raw

/** How far a map is from that on average, over raw confidences that lie evenly. */
function calibrationError(map: ConfidenceMap): number {
  const raws = Array.from({ length: 61 }, (_, at) => 0.34 + at / 100)
  return raws.reduce((sum, raw) => sum + Math.abs(lookUp(map, raw) - here(raw)), 0) / raws.length
}

describe('sluice calibrate, from the feedback in the database', function () {
  this.timeout(600_000)
  onEachDatabase((settings) => {
    it('brings confidence nearer to what is right here, by 100 ratings', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-feedback-'))
      const database = (await settings()).database ?? `sqlite:${join(folder, 'sluice.db')}`
      const gateway = await startLogs({ database })
      const file = join(folder, 'sluice.yaml')
      await writeFile(file, JSON.stringify({ database: { url: database } }))
      const calibrate = async (...words: string[]) =>
        run(process.execPath, [sluice, 'calibrate', '--json', ...words, '--config', file], { cwd: folder })
      try {
        const next = random(7)
        const rate = async (signal: string, confidence_raw: number) => {
          const id = randomUUIDv7()
          await addRows(gateway, [routedRow(id, {}, routingBlock({ confidence_raw }))])
          const { status } = await gateway.asAdmin('POST /api/me/feedback', { request_id: id, signal })
          expect(status).to.equal(201)
        }
        // A decision that no signal judged has no confidence: it must not count.
        await rate('ok', 0)
        for (let count = 0; count < 24; count++) await rate('ok', 0.5)
        const few = await calibrate().catch((error: { stderr: string }) => error.stderr.trim())
        expect(few).to.equal('There are 24 labels; at least 25 are needed.')
        const since = new Date().toISOString()
        for (let count = 0; count < 100; count++) {
          const raw = 0.34 + 0.6 * next()
          const wrong = count % 2 === 0 ? 'weak' : 'strong'
          await rate(next() < here(raw) ? 'ok' : wrong, raw)
        }
        const { stdout } = await calibrate('--since', since)
        const map = JSON.parse(stdout) as ConfidenceMap
        expect(map).to.include({ version: 'local-1', kind: 'platt2', labels: 100 })
        const [before, after] = [calibrationError(first as ConfidenceMap), calibrationError(map)]
        expect(before).to.be.above(0.15)
        expect(after).to.be.below(0.1)
        // All of these were SIMPLE, as the signals saw them.
        expect(map.table_above).to.deep.equal(first.table)
      } finally {
        await gateway.close()
        await rm(folder, { recursive: true })
      }
    })
  })
})
