import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject, TableQueries } from '../../../engine/index.ts'
import type { AuditTable } from '../../../plugins/audit/table.ts'
import type { Verdict } from '../../../plugins/audit/verify.ts'
import { openAudit } from '../../support/audit.ts'
import type { AuditTrail } from '../../support/audit.ts'
import { postgres } from '../../support/services.ts'

const length = 12
const reasons = [
  'hash_mismatch',
  'broken_link',
  'missing_row',
  'column_mismatch',
  'unexpected_row',
  'tail_cut',
  'checkpoint_mismatch',
]

const hashOf = (previous: string, body: string) => hash('sha256', `sluice-audit-1\n${previous}\n${body}`)

/** The texts that a row is changed to, which never occur in the trail. */
const other = fc.stringMatching(/^[a-z]{3,12}$/).map((text) => `${text}~`)
const place = fc.integer({ min: 1, max: length })
const twoPlaces = fc.uniqueArray(place, { minLength: 2, maxLength: 2 }) as fc.Arbitrary<[number, number]>

type Tampering = (rows: TableQueries, all: readonly AuditTable[], trail: AuditTrail) => Promise<unknown>

const set = (rows: TableQueries, sequence: number, values: Partial<AuditTable>) =>
  rows.updateTable('audit').set(values).where('sequence', '=', sequence).execute()
const at = (all: readonly AuditTable[], sequence: number) => all[sequence - 1] as AuditTable

/** Puts another body in a row, and gives it and the rows after it hashes and links that fit, up to row `last`. */
async function rehash(rows: TableQueries, all: readonly AuditTable[], from: number, last: number, text: string) {
  let { previous } = at(all, from)
  for (let sequence = from; sequence <= last; sequence++) {
    const row = at(all, sequence)
    const body = sequence === from ? row.body.replace('"address":null', `"address":"${text}"`) : row.body
    const made = hashOf(previous, body)
    await set(rows, sequence, { body, previous, hash: made })
    previous = made
  }
}

/** A row that fits behind the last one. */
function further(all: readonly AuditTable[], sequence = length + 1): AuditTable {
  const last = at(all, length)
  const body = last.body.replace(`"sequence":${length}`, `"sequence":${sequence}`)
  return { ...last, sequence, body, previous: last.hash, hash: hashOf(last.hash, body) }
}

const cutFrom = async (rows: TableQueries, sequence: number) => {
  await rows.deleteFrom('audit').where('sequence', '>=', sequence).execute()
  await rows.deleteFrom('audit_marks').where('sequence', '>=', sequence).execute()
}

const tamperings: fc.Arbitrary<Tampering> = fc.oneof(
  fc
    .tuple(
      place,
      other,
      fc.constantFrom('action', 'actor_id', 'target_type', 'target_id', 'outcome', 'body', 'previous', 'hash'),
    )
    .map(
      ([sequence, text, column]): Tampering =>
        (rows) =>
          set(rows, sequence, { [column]: text }),
    ),
  fc.tuple(place, fc.integer({ min: 1, max: 1_000_000 })).map(
    ([sequence, ms]): Tampering =>
      (rows, all) =>
        set(rows, sequence, { at: at(all, sequence).at + ms }),
  ),
  fc.tuple(place, fc.nat()).map(([sequence, seed]): Tampering => (rows, all) => {
    const { body } = at(all, sequence)
    const index = seed % body.length
    return set(rows, sequence, { body: `${body.slice(0, index)}~${body.slice(index + 1)}` })
  }),
  fc.tuple(place, other).map(
    ([sequence, text]): Tampering =>
      (rows, all) =>
        rehash(rows, all, sequence, sequence, text),
  ),
  fc.tuple(place, other).map(
    ([sequence, text]): Tampering =>
      (rows, all) =>
        rehash(rows, all, sequence, length, text),
  ),
  place.map(
    (sequence): Tampering =>
      (rows) =>
        rows.deleteFrom('audit').where('sequence', '=', sequence).execute(),
  ),
  place.map((sequence): Tampering => async (rows, all) => {
    // The rows behind it move up, and fit.
    await rows.deleteFrom('audit').where('sequence', '=', sequence).execute()
    let previous = at(all, sequence).previous
    for (const row of all.slice(sequence)) {
      const moved = row.sequence - 1
      const body = row.body.replace(`"sequence":${row.sequence}`, `"sequence":${moved}`)
      await set(rows, row.sequence, { sequence: moved, body, previous, hash: hashOf(previous, body) })
      previous = hashOf(previous, body)
    }
  }),
  fc.tuple(place, fc.constantFrom(0, -1, length + 1, length + 5)).map(
    ([from, sequence]): Tampering =>
      (rows, all) =>
        rows
          .insertInto('audit')
          .values({ ...at(all, from), sequence })
          .execute(),
  ),
  fc.boolean().map((marked): Tampering => async (rows, all) => {
    await rows.insertInto('audit').values(further(all)).execute()
    if (!marked) return
    const { mac } = await rows.selectFrom('audit_marks').select('mac').limit(1).executeTakeFirstOrThrow()
    await rows
      .insertInto('audit_marks')
      .values({ sequence: length + 1, mac, target_name: null })
      .execute()
  }),
  twoPlaces.map(([left, right]): Tampering => async (rows, all) => {
    const [one, two] = [at(all, left), at(all, right)]
    await set(rows, left, { ...two, sequence: left })
    await set(rows, right, { ...one, sequence: right })
  }),
  place.map(
    (sequence): Tampering =>
      (rows) =>
        cutFrom(rows, sequence),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 20 })).map(([sequence, more]): Tampering => async (rows, _all, trail) => {
    // An old copy is put back, and used.
    await cutFrom(rows, sequence)
    for (let row = 0; row < more; row++) await trail.view.append(rows, { action: 'thing.update' })
  }),
  fc.tuple(place, other, fc.constantFrom('mac', 'target_name')).map(
    ([sequence, text, column]): Tampering =>
      (rows) =>
        rows
          .updateTable('audit_marks')
          .set({ [column]: text })
          .where('sequence', '=', sequence)
          .execute(),
  ),
  place.map(
    (sequence): Tampering =>
      (rows) =>
        rows.deleteFrom('audit_marks').where('sequence', '=', sequence).execute(),
  ),
)

/** Ends a transaction without keeping it. */
class Undone extends Error {}

describe('admin/audit: tampering', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tampering-'))
  after(() => rmSync(folder, { recursive: true }))
  const checkpoints = join(folder, 'audit.checkpoints')

  for (const [dialect, numRuns] of [
    ['sqlite', 1_000],
    ['postgres', 150],
  ] as const)
    describe(dialect, () => {
      let url: string
      let trail: AuditTrail
      let all: readonly AuditTable[]
      before(async function () {
        url = dialect === 'sqlite' ? `sqlite:${join(folder, 'a.db')}` : (await postgres(this)).url
        rmSync(checkpoints, { force: true })
        trail = await openAudit(url, folder)
        for (let row = 1; row <= length; row++)
          await trail.view.record({
            action: row % 2 ? 'thing.update' : 'thing.delete',
            target: { type: 'thing', id: `id-${row}`, name: `thing ${row}` },
            actor: { type: 'member', id: `m-${row}`, name: 'Zoë "the" admin\u2028' },
            changes: { size: { from: row, to: 1e21 / row } },
          })
        all = await trail.database.selectFrom('audit').selectAll().orderBy('sequence').execute()
      })
      after(() => trail?.close())

      /** The verdict after a tampering, which is undone. */
      const verdictAfter = async (tamper: Tampering, by = trail): Promise<Verdict> => {
        let verdict: Verdict | undefined
        const tampered = by.database.transaction().execute(async (rows) => {
          await tamper(rows, all, by)
          verdict = await by.view.verify([], rows)
          throw new Undone()
        })
        await tampered.catch((error: unknown) => {
          if (!(error instanceof Undone)) throw error
        })
        return verdict as Verdict
      }

      it(`is found, whatever it is: ${numRuns} random ones`, async () => {
        const seen = new Set<string>()
        await fc.assert(
          fc.asyncProperty(tamperings, async (tamper) => {
            const { ok, first_bad: flaw } = await verdictAfter(tamper)
            expect([ok, reasons.includes(flaw?.reason ?? '')]).to.deep.equal([false, true])
            seen.add(flaw?.reason ?? '')
          }),
          { numRuns, seed: 55 },
        )
        expect([...seen].sort()).to.deep.equal(reasons.toSorted())
        const { took_ms: _, ...whole } = await trail.view.verify()
        expect(whole).to.deep.equal({
          ok: true,
          rows: length,
          head: { sequence: length, hash: at(all, length).hash },
          first_bad: null,
          checkpoints: { read: length, bad: 0 },
        })
      })

      for (const [what, tamper, flaw] of [
        ['another body', (rows) => set(rows, 3, { body: '{}' }), { sequence: 3, reason: 'hash_mismatch' }],
        ['another column', (rows) => set(rows, 3, { outcome: 'refused' }), { sequence: 3, reason: 'column_mismatch' }],
        ['another link', (rows) => set(rows, 3, { previous: '0'.repeat(64) }), { sequence: 3, reason: 'broken_link' }],
        ['a body with its own hash', (rows) => rehash(rows, all, 3, 3, 'x'), { sequence: 4, reason: 'broken_link' }],
        [
          'a new end of the chain',
          (rows) => rehash(rows, all, 3, length, 'x'),
          { sequence: 3, reason: 'checkpoint_mismatch' },
        ],
        [
          'a missing row',
          (rows) => rows.deleteFrom('audit').where('sequence', '=', 3).execute(),
          { sequence: 3, reason: 'missing_row' },
        ],
        ['a missing tail', (rows) => cutFrom(rows, 9), { sequence: 9, reason: 'tail_cut' }],
        ['an empty table', (rows) => cutFrom(rows, 1), { sequence: 1, reason: 'tail_cut' }],
        [
          'a row of somebody else at the end',
          (rows) => rows.insertInto('audit').values(further(all)).execute(),
          { sequence: length + 1, reason: 'unexpected_row' },
        ],
        [
          'a row before the first',
          (rows) =>
            rows
              .insertInto('audit')
              .values({ ...at(all, 1), sequence: 0 })
              .execute(),
          { sequence: 0, reason: 'unexpected_row' },
        ],
      ] as readonly [string, Tampering, object][])
        it(`names ${what}`, async () => {
          const { ok, first_bad: first } = await verdictAfter(tamper)
          expect([ok, first]).to.deep.equal([false, flaw])
        })

      it('of the file of checkpoints is found, and a file that does not reach the last row proves nothing of it', async () => {
        const text = readFileSync(checkpoints, 'utf8')
        const lines = text.trimEnd().split('\n')
        const [, second = ''] = lines
        try {
          for (const [line, sequence] of [
            [second.replace(/"hash":"./, '"hash":"~'), 2],
            [second.replace(/"mac":"./, '"mac":"~'), 2],
            [second.replace('"sequence":2', '"sequence":5'), 5],
            ['nonsense', length],
            ['{"sequence":2}', length],
          ] as const) {
            writeFileSync(checkpoints, [lines[0], line, ...lines.slice(2), ''].join('\n'))
            const { ok, first_bad: flaw, checkpoints: counted } = await trail.view.verify()
            expect([ok, flaw, counted]).to.deep.equal([
              false,
              { sequence, reason: 'checkpoint_mismatch' },
              { read: length, bad: 1 },
            ])
          }
          const unproven = { ok: false, first_bad: { sequence: length, reason: 'unproven_tail' } }
          rmSync(checkpoints)
          expect(await trail.view.verify()).to.deep.include({ ...unproven, checkpoints: { read: 0, bad: 0 } })
          // A checkpoint that was kept elsewhere proves it as well.
          const last = JSON.parse(lines.at(-1) ?? '') as JsonObject
          expect(await trail.view.verify([last])).to.deep.include({ ok: true, checkpoints: { read: 1, bad: 0 } })
          writeFileSync(checkpoints, `${lines.slice(0, 5).join('\n')}\n`)
          // On PostgreSQL, the later rows may be those of other machines, whose files prove them.
          const short = dialect === 'sqlite' ? unproven : { ok: true, first_bad: null }
          expect(await trail.view.verify()).to.deep.include({ ...short, checkpoints: { read: 5, bad: 0 } })
        } finally {
          writeFileSync(checkpoints, text)
        }
      })
      it('is not what another secret finds, and what needs no secret is', async () => {
        const other = await openAudit(url, folder, 'the secret of another gateway')
        try {
          const { took_ms: _, ...verdict } = await other.view.verify()
          expect(verdict).to.deep.equal({
            ok: false,
            rows: length,
            head: { sequence: length, hash: at(all, length).hash },
            first_bad: { sequence: length, reason: 'wrong_secret' },
            checkpoints: { read: length, bad: 0 },
          })
          const tampered = await verdictAfter((rows) => set(rows, 3, { body: '{}' }), other)
          expect(tampered.first_bad).to.deep.equal({ sequence: 3, reason: 'hash_mismatch' })
        } finally {
          await other.close()
        }
      })
    })
})
